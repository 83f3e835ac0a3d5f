// The package hullfield: `init`, then the classes. index.d.ts says what each gives and takes.

import load, * as module from "./hullfield_web.js";

// A name that bundlers for browsers do not follow.
const FILES = "node:fs/promises";

let isReady = false;
let loading = null;
// Whether the module has ended and no other one could be made.
let isDead = false;
// What the module exports, its memory among it.
let exported = null;
// Calls into the module that have not returned: the module itself calls some methods.
let depth = 0;
// What rejects the promises that the module has not settled.
const waiting = new Set();
// Which module is in use, counted as its objects count it (`__wbg_inst`).
let instance = 0;

function failed(message, code) {
  const error = new Error(message);
  error.name = "HullfieldError";
  error.code = code;
  return error;
}

/** The class of all errors of the package: `error instanceof HullfieldError`. */
export class HullfieldError extends Error {
  static [Symbol.hasInstance](value) {
    return value instanceof Error && value.name === "HullfieldError";
  }
}

/** The address of the module where nothing else is said: beside this file. Some bundles do not know where that is. */
function place() {
  if (!import.meta.url) throw failed("the program does not know where it was loaded from: give init() the module, its bytes or its address, or import hullfield/inline", "invalid");
  // Word for word: bundlers look for this.
  return new URL("./hullfield_web_bg.wasm", import.meta.url);
}

async function bytesOf(source) {
  if (source !== undefined && !(source instanceof URL) && typeof source !== "string") return source;
  const from = source === undefined ? place() : new URL(source, globalThis.location?.href ?? import.meta.url);
  // Node reads files, and has no fetch for them.
  if (from.protocol === "file:" && globalThis.process?.versions?.node) {
    const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ FILES);
    return readFile(from);
  }
  const answer = await fetch(from);
  if (!answer.ok) throw new Error(`${from} gave the status ${answer.status}`);
  return answer;
}

export function init(source) {
  loading ??= (async () => {
    try {
      if (isDead) renew();
      else exported = await load({ module_or_path: await bytesOf(source) });
      [isReady, isDead] = [true, false];
    } catch (error) {
      loading = null;
      throw error instanceof HullfieldError ? error : failed(`the module could not be loaded: ${error?.message ?? error}`, "io");
    }
  })();
  return loading;
}

function ready() {
  if (!isReady) throw failed("the module is not loaded: await init() first", "invalid");
}

const MIB = 2 ** 20;

/** Makes the module anew. What the old one held is given back. */
function renew() {
  instance += 1;
  module.__wbg_reset_state();
  // Loaded already: this only asks for what it exports.
  exported = module.initSync();
}

function stale() {
  return failed("the module that this object belonged to has ended by a fault: make it again", "invalid");
}

/** Refuses an object of a module that has ended: its place in memory may be another object's by now. */
function current(value) {
  if (value?.__wbg_inst !== undefined && value.__wbg_inst !== instance) throw stale();
}

/** What an error that came out of the module means. A fault of WebAssembly ends the module: its objects are gone, and a new one takes its place. */
function understood(error) {
  if (/^Invalid stale object/.test(error?.message)) return stale();
  // JavaScript's own errors go through the module's calls without ending them: what they held stays held.
  const hasNoRoom = error instanceof RangeError && /allocation|memory/i.test(error.message);
  const isFault = error instanceof WebAssembly.RuntimeError || hasNoRoom || error?.name === "InternalError"
    || (error instanceof RangeError && /stack/i.test(error.message));
  // Within a call of the module the outer one decides.
  if (!isFault || depth > 0) return error;
  const held = Math.round(exported.memory.buffer.byteLength / MIB);
  const isFull = hasNoRoom || held >= 1024;
  const why = isFull ? ", and has most likely found no more" : "";
  const ended = failed(
    `the module has ended by a fault (${error.message}); it held ${held} MiB of memory, of at most 4096${why}. All objects made so far are gone; new ones can be made`,
    isFull ? "outOfMemory" : "internal",
  );
  const lost = [...waiting];
  waiting.clear();
  for (const reject of lost) reject(ended);
  try {
    renew();
  } catch {
    // There is no memory for another one yet: `init` tries again.
    [isReady, isDead, loading] = [false, true, null];
  }
  return ended;
}

