// The page's modules of WebAssembly: one for bodies and flow fields, one for shortest paths. Each is loaded with the first of its tabs.
const FOLDERS = { rooms: "./paths", surface: "./paths" };

/** The folder of the module that has a tab. */
export function folderOf(tab) { return FOLDERS[tab] ?? "."; }
