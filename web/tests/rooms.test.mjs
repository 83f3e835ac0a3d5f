// The tab rooms: dragging, both methods, keys, the link.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Browser, WITHOUT_WEBGPU } from "./browser.mjs";

const LAST = "playground.messages.findLast((m) => m.type === 'path')";

let browser;
before(async () => { browser = await Browser.start(WITHOUT_WEBGPU); });
after(async () => { await browser.stop(); });

async function opened(link, view) {
  const page = await browser.open(link, view);
  await page.wait("path");
  return page;
}

/** From a point of the room, 100 by 70 metres, to one of the window: the room fits the stage less 14 pixels on each side. */
async function placing(page) {
  const { x, y, width, height } = await page.value("(({ x, y, width, height }) => ({ x, y, width, height }))(document.getElementById('stage').getBoundingClientRect())");
  const scale = Math.min((width - 28) / 100, (height - 28) / 70);
  return ([roomX, roomY]) => [x + (width - 100 * scale) / 2 + scale * roomX, y + (height + 70 * scale) / 2 - scale * roomY];
}

/** The page's table of times, which is reported and not asserted: the machine may be busy. */
const times = (page) => page.value("[...document.querySelectorAll('#times tr')].map((row) => [...row.cells].map((c) => c.textContent).join(' ')).join(', ')");

test("the path follows an end that is dragged, and one off the room is said", async () => {
  const page = await opened("#tab=rooms&pillars=0&radius=0&sx=20&sy=20&gx=80&gy=20&oy=60");
  const { optimal, text } = await page.value(LAST);
  assert.ok(Math.abs(optimal - 60) < 1e-9, `${optimal}`);
  assert.equal(text, "");
  const at = await placing(page);
  const count = await page.value("playground.messages.filter((m) => m.type === 'path').length");
  await page.drag(at([20, 20]), at([40, 20]), 10);
  await page.until(`Math.abs(${LAST}.optimal - 40) < 0.5`);
  const after = await page.value("playground.messages.filter((m) => m.type === 'path').length");
  assert.ok(after > count + 1, "the path is shown while the end is dragged");
  await page.drag(at([40, 20]), at([50, 59]), 10);
  await page.until("document.getElementById('rooms-text').textContent.startsWith('The start is off the room: it is moved')");
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("funnel against optimal: both are shown, and the link keeps what was chosen", async () => {
  const page = await opened("#tab=rooms&strip=cells&pillars=120&seed=2&radius=0.25");
  const { optimal, funnel } = await page.value(LAST);
  assert.ok(optimal > 0 && funnel >= optimal - 1e-9, `${optimal} ${funnel}`);
  const rows = await page.value("[...document.querySelectorAll('#lengths tbody tr')].map((row) => [...row.cells].slice(0, 2).map((cell) => cell.textContent))");
  assert.deepEqual(rows, [["Optimal", optimal.toFixed(3)], ["Funnel", funnel.toFixed(3)]]);
  await page.value("Object.assign(document.getElementById('control-method'), { value: 'funnel' }).dispatchEvent(new Event('change'))");
  await page.until(`${LAST}.optimal === null && location.hash.includes('method=funnel')`);
  assert.ok(await page.value("['strip=cells', 'pillars=120', 'seed=2', 'radius=0.25'].every((part) => location.hash.includes(part))"));
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("a door is shut by a click, a wheel zooms, and the link keeps the door", async () => {
  const page = await opened("#tab=rooms&pillars=3&sx=20&sy=35&gx=60&gy=35&oy=72");
  const { optimal, doors } = await page.value(LAST);
  assert.equal(doors, 3);
  const at = await placing(page);
  // The door in the middle is where the straight line between the ends crosses the wall.
  await page.drag(at([36, 35]), at([36, 35]), 1);
  await page.until(`${LAST}.shut === 2 && ${LAST}.optimal > ${optimal + 10} && location.hash.includes('shut=2')`);
  assert.equal(await page.value("document.getElementById('control-door-1').checked"), false);
  await page.value("document.getElementById('control-door-1').click()");
  await page.until(`${LAST}.shut === 0 && ${LAST}.optimal === ${optimal}`);
  await page.close();
  const dense = await opened("#tab=rooms&pillars=300", { width: 390, height: 844 });
  assert.equal((await dense.value(LAST)).is_dense, true);
  const [x, y] = (await placing(dense))([50, 35]);
  for (let turn = 0; turn < 12; turn++) await dense.call("Input.dispatchMouseEvent", { type: "mouseWheel", x, y, deltaX: 0, deltaY: -120 });
  await dense.until(`${LAST}.is_dense === false`);
  await dense.screenshot("rooms-zoomed");
  assert.deepEqual([...page.errors, ...dense.errors], []);
  await dense.close();
});

test("keys move the ends and the obstacle", async () => {
  const page = await opened("#tab=rooms&pillars=0&radius=0&sx=20&sy=20&gx=80&gy=20&oy=60");
  await page.value("document.getElementById('stage').focus()");
  for (const key of ["s", "ArrowRight", "ArrowRight", "g", "ArrowLeft"]) await page.press(key, key.length === 1 ? `Key${key.toUpperCase()}` : key);
  await page.until(`Math.abs(${LAST}.optimal - 57) < 1e-9 && ${LAST}.chosen === 'goal'`);
  await page.press("o", "KeyO");
  for (let step = 0; step < 38; step++) await page.press("ArrowDown");
  await page.until(`${LAST}.optimal > 57.1 && location.hash.includes('oy=22')`);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("what leaves no room, and a wrong link, are sentences", async () => {
  for (const [link, words] of [["#tab=rooms&pillars=999", /from 0 to 300/], ["#tab=rooms&sx=north", /points/]]) {
    const page = await opened(link);
    await page.until("document.getElementById('error')?.hidden === false");
    assert.match(await page.value("document.getElementById('error-text').textContent"), words);
    assert.deepEqual(page.errors, []);
    await page.close();
  }
});

for (const [name, link, width, scheme] of [
  ["default", "", 1280, "light"],
  ["many", "&pillars=300&radius=0.2&seed=3&strip=cells", 1280, "dark"],
  ["off", "&radius=1&pillars=60&sx=50&sy=35", 400, "light"],
]) {
  test(`the room ${name} at ${width} pixels, ${scheme}`, async (t) => {
    const page = await opened(`#tab=rooms${link}`, { width, height: 800, scheme, isPhone: width < 500 });
    await page.until("document.querySelector('#times td') !== null");
    await page.screenshot(`rooms-${name}-${width}-${scheme}`);
    // Around the room and back.
    const at = await placing(page);
    const path = [[12, 14], [50, 10], [90, 30], [60, 60], [12, 14]];
    for (let leg = 1; leg < path.length; leg++) await page.drag(at(path[leg - 1]), at(path[leg]), 15);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await page.value("document.getElementById('stage').focus()");
    await page.press("s", "KeyS");
    await new Promise((resolve) => setTimeout(resolve, 300));
    t.diagnostic(await times(page));
    assert.equal(await page.value("document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0);
    assert.deepEqual(page.errors, []);
    await page.close();
  });
}
