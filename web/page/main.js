// The page's main thread: tabs, controls, input, the link. Everything heavy is in the workers; worker.js describes the messages.
import collide from "./collide.js";
import { legend, msText } from "./controls.js";
import flow from "./flow.js";
import { folderOf } from "./modules.js";
import rooms from "./rooms.js";
import surface from "./surface.js";

/**
 * A tab's module: `name` as in links, `title`, `about` (one line), `keys` (what keys do on the stage), `legend` (what the picture's marks mean, as `legend` in controls.js takes
 * them), and `build(panel, send, sendFile)`, which fills the panel with controls and returns `{state(fields), message(message), badge(ms)}`: `state` shows the values of a state,
 * `message` gets the messages that the page does not know, `badge` gives the texts that are shown on the stage, of the milliseconds of each stage. `send` sends a message to the
 * tab's scene, `sendFile` a file. Optional are `still`, the fields that make the picture stand still where the user wants less motion, and a method of this name that shows them;
 * `onCpu`, whether the scene has no use for a GPU; `takesFiles`; `unkept`, what a link may not keep, and a method `isUnkept()`, whether there is such a thing.
 */
const tabs = [collide, flow, rooms, surface];
const MOST_FILE_BYTES = 256 * 2 ** 20;

const element = (id) => document.getElementById(id);
const stage = element("stage");
// By folder: the modules, as promises. Each is fetched and compiled once, for both workers.
const modules = new Map();
// The worker and its program are loaded at the same time.
compiled(folderOf(readLink().tab));
const worker = new Worker("./worker.js", { type: "module" });
const built = new Map();
let open = null;
let engine = "auto";
let serving = null;
// Whether the program was loaded, and whether it has ended.
let isRunning = false;
let isStopped = false;
const lessMotion = window.matchMedia("(prefers-reduced-motion: reduce)");

function compiled(folder) {
  if (!modules.has(folder)) {
    const module = compile(`${folder}/hullfield_web_bg.wasm`);
    modules.set(folder, module);
    // The next one that needs it tries again.
    module.catch(() => modules.delete(folder));
  }
  return modules.get(folder);
}

async function compile(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address} gave the status ${answer.status}`);
  // Servers that do not know the type of the file are common.
  const isKnown = answer.headers.get("content-type")?.startsWith("application/wasm");
  return isKnown ? WebAssembly.compileStreaming(answer) : WebAssembly.compile(await answer.arrayBuffer());
}

/** Gives a worker the module that it needs, or says why there is none. */
async function give(to, folder) {
  try {
    to.postMessage({ type: "module", folder, module: await compiled(folder) });
  } catch (error) {
    to.postMessage({ type: "module", folder, error: error.message });
  }
}

function send(message, transfer = []) { worker.postMessage(message, transfer); }

// For the tests: what came from the worker, and a way to wait for more.
const messages = [];
const listeners = new Set();
const playground = {
  messages,
  send,
  /** The first message of a type that `test` accepts, from those that came already too. */
  wait(type, test = () => true) {
    const fits = (message) => message.type === type && test(message);
    const found = messages.find(fits);
    if (found) return Promise.resolve(found);
    return new Promise((resolve) => {
      const listener = (message) => {
        if (!fits(message)) return;
        listeners.delete(listener);
        resolve(message);
      };
      listeners.add(listener);
    });
  },
  /** Runs a tab's check: `{ok, result}`. */
  async check(tab) {
    const id = Math.random();
    send({ type: "check", tab, id });
    const { ok, result } = await playground.wait("checked", (message) => message.id === id);
    return { ok, result };
  },
  /** Lets the second worker end at its next question. */
  failSecond() { serving.postMessage({ type: "fail" }); },
};
window.playground = playground;

// ---- errors

function showError(text) {
  element("error").hidden = text === "";
  element("error-text").textContent = text;
}
element("error-close").addEventListener("click", () => showError(""));
worker.addEventListener("error", (event) => {
  const text = event.message ?? "worker.js is missing";
  if (isRunning) showError(`The program has a fault: ${text}`);
  else stop(`The program could not be loaded: ${text}`);
});

// ---- the link

function readLink() {
  const fields = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const { tab = tabs[0].name, engine: wanted = "auto", ...rest } = fields;
  return { tab, engine: wanted, fields: rest };
}

function writeLink(state) {
  const fields = new URLSearchParams({ tab: open.name });
  if (engine !== "auto") fields.set("engine", engine);
  for (const [name, value] of Object.entries(state)) fields.set(name, value);
  const hash = `#${fields}`;
  if (hash !== location.hash) history.replaceState(null, "", hash);
}

