// The tab surface: dragging, files, the second worker, keys, the link.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Browser, WITHOUT_WEBGPU } from "./browser.mjs";

const LAST = "playground.messages.findLast((m) => m.type === 'path')";
const ERROR = "(document.getElementById('error').hidden ? '' : document.getElementById('error-text').textContent)";

let browser;
before(async () => { browser = await Browser.start(WITHOUT_WEBGPU); });
after(async () => { await browser.stop(); });

async function opened(link, view) {
  const page = await browser.open(link, view);
  await page.wait("path", "(m) => !m.waiting && m.geodesic !== null");
  await page.wait("picture");
  return page;
}

/** Drops a file on the stage: its bytes, or its text. */
async function drop(page, name, content) {
  const base64 = Buffer.from(content).toString("base64");
  await page.value(`(() => {
    const bytes = Uint8Array.from(atob("${base64}"), (letter) => letter.charCodeAt(0));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([bytes], ${JSON.stringify(name)}));
    document.getElementById("stage").dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
  })()`);
}

/** A pyramid of four sides in each format; the base is open. */
const POINTS = [[0, 0, 0], [2, 0, 0], [2, 0, 2], [0, 0, 2], [1, 2, 1]];
const FACES = [[0, 4, 1], [1, 4, 2], [2, 4, 3], [3, 4, 0]];
const rows = (list) => list.map((row) => `${row.join(" ")}\n`).join("");

const obj = rows(POINTS.map((point) => ["v", ...point])) + rows(FACES.map((face) => ["f", ...face.map((corner) => corner + 1)]));
const ply = `ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\nelement face 4\nproperty list uchar int vertex_indices\nend_header\n${
  rows(POINTS)}${rows(FACES.map((face) => [3, ...face]))}`;

function stl() {
  const bytes = Buffer.alloc(84 + 50 * FACES.length);
  bytes.writeUInt32LE(FACES.length, 80);
  FACES.forEach((face, row) => face.flatMap((corner) => POINTS[corner]).forEach((value, at) => bytes.writeFloatLE(value, 84 + 50 * row + 12 + 4 * at)));
  return bytes;
}

function glb() {
  const binary = Buffer.alloc(60 + 24);
  POINTS.flat().forEach((value, at) => binary.writeFloatLE(value, 4 * at));
  FACES.flat().forEach((corner, at) => binary.writeUInt16LE(corner, 60 + 2 * at));
  let json = JSON.stringify({
    asset: { version: "2.0" }, scene: 0, scenes: [{ nodes: [0] }], nodes: [{ mesh: 0 }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0 }, indices: 1 }] }],
    accessors: [
      { bufferView: 0, componentType: 5126, count: 5, type: "VEC3", min: [0, 0, 0], max: [2, 2, 2] },
      { bufferView: 1, componentType: 5123, count: 12, type: "SCALAR" },
    ],
    bufferViews: [{ buffer: 0, byteLength: 60 }, { buffer: 0, byteOffset: 60, byteLength: 24 }],
    buffers: [{ byteLength: 84 }],
  });
  json += " ".repeat((4 - json.length % 4) % 4);
  const chunk = (kind, data) => {
    const head = Buffer.alloc(8);
    head.writeUInt32LE(data.length, 0);
    head.write(kind, 4, "latin1");
    return Buffer.concat([head, data]);
  };
  const body = Buffer.concat([chunk("JSON", Buffer.from(json)), chunk("BIN\0", binary)]);
  const head = Buffer.from("glTF\x02\0\0\0\0\0\0\0", "latin1");
  head.writeUInt32LE(12 + body.length, 8);
  return Buffer.concat([head, body]);
}

/** The page's table of times, which is reported and not asserted: the machine may be busy. */
const times = (page) => page.value("[...document.querySelectorAll('#times tr')].map((row) => [...row.cells].map((c) => c.textContent).join(' ')).join(', ')");

const middle = (page) => page.value("(({ x, y, width, height }) => [x + width / 2, y + height / 2])(document.getElementById('stage').getBoundingClientRect())");

