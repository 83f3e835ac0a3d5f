// The tab flow: painting, keys, the link, both engines.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Browser, WITHOUT_WEBGPU } from "./browser.mjs";

const SETTINGS = "#tab=flow&scene=open&size=64&agents=500&connectivity=four";
const LAST = "playground.messages.findLast((m) => m.type === 'field')";

let browser;
before(async () => { browser = await Browser.start(WITHOUT_WEBGPU); });
after(async () => { await browser.stop(); });

async function opened(link, view, on = browser) {
  const page = await on.open(link, view);
  await page.wait("field", "(m) => m.reached > 0");
  return page;
}

/** The middle of the stage, and half the edge of the grid. */
async function place(page) {
  const { x, y, width, height } = await page.value("(({ x, y, width, height }) => ({ x, y, width, height }))(document.getElementById('stage').getBoundingClientRect())");
  return { middle: [x + width / 2, y + height / 2], half: Math.min(width, height) / 2 - 8 };
}

test("a painted wall changes the field, and painting anew brings it back", async () => {
  const page = await opened(SETTINGS);
  const before = await page.value(LAST);
  assert.equal(before.goals, 1);
  const { middle: [x, y], half } = await place(page);
  await page.drag([x - half / 2, y - half], [x - half / 2, y + half], 12);
  await page.until(`${LAST}.reached < ${0.85 * before.reached}`);
  await page.value("[...document.querySelectorAll('#controls button')].find((b) => b.textContent === 'Paint anew').click()");
  await page.until(`${LAST}.reached === ${before.reached}`);
  const note = await page.value("document.getElementById('flow-note').textContent");
  assert.match(note, /1 goal is reached from [\d,]+ of [\d,]+ free cells/);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("agents arrive", async () => {
  const page = await opened(SETTINGS);
  await page.until(`${LAST}.arrived > 50`, 60_000);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("a goal follows the pointer, and the keyboard paints", async () => {
  const page = await opened(SETTINGS);
  await page.value("Object.assign(document.getElementById('control-tool'), { value: 'one' }).dispatchEvent(new Event('change'))");
  const { middle: [x, y], half } = await place(page);
  const { farthest } = await page.value(LAST);
  await page.drag([x, y], [x - 0.97 * half, y - 0.97 * half]);
  await page.until(`${LAST}.goals === 1 && ${LAST}.farthest > ${1.5 * farthest}`);
  const { free } = await page.value(LAST);
  await page.value("document.getElementById('stage').focus()");
  for (const [key, code] of [["f", "KeyF"], ["ArrowRight", "ArrowRight"], [" ", "Space"], ["w", "KeyW"], [" ", "Space"]]) await page.press(key, code);
  await page.until(`${LAST}.tool === 'wall' && ${LAST}.free !== ${free}`);
  assert.equal(await page.value("document.getElementById('control-tool').value"), "wall");
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("a copied link keeps what was painted", async () => {
  const page = await opened(SETTINGS);
  const before = await page.value(LAST);
  const { middle: [x, y], half } = await place(page);
  await page.drag([x - half / 2, y - half], [x - half / 3, y + half], 12);
  await page.until(`${LAST}.kept && ${LAST}.free < ${before.free} && location.hash.includes('paint=')`);
  const painted = await page.value(LAST);
  const link = await page.value("location.hash");
  assert.ok(link.length < 2000, `${link.length}`);
  const other = await opened(link);
  await other.until(`${LAST}.free === ${painted.free} && ${LAST}.reached === ${painted.reached}`);
  const cut = await browser.open(link.replace(/paint=..../, "paint="));
  await cut.wait("field", "(m) => m.reached > 0");
  assert.deepEqual([...page.errors, ...other.errors, ...cut.errors], []);
  for (const one of [page, other, cut]) await one.close();
});

test("the link keeps the scene, and a wrong one is a sentence", async () => {
  const page = await opened("#tab=flow&scene=maze&size=128&seed=3&agents=2000&connectivity=four");
  assert.equal(await page.value("document.getElementById('control-scene').value"), "maze");
  await page.value("[...document.querySelectorAll('#controls button')].find((b) => b.textContent === 'Another seed').click()");
  await page.until("location.hash.includes('seed=4')");
  assert.ok(await page.value("['scene=maze', 'size=128', 'agents=2000', 'connectivity=four'].every((part) => location.hash.includes(part))"));
  await page.close();
  const wrong = await browser.open("#tab=flow&size=9");
  await wrong.until("document.getElementById('error')?.hidden === false");
  assert.match(await wrong.value("document.getElementById('error-text').textContent"), /from 64 to 1024/);
  assert.deepEqual(wrong.errors, []);
  await wrong.close();
});

for (const [name, link, width, scheme] of [
  ["map", "", 1280, "light"],
  ["maze", "&scene=maze&size=128&agents=3000", 1280, "dark"],
  ["open", "&scene=open&connectivity=four", 400, "light"],
  ["large", "&size=1024&agents=50000", 1280, "light"],
]) {
  test(`the scene ${name} at ${width} pixels, ${scheme}`, async (t) => {
    const page = await opened(`#tab=flow${link}`, { width, height: 800, scheme, isPhone: width < 500 });
    await new Promise((resolve) => setTimeout(resolve, 2500));
    // Reported, not asserted: the machine may be busy.
    t.diagnostic(await page.value("[...document.querySelectorAll('#times tr')].map((row) => [...row.cells].map((c) => c.textContent).join(' ')).join(', ')"));
    await page.screenshot(`flow-${name}-${width}-${scheme}`);
    assert.equal(await page.value("document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0);
    assert.deepEqual(page.errors, []);
    await page.close();
  });
}

test("the GPU's field is that of the CPU", async (t) => {
  const gpu = await Browser.start();
  try {
    const page = await opened(`${SETTINGS}&engine=gpu`, {}, gpu);
    const { reached, farthest } = await page.value(LAST);
    const message = await page.wait("field", "(m) => m.gpu");
    assert.deepEqual([message.reached, message.farthest], [reached, farthest]);
    const { middle: [x, y], half } = await place(page);
    await page.drag([x - half / 2, y - half], [x - half / 2, y + half], 12);
    await page.until(`${LAST}.gpu && ${LAST}.reached < ${0.85 * reached}`, 60_000);
    const { ok, result } = await page.check("flow");
    assert.ok(ok, result);
    assert.equal(result.gpu, true);
    t.diagnostic(await page.value("[...document.querySelectorAll('#times tr')].map((row) => [...row.cells].map((c) => c.textContent).join(' ')).join(', ')"));
    assert.deepEqual(page.errors, []);
    await page.close();
  } finally {
    await gpu.stop();
  }
});
