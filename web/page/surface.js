// The tab surface.
import { choice, msText, slider, table, tick } from "./controls.js";

const DEFAULTS = { model: "knot", triangles: 6000, bands: true, funnel: true };
const FORMATS = ".obj,.stl,.ply,.off,.glb,.gltf";

const whole = new Intl.NumberFormat("en");
const isOn = (flag) => flag === true || flag === "true" || flag === "1";

export default {
  name: "surface",
  title: "Surface",
  about: "The shortest path over a model: drag its ends, turn the model elsewhere, or drop a file.",
  legend: [
    ["geodesic", "shortest path, from the disc to the ring"], ["ghost", "hidden by the model"], ["strip", "shortest within one strip of triangles"],
    ["bands", "near to far from the start"],
  ],
  takesFiles: true,
  unkept: "the model of your file",
  keys: "S and G choose the start and the goal, arrow keys move it, with shift finely. Home, End, Page Up and Page Down turn the model, plus and minus zoom.",
  build(panel, send, sendFile) {
    const model = choice(panel, send, {
      name: "model", label: "Model", value: DEFAULTS.model,
      options: [["knot", "knot: a tube"], ["stone", "stone: dents and bumps"], ["hills", "hills: with a border"]],
    });
    const own = new Option("", "file", false, false);
    const triangles = slider(panel, send, {
      name: "triangles", label: "Triangles", min: 1000, max: 50000, step: 500, value: DEFAULTS.triangles, show: (x) => whole.format(x),
    });
    const row = Object.assign(document.createElement("div"), { className: "row" });
    const input = Object.assign(document.createElement("input"), { type: "file", accept: FORMATS, id: "surface-file", hidden: true });
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Open a file (OBJ, STL, PLY, OFF, GLB)" });
    button.addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      const [file] = input.files;
      if (file) sendFile(file);
      // The same file may be chosen again.
      input.value = "";
    });
    row.append(button, input);
    panel.append(row);
    const bands = tick(panel, send, { name: "bands", label: "Bands of distance", value: DEFAULTS.bands });
    const funnel = tick(panel, send, { name: "funnel", label: "Path of the funnel", value: DEFAULTS.funnel });
    const note = Object.assign(document.createElement("p"), { id: "surface-note" });
    const text = Object.assign(document.createElement("p"), { id: "surface-text" });
    text.setAttribute("aria-live", "polite");
    const keys = Object.assign(document.createElement("p"), { className: "keys" });
    const weld = Object.assign(document.createElement("button"), { type: "button", id: "surface-weld", hidden: true });
    weld.addEventListener("click", () => send({ type: "weld" }));
    const top = document.createElement("div");
    panel.prepend(top, note, text, weld, keys);
    const show = table(top, { id: "surface-lengths", caption: "Paths", columns: ["length", "ms"] });
    let last = null;
    let funnelMs;
    const length = (x) => Number(x.toPrecision(5)).toString();
    const showPaths = () => {
      if (last === null) return;
      const time = (ms) => (typeof ms === "number" ? msText(ms) : "");
      const { geodesic, funnel: other, guaranteed, far, path_ms: pathMs, bands_ms: bandsMs } = last;
      const rows = [];
      if (geodesic !== null) rows.push([guaranteed ? "Shortest" : "First found", length(geodesic), time(pathMs)]);
      if (other !== null && funnel.checked) rows.push(["Funnel", length(other), time(funnelMs)]);
      if (far !== null && bands.checked) rows.push(["Farthest point", length(far), time(bandsMs)]);
      show(rows);
    };
    return {
      state(fields) {
        const state = { ...DEFAULTS, ...fields };
        if (model.value !== "file") model.value = state.model;
        triangles.value = state.triangles;
        bands.checked = isOn(state.bands);
        funnel.checked = isOn(state.funnel);
      },
      isUnkept: () => own.parentNode !== null,
      badge(ms) {
        funnelMs = ms["path, funnel"];
        showPaths();
        const parts = [];
        if (last?.path_ms) parts.push(`path ${msText(last.path_ms)} ms`);
        if (last?.bands_ms && bands.checked) parts.push(`distances ${msText(last.bands_ms)} ms`);
        const draw = ms.drawing ?? ms.encoding;
        if (draw !== undefined) parts.push(`draw ${msText(draw)} ms`);
        return parts;
      },
      message(message) {
        if (message.type !== "path") return;
        last = message;
        showPaths();
        if (message.file) {
          own.textContent = message.file;
          if (!own.parentNode) model.append(own);
          model.value = "file";
        } else {
          own.remove();
          model.value = message.model;
        }
        // A file has the triangles that it has.
        triangles.input.disabled = Boolean(message.file);
        const { geodesic, funnel: other, guaranteed, band, waiting, chosen } = message;
        const count = whole.format(message.triangles);
        const isCut = message.file && message.file_triangles < message.triangles;
        const parts = [isCut ? `Triangles: ${whole.format(message.file_triangles)}, cut into ${count} for the bands.` : `Triangles: ${count}.`];
        if (geodesic !== null && other !== null && funnel.checked) {
          const more = geodesic ? 100 * (other / geodesic - 1) : 0;
          parts.push(`The funnel's path is ${more < 0.005 ? "about as long" : `${more.toFixed(2)} % longer`}.`);
        }
        if (band !== null && bands.checked) parts.push(`A band is ${length(band)} wide.`);
        // From the same number of triangles on (`MOST_SOLVED`) no length is guaranteed.
        if (!guaranteed && bands.checked) parts.push("Above 300,000 triangles there are no bands.");
        if (waiting) parts.push("Solving…");
        keys.textContent = `The arrow keys move the ${chosen}.`;
        note.textContent = parts.join(" ");
        weld.hidden = message.connected || message.weld === null;
        if (!weld.hidden) weld.textContent = `Weld points closer than ${Number(message.weld.toPrecision(1))}`;
        text.textContent = message.text;
      },
    };
  },
};
