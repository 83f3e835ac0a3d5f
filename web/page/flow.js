// The tab flow.
import { buttons, choice, msText, slider, tick } from "./controls.js";

const DEFAULTS = { scene: "map", size: 256, seed: 1, agents: 10000, connectivity: "eight", corners: "both" };
const TOOLS = [["wall", "walls (W)"], ["free", "free cells (F)"], ["goal", "goals (G)"], ["one", "the only goal (M)"], ["cost", "costs (C)"]];

export default {
  name: "flow",
  title: "Flow",
  about: "Paint walls, costs and goals: the field is solved as you paint, and agents follow it.",
  legend: [
    ["distance", "near to far from the goals"], ["wall", "wall"], ["cost", "slow ground"], ["goal", "goal"], ["agent", "agent"], ["unreachable", "no way to a goal"],
  ],
  still: { speed: "0" },
  // Links have a length.
  unkept: "what you painted, which is too much for one",
  keys: "The second mouse button frees cells. Arrow keys move the brush, space paints. W, F, G, M and C choose what it paints, [ and ] its size.",
  build(panel, send) {
    const scene = choice(panel, send, {
      name: "scene", label: "Scene", value: DEFAULTS.scene,
      options: [["map", "map: rooms, corridors, costs"], ["maze", "maze"], ["open", "open"]],
    });
    const tool = choice(panel, send, { name: "tool", label: "Brush paints", value: "wall", options: TOOLS });
    const brush = slider(panel, send, { name: "brush", label: "Brush, % of the edge", min: 0, max: 10, step: 0.5, value: 1.5, show: (x) => x.toFixed(1) });
    const size = slider(panel, send, { name: "size", label: "Cells", min: 64, max: 1024, step: 32, value: DEFAULTS.size, show: (x) => `${x} × ${x}` });
    const agents = slider(panel, send, { name: "agents", label: "Agents", min: 0, max: 50000, step: 500, value: DEFAULTS.agents, show: (x) => x.toLocaleString("en") });
    const speed = slider(panel, send, { name: "speed", label: "Speed", min: 0, max: 4, step: 0.1, value: 1, show: (x) => x.toFixed(1) });
    const connectivity = choice(panel, send, {
      name: "connectivity", label: "Connectivity", value: DEFAULTS.connectivity, options: [["four", "four neighbours"], ["eight", "eight neighbours"]],
    });
    const corners = choice(panel, send, {
      name: "corners", label: "Diagonals past corners", value: DEFAULTS.corners,
      options: [["both", "only where both cells beside are free"], ["one", "where one of them is free"], ["any", "always"]],
    });
    tick(panel, send, { name: "distances", label: "Distances as colours", value: true });
    tick(panel, send, { name: "arrows", label: "Arrows to the next cells", value: true });
    const row = buttons(panel, send, [["Paint anew", { type: "reset" }], ["Scatter agents", { type: "scatter" }]]);
    const another = Object.assign(document.createElement("button"), { type: "button", textContent: "Another seed" });
    let seed = DEFAULTS.seed;
    another.addEventListener("click", () => send({ type: "set", seed: seed + 1 }));
    row.append(another);
    const note = Object.assign(document.createElement("p"), { id: "flow-note" });
    panel.prepend(note);
    let isKept = true;
    return {
      isUnkept: () => !isKept,
      badge(ms) {
        const field = ms["field, updated"] ?? ms["field, solved"];
        return [...(field === undefined ? [] : [`field ${msText(field)} ms`]), ...(ms.drawing === undefined ? [] : [`draw ${msText(ms.drawing)} ms`])];
      },
      /** The pictures stand still until the user asks for more. */
      still(fields) { speed.value = Number(fields.speed); },
      state(fields) {
        const state = { ...DEFAULTS, ...fields };
        for (const [name, control] of Object.entries({ scene, size, agents, connectivity, corners })) control.value = state[name];
        seed = Number(state.seed);
        corners.disabled = state.connectivity === "four";
      },
      message(message) {
        if (message.type !== "field") return;
        const { goals, reached, free, farthest, arrived } = message;
        isKept = message.kept;
        tool.value = message.tool;
        brush.value = message.brush;
        const number = (x) => Math.round(x).toLocaleString("en");
        note.textContent = goals === 0
          ? "There is no goal: paint one."
          : `${number(goals)} ${goals === 1 ? "goal is" : "goals are"} reached from ${number(reached)} of ${number(free)} free cells, the farthest ${number(farthest)} steps away. ${number(arrived)} agents have arrived.`;
      },
    };
  },
};