/** Calls into the module. */
function within(call) {
  depth += 1;
  let answer;
  try {
    answer = call();
  } catch (error) {
    depth -= 1;
    throw understood(error);
  }
  depth -= 1;
  return answer;
}

/** The promise of the module, or an error if the module ends before it is settled. */
function awaited(promise) {
  let end;
  const ended = new Promise((_, reject) => { end = reject; });
  waiting.add(end);
  const done = () => waiting.delete(end);
  promise.then(done, done);
  return Promise.race([promise, ended]);
}

/** The methods whose answers are promises: what is wrong rejects them. */
const PROMISED = {
  Engine: ["auto", "gpu"],
  Arena: [
    "intersections", "distances", "contacts", "manifolds", "gradients", "candidates", "hits", "hitCounts", "sweeps", "nearestBodies", "nearestBodiesTo",
    "prepare", "raycasts", "raycastsAll", "occlusions", "shapeCasts", "shapeCastsAll", "shapeCastsAny", "nearestPoints", "containments",
  ],
  Flow: ["solve", "fields", "update", "prepare"],
  Agents: ["cells"],
  Field: ["distances", "nextCodes", "distancesAt", "nextCells", "path", "paths", "directions"],
};

/** Methods and properties that say in a sentence why they can't be used. */
function describe(made, name) {
  const promised = new Set(PROMISED[name]);
  const live = (object, given) => {
    if (object?.__wbg_ptr === 0) throw failed(`this ${name} was freed, it can't be used any more`, "invalid");
    current(object);
    given.forEach(current);
  };
  const prototype = made.prototype;
  for (const [key, { value, get, set, ...rest }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (key === "constructor" || key.startsWith("__")) continue;
    const guard = (inner) => function (...given) {
      if (!promised.has(key)) {
        live(this, given);
        return within(() => inner.apply(this, given));
      }
      try {
        live(this, given);
        return awaited(within(() => inner.apply(this, given)));
      } catch (error) {
        return Promise.reject(error);
      }
    };
    if (key === "free") continue;
    if (typeof value === "function") Object.defineProperty(prototype, key, { ...rest, value: guard(value) });
    else if (get) Object.defineProperty(prototype, key, { ...rest, get: guard(get), set: set && guard(set) });
  }
  const { free } = prototype;
  const release = function () {
    // Twice is as good as once.
    if (!this.__wbg_ptr) return;
    // With its module the object's memory is gone too.
    if (this.__wbg_inst !== instance) this.__wbg_ptr = 0;
    else within(() => free.call(this));
  };
  prototype.free = release;
  prototype[Symbol.dispose ?? Symbol.for("Symbol.dispose")] = release;
}

/** A class that says what to do where it is used before the module is loaded. */
function guarded(made, name) {
  describe(made, name);
  return new Proxy(made, {
    construct(target, given, called) {
      ready();
      given.forEach(current);
      const object = within(() => Reflect.construct(target, given, called));
      if (object.__wbg_ptr === undefined) throw failed(`${name} has no constructor: its static methods make one`, "invalid");
      return object;
    },
    get(target, key) {
      const value = target[key];
      if (!Object.hasOwn(target, key) || typeof value !== "function" || key === "prototype") return value;
      if (!PROMISED[name]?.includes(key)) {
        ready();
        return (...given) => within(() => value.apply(target, given));
      }
      return (...given) => {
        try {
          ready();
          return awaited(within(() => value.apply(target, given)));
        } catch (error) {
          return Promise.reject(error);
        }
      };
    },
  });
}

export const Engine = guarded(module.Engine, "Engine");
export const Hull = guarded(module.Hull, "Hull");
export const Arena = guarded(module.Arena, "Arena");
export const Grid = guarded(module.Grid, "Grid");
export const Flow = guarded(module.Flow, "Flow");
export const Field = guarded(module.Field, "Field");
export const Agents = guarded(module.Agents, "Agents");
export const CostDistance = guarded(module.CostDistance, "CostDistance");
export const Room = guarded(module.Room, "Room");
export const Surface = guarded(module.Surface, "Surface");

export const Status = Object.freeze({ SEPARATED: 0, TOUCHING: 1, PENETRATING: 2 });
export const SweepOutcome = Object.freeze({ HIT: 0, MISS: 1, TOUCHING: 2 });
export const NONE = 0xffff_ffff;
export const UNREACHABLE = 0xffff_ffff;
export const NEXT_NONE = 255;
