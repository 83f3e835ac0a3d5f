// The tab surface.
import { choice, slider, tick } from "./controls.js";

const DEFAULTS = { model: "knot", triangles: 6000, bands: true, funnel: true };
const FORMATS = ".obj,.stl,.ply,.off,.glb,.gltf";

const whole = new Intl.NumberFormat("en");
const isOn = (flag) => flag === true || flag === "true" || flag === "1";

export default {
  name: "surface",
  title: "Surface",
  about: "Drag the start (disc) or the goal (ring) over the model; elsewhere a drag turns it and a wheel zooms. The solid line is the shortest path, "
    + "the dashed one the shortest within one strip of triangles, and the bands are distances from the start. Drop a file of a model to see it here.",
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
    panel.prepend(note, text);
    return {
      state(fields) {
        const state = { ...DEFAULTS, ...fields };
        if (model.value !== "file") model.value = state.model;
        triangles.value = state.triangles;
        bands.checked = isOn(state.bands);
        funnel.checked = isOn(state.funnel);
      },
      message(message) {
        if (message.type !== "path") return;
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
        const { geodesic, funnel: other, guaranteed, far, band, waiting, chosen } = message;
        const length = (x) => Number(x.toPrecision(5)).toString();
        const count = whole.format(message.triangles);
        const isCut = message.file && message.file_triangles < message.triangles;
        const parts = [isCut ? `Triangles: ${whole.format(message.file_triangles)}, cut into ${count} for the bands.` : `Triangles: ${count}.`];
        if (geodesic !== null) parts.push(`Shortest path: ${length(geodesic)}${guaranteed ? "" : " (the first that was found)"}.`);
        if (other !== null && funnel.checked) {
          const more = geodesic ? 100 * (other / geodesic - 1) : 0;
          const is = more < 0.005 ? "about as long" : `${more.toFixed(2)} % longer`;
          parts.push(`Funnel: ${length(other)}${geodesic === null ? "" : `, ${is}`}.`);
        }
        if (band !== null && bands.checked) parts.push(`A band is ${length(band)} wide; the farthest point is ${length(far)} away.`);
        // From the same number of triangles on (`MOST_SOLVED`) no length is guaranteed.
        else if (!guaranteed && bands.checked) parts.push("Above 300,000 triangles there are no bands.");
        if (waiting) parts.push("Solving…");
        parts.push(`The arrow keys move the ${chosen}.`);
        note.textContent = parts.join(" ");
        text.textContent = message.text;
      },
    };
  },
};
