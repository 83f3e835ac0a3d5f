// The package hullfield: `init`, then the classes. index.d.ts says what each gives and takes.

import load, * as module from "./hullfield_web.js";

const PLACE = new URL("./hullfield_web_bg.wasm", import.meta.url);
// A name that bundlers for browsers do not follow.
const FILES = "node:fs/promises";

let isReady = false;
let loading = null;

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

async function bytesOf(source) {
  if (source !== undefined && !(source instanceof URL) && typeof source !== "string") return source;
  const place = source === undefined ? PLACE : new URL(source, globalThis.location?.href ?? import.meta.url);
  // Node reads files, and has no fetch for them.
  if (place.protocol === "file:" && globalThis.process?.versions?.node) {
    const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ FILES);
    return readFile(place);
  }
  const answer = await fetch(place);
  if (!answer.ok) throw new Error(`${place} gave the status ${answer.status}`);
  return answer;
}

export function init(source) {
  loading ??= (async () => {
    try {
      await load({ module_or_path: await bytesOf(source) });
      isReady = true;
    } catch (error) {
      loading = null;
      throw failed(`the module could not be loaded: ${error?.message ?? error}`, "io");
    }
  })();
  return loading;
}

function ready() {
  if (!isReady) throw failed("the module is not loaded: await init() first", "invalid");
}

/** A class that says what to do where it is used before the module is loaded. */
function guarded(made) {
  return new Proxy(made, {
    construct(target, given, called) {
      ready();
      return Reflect.construct(target, given, called);
    },
    get(target, name) {
      const value = target[name];
      if (Object.hasOwn(target, name) && typeof value === "function" && name !== "prototype") ready();
      return value;
    },
  });
}

export const Engine = guarded(module.Engine);
export const Hull = guarded(module.Hull);
export const Arena = guarded(module.Arena);
export const Grid = guarded(module.Grid);
export const Flow = guarded(module.Flow);
export const Field = guarded(module.Field);
export const Agents = guarded(module.Agents);
export const CostDistance = guarded(module.CostDistance);
export const Room = guarded(module.Room);
export const Surface = guarded(module.Surface);

export const Status = Object.freeze({ SEPARATED: 0, TOUCHING: 1, PENETRATING: 2 });
export const SweepOutcome = Object.freeze({ HIT: 0, MISS: 1, TOUCHING: 2 });
export const NONE = 0xffff_ffff;
export const UNREACHABLE = 0xffff_ffff;
export const NEXT_NONE = 255;
