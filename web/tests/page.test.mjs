// The page's shell: first picture, tabs, link, keyboard, themes, widths, errors.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Browser, WITHOUT_WEBGPU } from "./browser.mjs";

const TABS = ["collide", "flow", "rooms", "surface"];

let browser;
before(async () => { browser = await Browser.start(WITHOUT_WEBGPU); });
after(async () => { await browser.stop(); });

async function opened(link, view) {
  const page = await browser.open(link, view);
  const picture = await page.wait("picture");
  return { page, picture };
}

test("the first picture comes from the CPU engine", async (t) => {
  const { page, picture } = await opened();
  assert.deepEqual([picture.engine, picture.layer], ["cpu", "flat"]);
  await page.wait("engine", "(m) => m.reason.includes('WebGPU')");
  // Reported, not asserted: the machine may be busy.
  const ms = await page.value("performance.getEntriesByName('first-picture')[0].startTime");
  t.diagnostic(`first picture after ${Math.round(ms)} ms`);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("without WebGPU the page says so, and every tab passes its check", async () => {
  const { page } = await opened();
  await page.until("document.getElementById('engine-line').textContent.includes('no adapter')");
  for (const tab of TABS) {
    const { ok, result } = await page.check(tab);
    assert.ok(ok, `${tab}: ${result}`);
  }
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("in a browser without WebGPU the page says so, the CPU engine does all, and the GPU is refused by a sentence", async () => {
  const page = await browser.open("", { first: "delete WorkerNavigator.prototype.gpu" });
  const { used, adapter } = await page.wait("engine", "(m) => m.reason === 'This browser has no WebGPU.'");
  assert.deepEqual([used, adapter], ["cpu", null]);
  const line = "document.getElementById('engine-line').textContent";
  assert.equal(await page.value(line), "CPU engine. This browser has no WebGPU.");
  assert.ok(await page.value("document.getElementById('error').hidden"));
  await page.value("Object.assign(document.getElementById('engine'), { value: 'gpu' }).dispatchEvent(new Event('change'))");
  await page.until("document.getElementById('error').hidden === false");
  assert.equal(await page.value("document.getElementById('error-text').textContent"), "This browser has no WebGPU. The CPU engine is used.");
  assert.equal(await page.value(line), "CPU engine. This browser has no WebGPU.");
  for (const tab of TABS) {
    await page.value(`document.querySelector('[data-tab=${tab}]').click()`);
    await page.wait("state", `(m) => m.tab === '${tab}'`);
    await page.until("document.querySelector('#times td') !== null");
    const { ok, result } = await page.check(tab);
    assert.ok(ok, `${tab}: ${result}`);
    assert.ok(!result.gpu, tab);
  }
  assert.ok(await page.value("playground.messages.every((m) => m.type !== 'picture' || (m.engine === 'cpu' && m.layer === 'flat'))"));
  assert.deepEqual(page.errors, []);
  await page.close();
});

for (const [width, height] of [[1280, 800], [400, 800]]) {
  for (const scheme of ["light", "dark"]) {
    test(`the page fits ${width} pixels, ${scheme}`, async () => {
      const { page } = await opened("", { width, height, scheme, isPhone: width < 500 });
      for (const tab of TABS) {
        await page.value(`document.querySelector('[data-tab=${tab}]').click()`);
        await page.wait("state", `(m) => m.tab === '${tab}'`);
        await page.until("document.getElementById('wait').hidden && document.querySelector('#times td') !== null");
        const overflow = await page.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert.equal(overflow, 0, `${tab} is ${overflow} pixels too wide`);
        await page.screenshot(`${tab}-cpu-${width}-${scheme}`);
      }
      assert.equal(await page.value("document.documentElement.dataset.theme"), scheme);
      assert.deepEqual(page.errors, []);
      await page.close();
    });
  }
}

test("on a phone the footer is below the controls", async () => {
  const { page } = await opened("", { width: 390, height: 844, isPhone: true });
  for (const tab of TABS) {
    await page.value(`document.querySelector('[data-tab=${tab}]').click()`);
    await page.wait("state", `(m) => m.tab === '${tab}'`);
    const covered = await page.value(`(() => {
      const footer = document.querySelector("footer").getBoundingClientRect();
      const controls = [...document.querySelectorAll("aside input, aside select, aside button, aside p, aside table")];
      const boxes = controls.map((control) => [control.id || control.textContent, control.getBoundingClientRect()]);
      return boxes.filter(([, box]) => box.width > 0 && box.bottom > footer.top + 0.5 && box.top < footer.bottom).map(([name]) => name);
    })()`);
    assert.deepEqual(covered, [], tab);
  }
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("every control has a name, and sliders say their value", async () => {
  const { page } = await opened();
  for (const tab of TABS) {
    await page.value(`document.querySelector('[data-tab=${tab}]').click()`);
    await page.wait("state", `(m) => m.tab === '${tab}'`);
    const nameless = await page.value(`[...document.querySelectorAll("#controls input:not([hidden]), #controls select")]
      .filter((control) => ![...control.labels].some((label) => label.control === control && label.textContent.trim() !== ""))
      .map((control) => control.id)`);
    assert.deepEqual(nameless, [], tab);
    const silent = await page.value(`[...document.querySelectorAll("#controls input[type=range]")]
      .filter((control) => !control.getAttribute("aria-valuetext")).map((control) => control.id)`);
    assert.deepEqual(silent, [], tab);
  }
  await page.close();
});

test("where less motion is wanted the pictures stand still until asked", async () => {
  const { page } = await opened("#tab=collide&bodies=300", { isStill: true });
  await page.wait("state", "(m) => m.tab === 'collide' && Number(m.state.paused) === 1");
  assert.equal(await page.value("document.getElementById('control-pause').textContent"), "Go on");
  await page.value("document.getElementById('control-pause').click()");
  await page.until("document.getElementById('control-pause').textContent === 'Pause'");
  await page.value("document.querySelector('[data-tab=flow]').click()");
  await page.wait("state", "(m) => m.tab === 'flow'");
  assert.equal(await page.value("document.getElementById('control-speed').value"), "0");
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("tabs without a GPU say so, and those that take no files refuse them", async () => {
  const { page } = await opened();
  for (const tab of TABS) {
    await page.value(`document.querySelector('[data-tab=${tab}]').click()`);
    await page.wait("state", `(m) => m.tab === '${tab}'`);
    assert.equal(await page.value("document.getElementById('engine').disabled"), tab === "rooms", tab);
    if (tab === "rooms") assert.equal(await page.value("document.getElementById('engine-line').textContent"), "CPU. Shortest paths need no GPU.");
    if (tab === "surface") continue;
    await page.value(`(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["v 0 0 0"], "a.obj"));
      const stage = document.getElementById("stage");
      const give = (type) => stage.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
      give("dragover");
      window.wasOffered = !document.getElementById("drop").hidden;
      give("drop");
    })()`);
    assert.equal(await page.value("window.wasOffered"), false);
    assert.match(await page.value("document.getElementById('error-text').textContent"), /^The tab \w+ takes no files; the tab Surface shows models\.$/);
    await page.value("document.getElementById('error-close').click()");
  }
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("tabs are reached by the keyboard, and the link follows", async () => {
  const { page } = await opened();
  await page.value("document.querySelector('[data-tab=collide]').focus()");
  await page.press("ArrowRight");
  await page.until("location.hash.startsWith('#tab=flow')");
  assert.equal(await page.value("document.activeElement.dataset.tab"), "flow");
  await page.press("4", "Digit4");
  await page.until("location.hash.startsWith('#tab=surface')");
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("a link opens its tab", async () => {
  const { page } = await opened("#tab=rooms");
  assert.equal(await page.value("document.querySelector('[aria-selected=true]').dataset.tab"), "rooms");
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("each module is fetched once, for both workers", async () => {
  // With a statement for its workers the page waits for the debugger, so that no request is missed.
  const page = await browser.open("", { first: "0" });
  await page.wait("picture");
  await page.value("document.querySelector('[data-tab=surface]').click()");
  await page.wait("path", "(m) => m.far !== null && !m.waiting");
  // The second worker solves too.
  const { ok, result } = await page.check("surface");
  assert.ok(ok, result);
  const fetched = page.requests.filter((address) => address.endsWith("hullfield_web_bg.wasm")).map((address) => new URL(address).pathname.split("/").slice(-2).join("/"));
  assert.equal(new Set(fetched).size, 2, fetched.join());
  assert.equal(fetched.length, 2, fetched.join());
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("each tab has one line, a legend, and its times on the stage", async () => {
  for (const isPhone of [false, true]) {
    const { page } = await opened("#tab=collide&bodies=300", isPhone ? { width: 390, height: 844, isPhone } : {});
    for (const tab of TABS) {
      await page.value(`document.querySelector('[data-tab=${tab}]').click()`);
      await page.wait("state", `(m) => m.tab === '${tab}'`);
      await page.until("document.querySelectorAll('#badge span').length > 0");
      const { sentences, marks, inside } = await page.value(`(() => {
        const [stage, badge] = ["stage", "badge"].map((id) => document.getElementById(id).getBoundingClientRect());
        return {
          sentences: document.getElementById("about").textContent.match(/\\./g).length,
          marks: document.querySelectorAll("#legend li").length,
          inside: badge.left >= stage.left && badge.right <= stage.right && badge.top >= stage.top && badge.bottom <= stage.bottom,
        };
      })()`);
      assert.ok(sentences <= 2 && marks >= 2 && inside, `${tab}: ${sentences} ${marks} ${inside}`);
    }
    assert.deepEqual(page.errors, []);
    await page.close();
  }
});

test("a broken link is one sentence, and the page goes on", async () => {
  for (const [link, word] of [["#tab=nowhere", "nowhere"], ["#tab=flow&engine=abacus", "abacus"], ["#%%%&tab", "tab"]]) {
    const { page } = await opened(link);
    await page.until("document.getElementById('error')?.hidden === false");
    const text = await page.value("document.getElementById('error-text').textContent");
    assert.ok(text.includes(word), text);
    assert.deepEqual(page.errors, []);
    await page.close();
  }
});

test("a module that can't be loaded is one sentence, and the other tabs go on", async () => {
  const { page } = await opened("#tab=collide&bodies=300");
  await page.value("document.querySelector('[data-tab=flow]').click()");
  await page.wait("state", "(m) => m.tab === 'flow'");
  await page.block(["*/paths/*"]);
  await page.value("document.querySelector('[data-tab=rooms]').click()");
  await page.until("document.getElementById('error').hidden === false");
  assert.match(await page.value("document.getElementById('error-text').textContent"), /^This tab's module could not be loaded \(.+\)\.$/);
  await page.value("document.querySelector('[data-tab=collide]').click()");
  await page.until("document.querySelector('#times td') !== null");
  const { ok, result } = await page.check("collide");
  assert.ok(ok, result);
  await page.close();
});

test("each tab says on the stage what its keys do", async () => {
  const { page } = await opened();
  const labels = new Set();
  for (const tab of TABS) {
    await page.value(`document.querySelector('[data-tab=${tab}]').click()`);
    labels.add(await page.value("document.getElementById('stage').getAttribute('aria-label')"));
  }
  assert.equal(labels.size, TABS.length);
  for (const label of labels) assert.match(label, /^The scene\. .*keys/);
  assert.deepEqual(page.errors, []);
  await page.close();
});
