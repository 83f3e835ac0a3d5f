// Controls of a tab. Each sends `{type: "set", [name]: value}` when the user changes it, and has `value` to be set by a state.

/** Milliseconds as a text of three digits or so. */
export const msText = (ms) => (ms < 9.95 ? ms.toFixed(2) : ms.toFixed(1));

/** What the marks of a picture mean, as items of a list: `[[mark, text], …]`. style.css has a class for each mark, in the picture's colours. */
export function legend(rows) {
  return rows.map(([mark, text]) => {
    const item = document.createElement("li");
    item.append(Object.assign(document.createElement("span"), { className: `mark ${mark}`, ariaHidden: "true" }), text);
    return item;
  });
}

/** A table whose rows have a name and texts under `columns`. Returns what shows rows: `[[name, text, …], …]`. */
export function table(panel, { id, caption, columns }) {
  const make = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text, ...more });
  const row = (cells) => {
    const line = document.createElement("tr");
    line.append(...cells);
    return line;
  };
  const [head, body] = [document.createElement("thead"), document.createElement("tbody")];
  head.append(row(["", ...columns].map((text) => make("th", text, { scope: "col" }))));
  const whole = Object.assign(document.createElement("table"), { id });
  whole.append(make("caption", caption), head, body);
  panel.append(whole);
  return (rows) => body.replaceChildren(...rows.map(([name, ...texts]) => row([make("th", name, { scope: "row" }), ...texts.map((text) => make("td", text))])));
}

/** A slider. `show` turns the number into the text beside the label; `of` and `to` map the slider's place to the number and back. */
export function slider(panel, send, { name, label, min, max, step = 1, value, show = String, of = (x) => x, to = (x) => x }) {
  const row = document.createElement("label");
  row.className = "control";
  const head = document.createElement("span");
  const text = document.createElement("span");
  text.textContent = label;
  const output = document.createElement("output");
  head.append(text, output);
  const input = Object.assign(document.createElement("input"), { type: "range", min, max, step, id: `control-${name}` });
  // The output is the label's first control, which would take the name.
  row.htmlFor = input.id;
  row.append(head, input);
  panel.append(row);
  // What is read out is the text, not the slider's place.
  const say = (number) => {
    output.textContent = show(number);
    input.setAttribute("aria-valuetext", show(number));
  };
  const control = {
    input,
    set value(number) {
      // While it is dragged, the state may be older than the hand.
      if (input.matches(":active")) return;
      input.value = to(number);
      say(number);
    },
    get value() { return of(Number(input.value)); },
  };
  control.value = value;
  input.addEventListener("input", () => {
    say(control.value);
    send({ type: "set", [name]: control.value });
  });
  return control;
}

/** A list to choose from: `options` is `[[value, label], …]`. */
export function choice(panel, send, { name, label, options, value }) {
  const row = document.createElement("label");
  row.className = "control";
  const text = document.createElement("span");
  text.textContent = label;
  const select = Object.assign(document.createElement("select"), { id: `control-${name}` });
  for (const [value, label] of options) select.append(new Option(label, value));
  row.append(text, select);
  panel.append(row);
  select.value = value;
  select.addEventListener("change", () => send({ type: "set", [name]: select.value }));
  return select;
}

/** A box to tick. Its state is `checked`. */
export function tick(panel, send, { name, label, value }) {
  const row = document.createElement("label");
  row.className = "control";
  const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: value, id: `control-${name}` });
  row.append(box, " ", label);
  panel.append(row);
  box.addEventListener("change", () => send({ type: "set", [name]: box.checked }));
  return box;
}

/** A row of buttons: `[[label, message], …]`. */
export function buttons(panel, send, list) {
  const row = document.createElement("div");
  row.className = "row";
  for (const [label, message] of list) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: label });
    button.addEventListener("click", () => send(message));
    row.append(button);
  }
  panel.append(row);
  return row;
}
