// The tab rooms.
import { choice, msText, slider, table, tick } from "./controls.js";

const DEFAULTS = { seed: 1, pillars: 40, radius: 0, method: "both", strip: "midpoints" };

export default {
  name: "rooms",
  title: "Rooms",
  about: "The shortest path between walls: drag its ends or the obstacle, and click a door to shut it.",
  legend: [
    ["optimal", "shortest path, from the disc to the ring"], ["funnel", "shortest within one strip of cells"], ["obstacle", "obstacle"], ["door", "door"],
    ["narrow", "nearer to a wall than the radius"],
  ],
  onCpu: true,
  keys: "S, G and O choose the start, the goal and the obstacle, arrow keys move it, with shift finely. D turns the nearest door, plus and minus zoom, as a wheel does; "
    + "the second mouse button moves what is seen.",
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
    const keys = Object.assign(document.createElement("p"), { className: "keys" });
    panel.append(row);
    const doors = Object.assign(document.createElement("fieldset"), { className: "kinds" });
    doors.append(Object.assign(document.createElement("legend"), { textContent: "Doors that are open" }));
    const boxes = ["below", "in the middle", "above"].map((label, door) => {
      const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: true, id: `control-door-${door}` });
      const line = document.createElement("label");
      line.append(box, ` ${label}`);
      doors.append(line);
      box.addEventListener("change", () => send({ type: "set", shut: boxes.reduce((shut, box, at) => shut | (box.checked ? 0 : 1 << at), 0) }));
      return box;
    });
    panel.append(doors);
    const top = document.createElement("div");
    panel.prepend(top, note, text, keys);
    const show = table(top, { id: "lengths", caption: "Paths", columns: ["metres", "bends", "ms"] });
    let last = null;
    let ms = {};
    const showPaths = () => {
      if (last === null) return;
      const { optimal, funnel, bends, funnel_bends: others } = last;
      const row = (name, length, bends, stage) => (length === null ? [] : [[name, length.toFixed(3), String(bends), ms[stage] === undefined ? "" : msText(ms[stage])]]);
      show([...row("Optimal", optimal, bends, "path, optimal"), ...row("Funnel", funnel, others, "path, funnel")]);
    };
    return {
      state(fields) {
        const state = { ...DEFAULTS, ...fields };
        for (const [name, control] of Object.entries({ method, strip, pillars, radius })) control.value = state[name];
        seed = Number(state.seed);
        strip.disabled = state.method === "optimal";
      },
      badge(times) {
        ms = times;
        showPaths();
        const [optimal, built] = [times["path, optimal"] ?? times["path, funnel"], times["obstacle, moved"]];
        return [...(optimal === undefined ? [] : [`path ${msText(optimal)} ms`]), ...(built === undefined ? [] : [`obstacle moved ${msText(built)} ms`])];
      },
      message(message) {
        if (message.type !== "path") return;
        last = message;
        showPaths();
        const { optimal, funnel, strip, cells, chosen, shut } = message;
        // Two bits of rounding are no detour.
        const more = optimal === null || funnel === null || optimal === 0 ? 0 : 100 * (funnel / optimal - 1);
        const parts = [];
        if (more > 1e-6) parts.push(`The funnel's path is ${more < 0.01 ? "less than 0.01" : more.toFixed(2)} % longer.`);
        else if (optimal !== null && funnel !== null) parts.push("Both are the same.");
        if (optimal !== null || funnel !== null) parts.push(`The path crosses ${strip} of ${cells} cells.`);
        if (message.is_dense) parts.push("The cells are too small to be drawn: zoom in.");
        note.textContent = parts.join(" ");
        text.textContent = message.text;
        keys.textContent = `The arrow keys move the ${chosen}.`;
        doors.hidden = message.doors === 0;
        boxes.forEach((box, door) => { box.checked = (shut >> door & 1) === 0; });
      },
    };
  },
};