test("an end that is dragged takes the path along, and the bands follow", async (t) => {
  const page = await opened("#tab=surface&model=hills&triangles=2000");
  const before = await page.value(LAST);
  assert.ok(before.geodesic > 0.1 && before.funnel >= before.geodesic * 0.999 && before.far > before.geodesic, JSON.stringify(before));
  // A click brings the chosen end to the middle; then it is dragged from there.
  const [x, y] = await middle(page);
  await page.drag([x, y], [x, y], 1);
  await page.until(`${LAST}.geodesic !== ${before.geodesic}`);
  const clicked = await page.value(LAST);
  const count = await page.value("playground.messages.filter((m) => m.type === 'path').length");
  await page.drag([x, y], [x - 60, y + 30], 12);
  await page.until(`${LAST}.geodesic !== ${clicked.geodesic} && !${LAST}.waiting`);
  const after = await page.value("playground.messages.filter((m) => m.type === 'path').length");
  assert.ok(after > count + 1, "the path is shown while the end is dragged");
  await page.until("location.hash.includes('start=')");
  t.diagnostic(await times(page));
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("many triangles are solved by the second worker", async (t) => {
  const page = await opened("#tab=surface&triangles=50000");
  const { bands_by: by, geodesic, far, triangles } = await page.value(LAST);
  assert.ok(by === "second" && geodesic < far && Math.abs(triangles / 50000 - 1) < 0.1, `${by} ${geodesic} ${far} ${triangles}`);
  t.diagnostic(await times(page));
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("dropped files of four formats are shown, and the page's model comes back", async () => {
  const page = await opened("#tab=surface");
  for (const [name, content] of [["a.obj", obj], ["b.stl", stl()], ["c.ply", ply], ["d.GLB", glb()]]) {
    await drop(page, name, content);
    await page.until(`${LAST}.file === ${JSON.stringify(name)} && ${LAST}.geodesic > 0.1 && !${LAST}.waiting`);
    assert.equal(await page.value(`${LAST}.file_triangles`), 4);
    assert.equal(await page.value("document.getElementById('control-model').selectedOptions[0].textContent"), name);
  }
  await page.screenshot("surface-file-1280-light");
  await page.value("Object.assign(document.getElementById('control-model'), { value: 'stone' }).dispatchEvent(new Event('change'))");
  await page.until(`${LAST}.file === null && ${LAST}.model === 'stone'`);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("what is no surface is one sentence, and the scene goes on", async () => {
  const page = await opened("#tab=surface&triangles=1000");
  for (const [name, content, words] of [
    ["notes.txt", "hello", /^notes\.txt: unknown format/],
    ["broken.obj", "v 0 0 0\nv 1 x 0\n", /^broken\.obj: line 2, column 5: .*"x" is not a number\.$/],
    ["cut.glb", glb().subarray(0, 40), /^cut\.glb: .*cut short\.$/],
    ["points.ply", ply.replace("element face 4", "element face 0").split("3 0 4 1")[0], /^points\.ply: it has no faces\.$/],
    ["lines.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n", /^lines\.obj: it has no faces\.$/],
  ]) {
    await drop(page, name, content);
    await page.until(`${ERROR}.startsWith(${JSON.stringify(name)})`);
    assert.match(await page.value(ERROR), words);
    assert.equal(await page.value("document.getElementById('progress').hidden"), true);
  }
  assert.equal(await page.value(`${LAST}.file`), null);
  const before = await page.value(`${LAST}.geodesic`);
  await page.value("document.getElementById('stage').focus()");
  for (let step = 0; step < 3; step++) await page.press("ArrowUp");
  await page.until(`${LAST}.geodesic !== ${before}`);
  await drop(page, "a.obj", obj);
  await page.until(`${LAST}.file === 'a.obj' && ${ERROR} === ''`);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("a second worker that ends is said, and a new one reads the file", async () => {
  const page = await opened("#tab=surface&triangles=1000");
  await page.value("playground.failSecond()");
  await drop(page, "a.obj", obj);
  await page.until(`${ERROR}.startsWith('The second worker has ended by an error (a test)')`);
  assert.equal(await page.value("document.getElementById('progress').hidden"), true);
  await drop(page, "a.obj", obj);
  await page.until(`${LAST}.file === 'a.obj' && ${LAST}.geodesic > 0.1`);
  // The console has the error of the worker that ended, and no other.
  assert.ok(page.errors.length > 0);
  for (const error of page.errors) assert.match(error, /a test/);
  await page.close();
});

test("keys choose and move the ends, and the stage says which", async () => {
  const page = await opened("#tab=surface&model=hills&triangles=2000");
  assert.match(await page.value("document.getElementById('stage').getAttribute('aria-label')"), /S and G choose/);
  await page.value("document.getElementById('stage').focus()");
  await page.press("g", "KeyG");
  await page.until(`${LAST}.chosen === 'goal'`);
  const before = await page.value(`${LAST}.geodesic`);
  for (let step = 0; step < 4; step++) await page.press("ArrowLeft");
  await page.until(`${LAST}.geodesic !== ${before} && location.hash.includes('goal=')`);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("a broken link is a sentence", async () => {
  for (const [link, words] of [["model=teapot", /knot, stone or hills/], ["triangles=7", /1,000 to 50,000/], ["start=5", /number of a triangle/], ["goal=99999999,0,0", /not on the model/]]) {
    const page = await opened(`#tab=surface&${link}`);
    await page.until(`${ERROR} !== ''`);
    assert.match(await page.value(ERROR), words);
    assert.deepEqual(page.errors, []);
    await page.close();
  }
});

for (const [name, link, width, scheme] of [
  ["knot", "", 1280, "light"],
  ["stone", "&model=stone&triangles=20000", 1280, "dark"],
  ["hills", "&model=hills", 400, "light"],
  ["knot", "&bands=0", 400, "dark"],
]) {
  test(`the ${name} at ${width} pixels, ${scheme}`, async (t) => {
    const page = await opened(`#tab=surface${link}`, { width, height: 800, scheme, isPhone: width < 500 });
    await page.until("document.querySelector('#times td') !== null");
    await page.screenshot(`surface-${name}-${width}-${scheme}`);
    const [x, y] = await middle(page);
    await page.drag([x, y], [x + 80, y + 20], 15);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await page.screenshot(`surface-${name}-${width}-${scheme}-turned`);
    t.diagnostic(await times(page));
    assert.equal(await page.value("document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0);
    assert.deepEqual(page.errors, []);
    await page.close();
  });
}
