// The tab rooms.
import { choice, slider, tick } from "./controls.js";

const DEFAULTS = { seed: 1, pillars: 40, radius: 0, method: "both", strip: "midpoints" };

export default {
  name: "rooms",
  title: "Rooms",
  about: "Drag the start (disc), the goal (ring) or the violet obstacle. The solid line is the shortest path, the dashed one the shortest "
    + "within one strip of cells.",
  onCpu: true,
  keys: "S, G and O choose the start, the goal and the obstacle, arrow keys move it, with shift finely.",
  build(panel, send) {
    const method = choice(panel, send, {
      name: "method", label: "Method", value: DEFAULTS.method, options: [["both", "optimal and funnel"], ["optimal", "optimal (Polyanya)"], ["funnel", "funnel"]],
    });
    const strip = choice(panel, send, {
      name: "strip", label: "Strip of the funnel", value: DEFAULTS.strip,
      options: [["midpoints", "shortest over midpoints of edges"], ["cells", "fewest cells"]],
    });
    const pillars = slider(panel, send, { name: "pillars", label: "Pillars and walls", min: 0, max: 300, step: 1, value: DEFAULTS.pillars });
    const radius = slider(panel, send, { name: "radius", label: "Radius of the agent, m", min: 0, max: 4, step: 0.05, value: DEFAULTS.radius, show: (x) => x.toFixed(2) });
    tick(panel, send, { name: "cells", label: "Cells of the mesh", value: true });
    const row = Object.assign(document.createElement("div"), { className: "row" });
    const another = Object.assign(document.createElement("button"), { type: "button", textContent: "Another seed" });
    let seed = DEFAULTS.seed;
    another.addEventListener("click", () => send({ type: "set", seed: seed + 1 }));
    row.append(another);
    const note = Object.assign(document.createElement("p"), { id: "rooms-note" });
    const text = Object.assign(document.createElement("p"), { id: "rooms-text" });
    text.setAttribute("aria-live", "polite");
    panel.append(row);
    panel.prepend(note, text);
    return {
      state(fields) {
        const state = { ...DEFAULTS, ...fields };
        for (const [name, control] of Object.entries({ method, strip, pillars, radius })) control.value = state[name];
        seed = Number(state.seed);
        strip.disabled = state.method === "optimal";
      },
      message(message) {
        if (message.type !== "path") return;
        const { optimal, funnel, bends, strip, cells, chosen } = message;
        const lengths = [];
        if (optimal !== null) lengths.push(`Optimal: ${optimal.toFixed(3)} m.`);
        if (funnel !== null) lengths.push(`Funnel: ${funnel.toFixed(3)} m.`);
        // Two bits of rounding are no detour.
        const more = optimal === null || funnel === null || optimal === 0 ? 0 : 100 * (funnel / optimal - 1);
        if (more > 1e-6) lengths.push(`The funnel's path is ${more < 0.01 ? "less than 0.01" : more.toFixed(2)} % longer.`);
        else if (lengths.length === 2) lengths.push("Both are the same.");
        if (lengths.length > 0) lengths.push(`Bends: ${bends}. Cells: ${strip} of ${cells}. The arrow keys move the ${chosen}.`);
        note.textContent = lengths.join(" ");
        text.textContent = message.text;
      },
    };
  },
};
