// Both engines, on WebGPU through SwiftShader.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Browser } from "./browser.mjs";

const TABS = ["collide", "flow", "rooms", "surface"];

let browser;
before(async () => { browser = await Browser.start(); });
after(async () => { await browser.stop(); });

test("the adapter is named, and a software one is not used by itself", async () => {
  const page = await browser.open();
  const { adapter, used, software } = await page.wait("engine", "(m) => m.adapter !== null");
  assert.match(adapter, /swiftshader/i);
  assert.deepEqual([used, software], ["cpu", true]);
  const line = await page.value("document.getElementById('engine-line').textContent");
  assert.match(line, /^CPU engine\. .*swiftshader/i);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("every tab passes its check on both engines, and draws by the GPU", async (t) => {
  // Not the tab collide: its scene would take most of the software GPU's time while the others are checked.
  const page = await browser.open("#tab=flow&bodies=300&engine=gpu");
  await page.wait("engine", "(m) => m.used === 'gpu'");
  for (const tab of TABS) {
    const begin = Date.now();
    const { ok, result } = await page.check(tab);
    assert.ok(ok, `${tab}: ${result}`);
    // Paths are the CPU's.
    assert.equal(result.gpu, tab === "collide" || tab === "flow" ? true : undefined, tab);
    t.diagnostic(`${tab}: ${JSON.stringify(result)} in ${Date.now() - begin} ms`);
  }
  await page.value("document.querySelector('[data-tab=collide]').click()");
  await page.wait("picture", "(m) => m.layer === 'gpu'");
  assert.deepEqual(page.errors, []);
  await page.close();
});

for (const [width, height, scheme] of [[1280, 800, "dark"], [400, 800, "light"]]) {
  test(`the GPU's picture at ${width} pixels, ${scheme}`, async () => {
    const page = await browser.open("#bodies=300&engine=gpu", { width, height, scheme, isPhone: width < 500 });
    await page.wait("picture", "(m) => m.layer === 'gpu'");
    await page.until("!document.getElementById('gpu').classList.contains('hidden')");
    // A picture or two more, so that the canvas has one.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const picture = await page.screenshot(`collide-gpu-${width}-${scheme}`);
    // An empty canvas packs to less.
    assert.ok(picture.length > 20_000, `${picture.length} bytes`);
    assert.ok(await page.value("document.getElementById('error').hidden"), "an error is shown");
    assert.equal(await page.value("document.getElementById('gpu').className"), "");
    assert.deepEqual(page.errors, []);
    await page.close();
  });
}

test("the GPU draws a surface, and goes on with another one", async () => {
  const page = await browser.open("#tab=surface&engine=gpu");
  await page.wait("picture", "(m) => m.layer === 'gpu'");
  await page.wait("path", "(m) => m.far !== null && !m.waiting");
  await page.send({ type: "set", tab: "surface", model: "stone" });
  await page.wait("path", "(m) => m.model === 'stone' && m.far !== null && !m.waiting");
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const picture = await page.screenshot("surface-gpu-1280-light");
  assert.ok(picture.length > 20_000, `${picture.length} bytes`);
  assert.ok(await page.value("document.getElementById('error').hidden"), "an error is shown");
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("tabs of both modules draw by the GPU in turns", async () => {
  const page = await browser.open("#tab=collide&bodies=300&engine=gpu");
  const last = "(m) => m.layer === 'gpu' && playground.messages.indexOf(m) > playground.messages.findLastIndex((m) => m.type === 'mark')";
  const mark = () => page.value("playground.messages.push({ type: 'mark' })");
  await page.wait("picture", last);
  for (const tab of ["surface", "collide", "surface"]) {
    await mark();
    await page.value(`document.querySelector('[data-tab=${tab}]').click()`);
    const { engine } = await page.wait("picture", last);
    assert.equal(engine, "gpu");
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const picture = await page.screenshot(`gpu-turn-${tab}`);
    assert.ok(picture.length > 20_000, `${tab}: ${picture.length} bytes`);
    const line = await page.value("document.getElementById('engine-line').textContent");
    assert.match(line, /^GPU engine: .*swiftshader/i, tab);
  }
  assert.ok(await page.value("document.getElementById('error').hidden"), "an error is shown");
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("a lost device is said, and the CPU engine goes on", async () => {
  const page = await browser.open("#tab=collide&bodies=300&engine=gpu");
  await page.wait("picture", "(m) => m.layer === 'gpu'");
  assert.equal(await page.value("playground.messages.some((m) => m.type === 'lost')"), false);
  await page.send({ type: "lose" });
  const { text } = await page.wait("lost");
  assert.match(text, /device was lost/);
  // A frame may notice it before the browser says so.
  await page.wait("picture", "(m) => m.layer === 'flat' && playground.messages.indexOf(m) > playground.messages.findIndex((m) => m.layer === 'gpu')");
  const { used } = await page.wait("engine", "(m) => m.reason.includes('lost')");
  assert.equal(used, "cpu");
  const { ok, result } = await page.check("collide");
  assert.ok(ok, result);
  await page.close();
});