function followLink() {
  const link = readLink();
  const tab = tabs.find((tab) => tab.name === link.tab);
  if (!tab) showError(`The link names a tab “${link.tab}”, which is not there.`);
  choose(link.engine, false);
  show(tab ?? tabs[0], tab ? link.fields : {});
}
window.addEventListener("hashchange", followLink);
element("link").addEventListener("click", async () => {
  const isUnkept = Boolean(built.get(open.name).isUnkept?.());
  try {
    await navigator.clipboard.writeText(location.href);
    element("link").textContent = isUnkept ? `Copied, without ${open.unkept}` : "Copied";
  } catch {
    showError("The browser gives no clipboard; the link is in the address bar.");
  }
  setTimeout(() => { element("link").textContent = "Copy link"; }, isUnkept ? 4000 : 1500);
});

// ---- tabs

function clearTimes() {
  element("times").tBodies[0].replaceChildren();
  element("badge").replaceChildren();
}

/** What is shown on the stage: frames a second, and what the tab says. */
function showBadge(rows) {
  const ms = Object.fromEntries(rows.map(({ stage, ms }) => [stage, ms]));
  const between = ms["frame to frame"];
  const texts = between ? [`${Math.round(1000 / between)} frames/s`] : [];
  texts.push(...(built.get(open.name)?.badge?.(ms) ?? []));
  element("badge").replaceChildren(...texts.map((text) => Object.assign(document.createElement("span"), { textContent: text })));
}

function show(tab, fields) {
  open = tab;
  for (const button of element("tabs").children) {
    const isOpen = button.dataset.tab === tab.name;
    button.setAttribute("aria-selected", isOpen);
    button.tabIndex = isOpen ? 0 : -1;
  }
  document.title = `${tab.title} · hullfield playground`;
  element("about").textContent = tab.about;
  element("legend").replaceChildren(...legend(tab.legend ?? []));
  element("keys").textContent = `Keys: ${tab.keys}`;
  showEngine();
  stage.setAttribute("aria-label", `The scene. ${tab.keys}`);
  clearTimes();
  const isNew = !built.has(tab.name);
  if (isNew) {
    const panel = document.createElement("div");
    built.set(tab.name, { panel, ...tab.build(panel, (message, transfer) => send({ ...message, tab: tab.name }, transfer), sendFile) });
  }
  element("controls").replaceChildren(built.get(tab.name).panel);
  const isStill = isNew && lessMotion.matches && tab.still;
  send({ type: "open", tab: tab.name, fields: isStill ? { ...tab.still, ...fields } : fields });
  if (isStill) built.get(tab.name).still?.({ ...tab.still, ...fields });
}

for (const tab of tabs) {
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: tab.title });
  button.setAttribute("role", "tab");
  button.setAttribute("aria-controls", "controls");
  button.dataset.tab = tab.name;
  button.addEventListener("click", () => show(tab, {}));
  element("tabs").append(button);
}
element("tabs").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const next = (tabs.indexOf(open) + step + tabs.length) % tabs.length;
  show(tabs[next], {});
  element("tabs").children[next].focus();
});
window.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches?.("input, select, textarea");
  const index = Number(event.key) - 1;
  if (!isTyping && !event.ctrlKey && !event.altKey && !event.metaKey && tabs[index]) show(tabs[index], {});
});

// ---- engine and theme

function choose(wanted, isUser) {
  const known = ["auto", "gpu", "cpu"].includes(wanted);
  if (!known) showError(`The link names an engine “${wanted}”; there are auto, gpu and cpu.`);
  engine = known ? wanted : "auto";
  element("engine").value = engine;
  send({ type: "choose", engine });
  if (isUser) writeLink(lastState());
}
element("engine").addEventListener("change", () => choose(element("engine").value, true));

