// As index.js, but the module comes with the program: nothing else is loaded.

import text from "./module.js";
import { init as load } from "./index.js";

export * from "./index.js";

function decoded() {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** Makes the module ready. */
export function init() {
  return load(decoded());
}
