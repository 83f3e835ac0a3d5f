// The tab surface.
import { slider } from "./controls.js";

export default {
  name: "surface",
  title: "Surface",
  about: "This scene is not here yet: some bodies turn, coloured by their contacts.",
  build(panel, send) {
    const speed = slider(panel, send, { name: "speed", label: "Speed", min: 0, max: 4, step: 0.1, value: 1, show: (x) => x.toFixed(1) });
    return {
      state(fields) { speed.value = Number(fields.speed ?? 1); },
      message() {},
    };
  },
};