const dark = window.matchMedia("(prefers-color-scheme: dark)");
function applyTheme() {
  const wanted = element("theme").value;
  const isDark = wanted === "auto" ? dark.matches : wanted === "dark";
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  send({ type: "theme", dark: isDark });
}
element("theme").value = (() => { try { return localStorage.getItem("theme") ?? "auto"; } catch { return "auto"; } })();
element("theme").addEventListener("change", () => {
  // A browser may forbid storage; then the choice lasts as long as the page.
  try { localStorage.setItem("theme", element("theme").value); } catch { /* not kept */ }
  applyTheme();
});
dark.addEventListener("change", applyTheme);

// ---- input

const pointers = new Map();
let lastPinch = null;

function place(event) {
  const box = stage.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function pointer(action, event, more = {}) {
  const at = place(event);
  const { button = 0 } = pointers.get(event.pointerId) ?? {};
  send({ type: "pointer", action, ...at, dx: 0, dy: 0, button, down: pointers.has(event.pointerId), shift: event.shiftKey, ...more });
}

function pinch() {
  const [a, b] = [...pointers.values()];
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.max(Math.hypot(a.x - b.x, a.y - b.y), 1) };
}

stage.addEventListener("pointerdown", (event) => {
  stage.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, { ...place(event), button: event.button });
  if (pointers.size === 1) pointer("down", event);
  else if (pointers.size === 2) {
    pointer("up", event);
    lastPinch = pinch();
  }
});
stage.addEventListener("pointermove", (event) => {
  const last = pointers.get(event.pointerId);
  const at = place(event);
  if (last) Object.assign(last, at, { dx: at.x - last.x, dy: at.y - last.y });
  if (pointers.size === 2) {
    const now = pinch();
    const moved = { dx: now.x - lastPinch.x, dy: now.y - lastPinch.y };
    send({ type: "pointer", action: "zoom", x: now.x, y: now.y, ...moved, zoom: lastPinch.apart / now.apart, button: 1, down: true, shift: false });
    lastPinch = now;
  } else if (pointers.size < 2) {
    pointer("move", event, last ? { dx: last.dx, dy: last.dy } : {});
  }
});
for (const type of ["pointerup", "pointercancel"]) {
  stage.addEventListener(type, (event) => {
    if (!pointers.has(event.pointerId)) return;
    if (pointers.size === 1) pointer("up", event, { down: false });
    pointers.delete(event.pointerId);
  });
}
stage.addEventListener("contextmenu", (event) => event.preventDefault());
stage.addEventListener("wheel", (event) => {
  event.preventDefault();
  // A line of a wheel is about 16 pixels.
  const pixels = event.deltaMode === 1 ? 16 * event.deltaY : event.deltaY;
  pointer("zoom", event, { zoom: Math.exp(0.0015 * pixels) });
}, { passive: false });
const STAGE_KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", " ", "Enter", "Escape", "Delete", "Backspace", "PageUp", "PageDown", "Home", "End"];
stage.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (STAGE_KEYS.includes(event.key)) event.preventDefault();
  if (STAGE_KEYS.includes(event.key) || event.key.length === 1) send({ type: "key", key: event.key, shift: event.shiftKey });
});

// ---- files

/** Sends a file to the open tab's scene. */
async function sendFile(file) {
  const tab = open;
  if (file.size > MOST_FILE_BYTES) {
    return showError(`${file.name} has ${Math.ceil(file.size / 2 ** 20)} MiB; a file may have ${MOST_FILE_BYTES / 2 ** 20}.`);
  }
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    // The times are those of another model.
    clearTimes();
    send({ type: "file", tab: tab.name, name: file.name, bytes }, [bytes.buffer]);
  } catch (error) {
    showError(`${file.name} could not be read: ${error.message}`);
  }
}
stage.addEventListener("dragover", (event) => {
  event.preventDefault();
  if (open.takesFiles) element("drop").hidden = false;
});
stage.addEventListener("dragleave", () => { element("drop").hidden = true; });
stage.addEventListener("drop", (event) => {
  event.preventDefault();
  element("drop").hidden = true;
  const [file] = event.dataTransfer.files;
  if (!file) return;
  if (open.takesFiles) sendFile(file);
  else showError(`The tab ${open.title} takes no files; the tab Surface shows models.`);
});

// ---- messages of the worker

const states = new Map();
const lastState = () => states.get(open?.name) ?? {};

let engineMessage = null;

