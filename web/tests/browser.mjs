// Headless Chromium, driven over a pipe by its DevTools protocol: messages are JSON, each ended by a NUL.
//
// `cargo xtask test --web` serves the page and sets HULLFIELD_PAGE, HULLFIELD_CHROMIUM and HULLFIELD_SCREENSHOTS.

import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PAGE = process.env.HULLFIELD_PAGE;
const SCREENSHOTS = process.env.HULLFIELD_SCREENSHOTS;

const FLAGS = [
  "--headless", "--no-sandbox", "--remote-debugging-pipe", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-extensions", "--mute-audio", "--hide-scrollbars",
];
/** WebGPU on SwiftShader, a GPU in software, and WebGPU without an adapter. */
// Chromium's own drawing is on SwiftShader's Vulkan too: otherwise a canvas has no image to share with WebGPU, and the device is lost.
export const WITH_WEBGPU = [
  "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan", "--use-vulkan=swiftshader",
  "--use-angle=swiftshader",
];
export const WITHOUT_WEBGPU = ["--disable-gpu", "--disable-features=WebGPUService"];

/** How long anything may take: a software GPU compiles its kernels for half a minute on a busy machine. */
const PATIENCE_MS = 240_000;

/** What a promise gives, or an error that says what took too long. */
function within(promise, what, ms = PATIENCE_MS) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing after ${ms / 1000} s`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export class Browser {
  #process;
  #profile;
  #next = 1;
  #calls = new Map();
  #pages = new Map();
  #text = "";

  static async start(flags = WITH_WEBGPU) {
    const browser = new Browser();
    browser.#profile = await mkdtemp(join(tmpdir(), "hullfield-web-"));
    const all = [...FLAGS, ...flags, `--user-data-dir=${browser.#profile}`, "about:blank"];
    const stdio = ["ignore", "ignore", process.env.HULLFIELD_CHROMIUM_LOG ? "inherit" : "ignore", "pipe", "pipe"];
    browser.#process = spawn(process.env.HULLFIELD_CHROMIUM ?? "chromium", all, { stdio });
    browser.#process.on("exit", (code) => {
      for (const { reject } of browser.#calls.values()) reject(new Error(`Chromium has ended (${code})`));
      browser.#calls.clear();
    });
    const pipe = browser.#process.stdio[4];
    pipe.setEncoding("utf8");
    pipe.on("data", (text) => browser.#read(text));
    return browser;
  }

  #read(text) {
    const parts = (this.#text + text).split("\0");
    this.#text = parts.pop();
    for (const part of parts) {
      const { id, result, error, method, params, sessionId } = JSON.parse(part);
      if (id) {
        const call = this.#calls.get(id);
        this.#calls.delete(id);
        if (error) call?.reject(new Error(`${call.method}: ${error.message}`));
        else call?.resolve(result);
      } else {
        for (const page of this.#pages.values()) page.take(method, params, sessionId);
      }
    }
  }

  /** Calls a method of the protocol. */
  call(method, params = {}, sessionId) {
    const id = this.#next++;
    const done = new Promise((resolve, reject) => this.#calls.set(id, { resolve, reject, method }));
    this.#process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return within(done, method);
  }

  /**
   * Opens the page with this link. `view` has `width`, `height`, `scheme` (light or dark), `isPhone`, `isStill` (less motion is wanted), and `first`, a statement that each worker
   * runs before its program.
   */
  async open(link = "", view = {}) {
    const { targetId } = await this.call("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.call("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, targetId, sessionId);
    this.#pages.set(sessionId, page);
    await page.prepare(view);
    await page.call("Page.navigate", { url: PAGE + link });
    return page;
  }

  forget(sessionId) { this.#pages.delete(sessionId); }

  async stop() {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    await this.call("Browser.close").catch(() => this.#process.kill("SIGKILL"));
    await within(ended, "the end of Chromium", 10_000).catch(() => this.#process.kill("SIGKILL"));
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

class Page {
  /** Errors of the console, and exceptions that nobody caught, of the page and its workers. */
  errors = [];
  /** The addresses that the page and its workers have asked for. */
  requests = [];
  #browser;
  #target;
  #session;
  #sessions;
  #first = "";

  constructor(browser, target, session) {
    [this.#browser, this.#target, this.#session, this.#sessions] = [browser, target, session, new Set([session])];
  }

  call(method, params) { return this.#browser.call(method, params, this.#session); }

  async prepare(view) {
    await Promise.all(["Runtime.enable", "Page.enable", "Log.enable", "Network.enable"].map((method) => this.call(method)));
    this.#first = view.first ?? "";
    await this.call("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: this.#first !== "", flatten: true });
    await this.view(view);
  }

  /** An event of the protocol. */
  take(method, params, session) {
    if (!this.#sessions.has(session)) return;
    if (method === "Target.attachedToTarget") {
      this.#sessions.add(params.sessionId);
      const calls = [["Runtime.enable", {}], ["Network.enable", {}]];
      if (this.#first) calls.push(["Runtime.evaluate", { expression: this.#first }], ["Runtime.runIfWaitingForDebugger", {}]);
      // A worker that has ended takes no call.
      for (const [method, given] of calls) this.#browser.call(method, given, params.sessionId).catch(() => {});
    } else if (method === "Runtime.exceptionThrown") {
      const { text, exception } = params.exceptionDetails;
      this.errors.push(`${text} ${exception?.description ?? ""}`);
    } else if (method === "Runtime.consoleAPICalled" && ["error", "assert"].includes(params.type)) {
      this.errors.push(params.args.map((arg) => arg.description ?? arg.value).join(" "));
    } else if (method === "Network.requestWillBeSent") {
      this.requests.push(params.request.url);
    } else if (method === "Log.entryAdded" && params.entry.level === "error") {
      this.errors.push(`${params.entry.text} ${params.entry.url ?? ""}`);
    }
  }

  /** Sets the size of the window, and whether it is light or dark. */
  async view({ width = 1280, height = 800, scheme = "light", isPhone = false, isStill = false }) {
    await this.call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: isPhone ? 2 : 1, mobile: isPhone });
    await this.call("Emulation.setEmulatedMedia", { features: [
      { name: "prefers-color-scheme", value: scheme },
      { name: "prefers-reduced-motion", value: isStill ? "reduce" : "no-preference" },
    ] });
  }

  /** Lets requests whose addresses match these patterns fail, those of workers too. */
  async block(patterns) {
    await Promise.all([...this.#sessions].map(async (session) => {
      await this.#browser.call("Network.enable", {}, session);
      await this.#browser.call("Network.setBlockedURLs", { urls: patterns }, session);
    }));
  }

  /** The value of an expression in the page; a promise is awaited. */
  async value(expression) {
    const { result, exceptionDetails } = await this.call("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** The first message of the worker of this type for which `test`, the text of a function, is true. */
  async wait(type, test = "() => true") {
    const ready = "new Promise((done) => { const look = () => window.playground ? done() : setTimeout(look, 10); look(); })";
    return this.value(`${ready}.then(() => playground.wait(${JSON.stringify(type)}, ${test}))`);
  }

  /** Runs a tab's check. */
  check(tab) { return this.value(`playground.check(${JSON.stringify(tab)})`); }

  /** Sends a message to the first worker. */
  send(message) { return this.value(`playground.send(${JSON.stringify(message)})`); }

  /** Waits until an expression is true. */
  async until(expression, ms = 20_000) {
    const end = Date.now() + ms;
    while (!(await this.value(expression))) {
      if (Date.now() > end) throw new Error(`never true: ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Presses a key. */
  async press(key, code = key) {
    const text = key.length === 1 ? key : undefined;
    await this.call("Input.dispatchKeyEvent", { type: "keyDown", key, code, text });
    await this.call("Input.dispatchKeyEvent", { type: "keyUp", key, code });
  }

  /** Drags from one point of the window to another. */
  async drag([x, y], [toX, toY], steps = 8) {
    const mouse = (type, x, y, buttons) => this.call("Input.dispatchMouseEvent", { type, x, y, button: "left", buttons, clickCount: 1 });
    await mouse("mousePressed", x, y, 1);
    for (let step = 1; step <= steps; step++) {
      const share = step / steps;
      await mouse("mouseMoved", x + share * (toX - x), y + share * (toY - y), 1);
    }
    await mouse("mouseReleased", toX, toY, 0);
  }

  /** Keeps a picture of the window in the folder of screenshots, and returns its bytes (PNG). */
  async screenshot(name) {
    const { data } = await this.call("Page.captureScreenshot", { format: "png" });
    const bytes = Buffer.from(data, "base64");
    if (SCREENSHOTS) {
      await mkdir(SCREENSHOTS, { recursive: true });
      await writeFile(join(SCREENSHOTS, `${name}.png`), bytes);
    }
    return bytes;
  }

  async close() {
    this.#browser.forget(this.#session);
    await this.#browser.call("Target.closeTarget", { targetId: this.#target });
  }
}
