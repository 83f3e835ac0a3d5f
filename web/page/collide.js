// The tab collide: bodies that tumble in a box, coloured by the verdicts of their pairs.
import { buttons, msText, slider } from "./controls.js";

const KINDS = [["box", "boxes"], ["ball", "balls"], ["capsule", "capsules"], ["cone", "cones"], ["polytope", "random polytopes"]];
const MOST_BODIES = 50_000;
const ALL = KINDS.map(([name]) => name).join(",");

const number = new Intl.NumberFormat("en");

/** An element with these properties and children. */
function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

/** The slider's place, 0 to 1, stands for 1 to 50,000 bodies, in equal factors; two digits are enough. */
const countAt = (place) => {
  const exact = MOST_BODIES ** place;
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(exact)) - 1);
  return Math.min(MOST_BODIES, Math.max(1, unit * Math.round(exact / unit)));
};
const placeOf = (count) => Math.log(count) / Math.log(MOST_BODIES);

/** The boxes to tick for the kinds of hulls: a message has them all, so that the last one can't be taken away unsaid. */
function kinds(panel, send) {
  const group = make("fieldset", { className: "kinds" }, make("legend", { textContent: "Hulls" }));
  const boxes = KINDS.map(([name, label]) => {
    const box = make("input", { type: "checkbox", checked: true, id: `control-${name}` });
    group.append(make("label", {}, box, ` ${label}`));
    box.addEventListener("change", () => {
      const chosen = boxes.filter(([, box]) => box.checked).map(([name]) => name);
      send({ type: "set", kinds: chosen.join(",") });
      // One kind is always there.
      if (chosen.length === 0) box.checked = true;
    });
    return [name, box];
  });
  panel.append(group);
  return (text) => {
    const chosen = text.split(",");
    for (const [name, box] of boxes) box.checked = chosen.includes(name);
  };
}

function seed(panel, send) {
  const input = make("input", { type: "number", min: 0, max: 2 ** 32 - 1, step: 1, value: 1, id: "control-seed" });
  const other = make("button", { type: "button", textContent: "Another" });
  input.addEventListener("change", () => send({ type: "set", seed: input.value }));
  other.addEventListener("click", () => send({ type: "set", seed: Math.floor(Math.random() * 1e6) }));
  panel.append(make("div", { className: "row seed" }, make("label", {}, "Seed ", input), other));
  return input;
}

/** The table of verdicts: its colours are those of the picture. */
function legend(panel) {
  const body = make("tbody");
  panel.append(make("table", { id: "verdicts" },
    make("caption", { textContent: "Verdicts" }),
    make("thead", {}, make("tr", {}, make("th", { scope: "col", textContent: "" }), make("th", { scope: "col", textContent: "bodies" }), make("th", { scope: "col", textContent: "pairs" }))),
    body));
  const row = (name, bodies, pairs, color) => {
    const swatch = make("span", { className: "swatch", ariaHidden: "true" });
    if (color) swatch.style.background = color;
    const head = make("th", { scope: "row" }, ...(color ? [swatch] : []), name);
    return make("tr", {}, head, make("td", { textContent: bodies }), make("td", { textContent: pairs }));
  };
  return ({ bodies, pairs, candidates, names, colors }) => {
    const rows = names.map((name, mark) => {
      // Pairs that are apart have no row; the broad phase found the others too.
      const apart = candidates - pairs[1] - pairs[2] - pairs[3];
      return row(name, number.format(bodies[mark]), number.format(mark === 0 ? apart : pairs[mark]), colors[mark]);
    });
    const all = row("all", number.format(bodies.reduce((sum, count) => sum + count)), number.format(candidates));
    body.replaceChildren(...rows.filter((_, mark) => mark < 3 || bodies[3] > 0 || pairs[3] > 0), all);
  };
}