/** The line of the engine, and whether there is a choice. */
function showEngine() {
  if (isStopped) return;
  element("engine").disabled = Boolean(open?.onCpu);
  element("engine").title = open?.onCpu ? "Shortest paths run on the CPU." : "";
  if (open?.onCpu) {
    element("engine-line").textContent = "CPU. Shortest paths need no GPU.";
  } else if (engineMessage) {
    const { used, adapter, reason } = engineMessage;
    const name = used === "gpu" ? `GPU engine: ${adapter}.` : "CPU engine.";
    element("engine-line").textContent = `${name} ${reason}`;
  }
}

/** Nothing more will be drawn. */
function stop(text) {
  isStopped = true;
  element("wait").textContent = "";
  element("engine-line").textContent = "Not running.";
  showError(text);
}

const take = {
  ready() { isRunning = true; },
  loading({ on }) {
    element("wait").hidden = !on;
    for (const canvas of ["flat", "gpu"]) element(canvas).classList.add("hidden");
  },
  picture({ layer }) {
    if (!serving) performance.mark("first-picture");
    element("wait").hidden = true;
    element("gpu").classList.toggle("hidden", layer !== "gpu");
    element("flat").classList.toggle("hidden", layer !== "flat");
    // After the first picture, so that it does not delay it.
    if (!serving) startSecond();
  },
  engine(message) {
    engineMessage = message;
    showEngine();
  },
  state({ tab, state }) {
    states.set(tab, state);
    built.get(tab)?.state(state);
    if (tab === open.name) writeLink(state);
  },
  times({ rows }) {
    element("times").tBodies[0].replaceChildren(...rows.map(({ stage, ms }) => {
      const row = document.createElement("tr");
      row.insertCell().textContent = stage;
      row.insertCell().textContent = msText(ms);
      return row;
    }));
    showBadge(rows);
  },
  need({ folder }) { give(worker, folder); },
  progress({ text, done, total }) {
    element("progress").hidden = done >= total;
    element("progress-text").textContent = text;
    Object.assign(element("progress-bar"), { max: Math.max(total, 1), value: done });
  },
  error({ text }) { showError(text); },
  lost({ text }) { showError(text); },
  failed({ text }) { stop(text); },
  checked() {},
};

worker.addEventListener("message", ({ data }) => {
  if (data.type !== "times") messages.push(data);
  // Long sessions keep the last ones.
  if (messages.length > 4000) messages.splice(0, 2000);
  if (Object.hasOwn(take, data.type)) take[data.type](data);
  else built.get(data.tab ?? open.name)?.message(data);
  for (const listener of [...listeners]) listener(data);
});

/** Starts the second worker. If it ends by an error, the scenes that wait for it get a sentence, and another one starts. */
function startSecond(why) {
  serving?.terminate();
  const { port1, port2 } = new MessageChannel();
  const second = new Worker("./worker.js", { type: "module" });
  serving = second;
  let isReady = false;
  const ended = (reason) => {
    if (serving !== second) return;
    // One that could not be loaded would fail again.
    if (isReady) startSecond(`The second worker has ended by an error (${reason}), and a new one has started.`);
    else showError(`The second worker could not be loaded (${reason}).`);
  };
  second.addEventListener("message", ({ data }) => {
    if (data.type === "need") give(second, data.folder);
    if (data.type === "ready") isReady = true;
    if (data.type === "failed") ended(data.reason);
  });
  second.addEventListener("error", (event) => ended(event.message ?? "worker.js is missing"));
  second.postMessage({ type: "serve", port: port1, tab: open.name }, [port1]);
  send({ type: "port", port: port2, why }, [port2]);
}

// ---- start

if (!HTMLCanvasElement.prototype.transferControlToOffscreen) {
  showError("This browser has no OffscreenCanvas; the playground needs one (Chrome 69, Firefox 105, Safari 16.4 or later).");
} else {
  const flat = element("flat").transferControlToOffscreen();
  const gpu = element("gpu").transferControlToOffscreen();
  send({ type: "start", flat, gpu }, [flat, gpu]);
  applyTheme();
  const resize = () => {
    const { width, height } = stage.getBoundingClientRect();
    send({ type: "size", width, height, density: window.devicePixelRatio });
  };
  new ResizeObserver(resize).observe(stage);
  resize();
  followLink();
}
