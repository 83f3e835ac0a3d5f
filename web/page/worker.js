// The program of both workers. The first one has the canvases, and the engines and scenes of each module; the second one has a CPU engine of its own.
//
// Messages are objects `{type, …}`; one with bytes has them in `bytes`, a Uint8Array. From the page to the first worker:
//
//   start   {flat, gpu}                 the canvases; first of all
//   port    {port, why}                 the way to the second worker; `why` says why there is another one
//   open    {tab, fields}               shows a tab; `fields` is what a link says of it, texts by name
//   size    {width, height, density}    of the canvases, in pixels of the page; pixels of the screen in one of those
//   module  {folder, module, error}     the answer to `need`: a compiled module, or why there is none; the second worker gets it too
//   theme   {dark}
//   choose  {engine}                    auto, gpu or cpu
//   check   {tab, id}                   runs a tab's check; the answer is `checked`
//   lose    {}                          destroys the device, for the tests
//   pointer {action, x, y, dx, dy, zoom, button, down, shift}    input on the canvas: src/playground/message.rs says more
//   key     {key}
//   file    {name, bytes}
//   set     {…}                         values of the open tab's controls, by name
//   and what a tab's module sends to its scene
//
// From the first worker to the page:
//
//   need    {folder}                    a module is needed; the second worker asks so too
//   ready   {}                          the first module runs
//   loading {on}                        a tab's module is being loaded; `picture` ends it, or `on: false` where it could not be loaded
//   picture {layer, engine}             the canvas that is shown from now on (flat or gpu), and the engine that the scene uses
//   engine  {used, choice, adapter, software, reason}
//   state   {tab, state}                what goes into the link
//   times   {rows: [{stage, ms}]}
//   progress {text, done, total}
//   error   {text}                      a sentence for the bar; an empty one takes it away
//   lost    {text}                      the device of WebGPU is lost
//   failed  {text, reason}              the program has ended
//   checked {tab, id, ok, result}
//   and what a scene sends to its tab's module
//
// The second worker gets `serve {port, tab}`, loads the module of this tab, and sends `ready`. Over the port come a scene's questions, `{tab, …}`,
// and go the answers, one for each in their order, `{type: "second", tab, …}`. A question with `ask: "read"` has the bytes of a file; the readers
// make the bytes of its faces from them, or an `error`, before the question is answered. `fail {}` ends the worker at the next question, for the
// tests. What it has not answered then comes back to the scene as an answer with `lost: true` and a sentence as `error`.

import { folderOf } from "./modules.js";

// By folder: the modules, as promises, and the first worker's programs, one of each module.
const modules = new Map();
// By folder: what takes the page's answer to `need`.
const needed = new Map();
const programs = new Map();
let canvases = null;
// The folder of the open tab's program.
let open = null;
let port = null;
let isAwaited = false;
let hasFailed = false;
let shallFail = false;
let isLoading = false;
let hasPicture = false;
// What came while a module was loaded.
const early = [];
// What every program gets, also one that is made later: the last message of each type.
const common = new Map([["size", null], ["theme", null], ["choose", null]]);
const asked = [];
// The questions that the second worker has not answered, the oldest first.
const waiting = [];

/** The module of a folder, which the page has compiled. */
function compiled(folder) {
  return new Promise((resolve, reject) => {
    needed.set(folder, ({ module, error }) => { if (module) resolve(module); else reject(new Error(error)); });
    self.postMessage({ type: "need", folder });
  });
}

function load(folder) {
  if (!modules.has(folder)) {
    const loaded = Promise.all([import(`${folder}/hullfield_web.js`), compiled(folder)]).then(async ([program, module]) => {
      await program.default({ module_or_path: module });
      return program;
    });
    modules.set(folder, loaded);
  }
  return modules.get(folder);
}

function ask(text, bytes) {
  if (port) deliver(port, text, bytes);
  // The second worker starts after the first picture.
  else if (asked.length < 64) asked.push([text, bytes.slice()]);
  else return;
  waiting.push(text);
}

// These are of the open tab's program alone.
const SHOWN = ["picture", "engine", "times", "progress"];

function functionsOf(folder) {
  return {
    post(text, bytes) {
      if (folder === open || !SHOWN.includes(JSON.parse(text).type)) deliver(self, text, bytes);
    },
    ask,
    wake,
  };
}

function deliver(to, text, bytes) {
  const message = JSON.parse(text);
  if (bytes.length > 0) {
    // A copy, as the memory is the module's.
    message.bytes = bytes.slice();
    to.postMessage(message, [message.bytes.buffer]);
  } else {
    to.postMessage(message);
  }
}

function fail(error) {
  if (hasFailed) return;
  hasFailed = true;
  console.error(error);
  const reason = String(error.message ?? error);
  self.postMessage({ type: "failed", text: `The program has ended by an error (${reason}). Reload the page.`, reason });
}

function guarded(work) {
  if (hasFailed) return;
  try { work(); } catch (error) { fail(error); }
}

// The readers of files are a module of their own, which is loaded with the first file.
async function readers() {
  const module = await import("./readers/hullfield_web_readers.js");
  await module.default();
  return module;
}