/** The CPU engine beside the GPU engine. */
function comparison(panel) {
  const text = make("p", { id: "comparison" });
  const section = make("section", { hidden: true }, make("h2", { textContent: "CPU engine beside GPU engine" }), text);
  panel.append(section);
  const ms = (value) => (value === null ? "not measured" : `${value < 9.95 ? value.toFixed(2) : value.toFixed(1)} ms`);
  return (result) => {
    section.hidden = result.equal === null;
    if (section.hidden) return;
    text.dataset.equal = result.equal;
    const times = result.pairs === undefined ? "" : ` GPU ${ms(result.gpu_ms)}, CPU ${ms(result.cpu_ms)} for the same bodies.`;
    text.textContent = result.text + times;
  };
}

/** The contacts of the chosen body. */
function contacts(panel) {
  const body = make("tbody");
  const table = make("table", { id: "contacts" }, make("caption", { textContent: "Contacts" }),
    make("thead", {}, make("tr", {}, make("th", { scope: "col", textContent: "with body" }), make("th", { scope: "col", textContent: "depth" }))), body);
  const hint = make("p", { id: "contacts-hint" });
  panel.append(hint, table);
  return ({ body: chosen, kind, count, rows }) => {
    table.hidden = count === 0;
    if (chosen === null) {
      hint.textContent = "Drag a body, or choose one with Page Down, to see its contacts.";
      return;
    }
    const more = count > rows.length ? `, the deepest ${rows.length}` : "";
    hint.textContent = `Body ${chosen}, a ${kind}, is chosen. It has ${["no contact", "1 contact"][count] ?? `${count} contacts`}${more}.`;
    body.replaceChildren(...rows.map(({ body, kind, status, depth }) => make("tr", {},
      make("th", { scope: "row", textContent: `${body}, a ${kind}, ${status}` }),
      make("td", { textContent: depth.toFixed(4) }))));
  };
}

export default {
  name: "collide",
  title: "Collide",
  about: "Convex bodies tumble in a box, coloured by their worst pair. Drag one to see its contacts.",
  legend: [["chosen", "the chosen body"], ["contact", "where it touches, and the way out"]],
  still: { paused: "1" },
  keys: "Space pauses, Page Down chooses a body, W A S D Q E move it, Escape lets it go. Arrow keys turn the scene, plus and minus zoom.",
  build(panel, send) {
    const count = slider(panel, send, {
      name: "bodies", label: "Bodies", min: 0, max: 1, step: 0.005, value: 2_000, show: (x) => number.format(x), of: countAt, to: placeOf,
    });
    const speed = slider(panel, send, { name: "speed", label: "Speed", min: 0, max: 4, step: 0.1, value: 1, show: (x) => x.toFixed(1) });
    const showKinds = kinds(panel, send);
    const seedInput = seed(panel, send);
    const row = buttons(panel, send, [
      ["Pause", { type: "key", key: " " }],
      ["Next body", { type: "key", key: "PageDown" }],
      ["Let go", { type: "key", key: "Escape" }],
    ]);
    const [pause, , letGo] = row.children;
    pause.id = "control-pause";
    letGo.disabled = true;
    let pairs = null;
    const showCounts = legend(panel);
    const counts = (message) => {
      pairs = message.candidates;
      showCounts(message);
    };
    const take = { counts, comparison: comparison(panel), contacts: contacts(panel) };
    return {
      state({ bodies = 2_000, speed: wanted = 1, kinds = ALL, seed = 1, paused = 0 }) {
        count.value = Number(bodies);
        speed.value = Number(wanted);
        showKinds(kinds);
        if (document.activeElement !== seedInput) seedInput.value = seed;
        pause.textContent = Number(paused) ? "Go on" : "Pause";
        pause.setAttribute("aria-pressed", Boolean(Number(paused)));
      },
      badge(ms) {
        const [judge, draw] = [ms["judge (GPU's clock)"] ?? ms.judge, ms["draw (GPU's clock)"] ?? ms.draw];
        return [
          ...(pairs === null ? [] : [`${number.format(pairs)} pairs`]),
          ...(judge === undefined ? [] : [`judge ${msText(judge)} ms`]),
          ...(draw === undefined ? [] : [`draw ${msText(draw)} ms`]),
        ];
      },
      message(message) {
        take[message.type]?.(message);
        if (message.type === "contacts") letGo.disabled = message.body === null;
      },
    };
  },
};
