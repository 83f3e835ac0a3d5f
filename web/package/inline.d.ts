export * from "./index.js";

/**
 * Makes the module ready; it comes with the program, so nothing is fetched. Further calls wait for the first.
 *
 * @throws {HullfieldError} (rejects) where the module can't be compiled.
 */
export function init(): Promise<void>;