// Replaces the bytes of a file by the bytes of its faces.
async function read(question) {
  const { bytes = new Uint8Array(), ...rest } = question;
  let reader;
  try {
    reader = await readers();
  } catch (error) {
    return { ...rest, error: `The readers of files could not be loaded (${error.message}).` };
  }
  try {
    return { ...rest, bytes: reader.read(rest.name, bytes, rest.most) };
  } catch (error) {
    // A text is the file's fault; all else ends the worker.
    if (typeof error === "string") return { ...rest, error };
    throw error;
  }
}

function wake() {
  if (isAwaited || hasFailed) return;
  isAwaited = true;
  if (self.requestAnimationFrame) self.requestAnimationFrame(tick);
  else setTimeout(() => tick(performance.now()), 16);
}

function tick(now) {
  isAwaited = false;
  guarded(() => {
    if (programs.get(open)?.frame(now)) wake();
    if (!hasPicture) {
      hasPicture = true;
      for (const program of programs.values()) openGpu(program);
    }
  });
}

// After the first picture, so that it does not wait for the browser's GPU process.
async function openGpu(program) {
  let info = null;
  let why = "";
  if (!navigator.gpu) {
    why = self.isSecureContext ? "This browser has no WebGPU." : "WebGPU needs an address with https, or localhost.";
  } else {
    try {
      const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
      if (!adapter) why = "The browser has WebGPU, but no adapter for it here.";
      else {
        const { vendor = "", architecture = "", device = "", description = "", isFallbackAdapter } = adapter.info ?? {};
        info = { vendor, architecture, device, description, fallback: isFallbackAdapter ?? adapter.isFallbackAdapter ?? false };
      }
    } catch (error) {
      why = `The browser's WebGPU fails: ${error.message}.`;
    }
  }
  guarded(() => program.open_gpu(JSON.stringify(info), why));
}

function give(program, { bytes = new Uint8Array(), ...rest }) {
  guarded(() => program.message(JSON.stringify(rest), bytes));
}

/** Makes the program of a folder, and then takes what came meanwhile. */
async function make(folder, isOpened) {
  isLoading = true;
  if (isOpened) {
    // What the stage shows is not this tab's.
    open = null;
    self.postMessage({ type: "loading", on: true });
  }
  try {
    const { App } = await load(folder);
    const program = new App(functionsOf(folder), canvases.flat, canvases.gpu);
    if (programs.size === 0) self.postMessage({ type: "ready" });
    programs.set(folder, program);
    for (const message of common.values()) if (message) give(program, message);
    if (hasPicture) openGpu(program);
  } catch (error) {
    if (programs.size === 0) return fail(error);
    // The other tabs go on, and the next message to this one tries again.
    modules.delete(folder);
    early.splice(0);
    if (isOpened) self.postMessage({ type: "loading", on: false });
    self.postMessage({ type: "error", text: `This tab's module could not be loaded (${error.message}).` });
  }
  isLoading = false;
  for (const message of early.splice(0)) take(message);
}

function take(message) {
  if (isLoading) return void early.push(message);
  if (common.has(message.type)) {
    common.set(message.type, message);
    for (const program of programs.values()) give(program, message);
  } else if (message.type === "lose") {
    for (const program of programs.values()) give(program, message);
  } else {
    const folder = message.tab ? folderOf(message.tab) : open;
    if (folder === null) return;
    if (!programs.has(folder)) {
      early.push(message);
      return void make(folder, message.type === "open");
    }
    if (message.type === "open") open = folder;
    give(programs.get(folder), message);
  }
}

self.onmessage = async ({ data }) => {
  switch (data.type) {
    case "start":
      canvases = data;
      break;
    case "module":
      needed.get(data.folder)?.(data);
      break;
    case "port": {
      const lost = port ? waiting.splice(0) : [];
      port = data.port;
      port.onmessage = ({ data }) => {
        waiting.shift();
        take(data);
      };
      for (const [text, bytes] of asked.splice(0)) deliver(port, text, bytes);
      for (const text of lost) take({ ...JSON.parse(text), type: "second", lost: true, error: data.why });
      break;
    }
    case "fail":
      shallFail = true;
      break;
    case "serve": {
      try { await load(folderOf(data.tab)); } catch (error) { return fail(error); }
      self.postMessage({ type: "ready" });
      // Questions are answered in their order, also while a file is read.
      let last = Promise.resolve();
      const answer = (text, bytes) => deliver(data.port, text, bytes);
      const solve = async ({ bytes = new Uint8Array(), ...rest }) => {
        const { second } = await load(folderOf(rest.tab));
        second({ post: answer, ask, wake }, JSON.stringify(rest), bytes);
      };
      data.port.onmessage = ({ data: question }) => {
        last = last.then(async () => {
          if (hasFailed) return;
          if (shallFail) throw new Error("a test");
          await solve(question.ask === "read" ? await read(question) : question);
        }).catch(fail);
      };
      break;
    }
    default:
      take(data);
  }
};
