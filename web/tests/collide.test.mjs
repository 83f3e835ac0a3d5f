// The tab collide: settings and links, dragging, keys, and the engines beside one another.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Browser, WITHOUT_WEBGPU } from "./browser.mjs";

let plain;
let gpu;
before(async () => {
  plain = await Browser.start(WITHOUT_WEBGPU);
  gpu = await Browser.start();
});
after(async () => {
  await plain.stop();
  await gpu.stop();
});

/** The last message of a type, as an expression of the page. */
const last = (type) => `playground.messages.filter((m) => m.type === '${type}').at(-1)`;

test("a link gives its bodies, all of which are counted", async () => {
  const page = await plain.open("#tab=collide&bodies=500&kinds=ball,cone&seed=7&speed=0.5");
  const { bodies, pairs, candidates } = await page.wait("counts", "(m) => m.bodies.reduce((a, b) => a + b) === 500");
  assert.ok(bodies[2] > 20 && pairs[2] > 10 && candidates > pairs[2], JSON.stringify({ bodies, pairs, candidates }));
  assert.deepEqual([bodies[3], pairs[0], pairs[3]], [0, 0, 0]);
  const rows = await page.value("[...document.querySelectorAll('#verdicts tbody tr')].map((row) => row.innerText.trim().split(/\\s+/)[0])");
  assert.deepEqual(rows, ["separated", "touching", "penetrating", "all"]);
  assert.equal(await page.value("document.getElementById('control-box').checked"), false);
  assert.equal(await page.value("document.getElementById('control-cone').checked"), true);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("controls write the link", async () => {
  const page = await plain.open("#tab=collide&bodies=200");
  await page.wait("counts");
  await page.value("document.getElementById('control-box').click()");
  await page.until("location.hash.includes('kinds=ball')");
  await page.value("{ const seed = document.getElementById('control-seed'); seed.value = 12; seed.dispatchEvent(new Event('change')); }");
  await page.until("location.hash.includes('seed=12')");
  await page.value("{ const bodies = document.getElementById('control-bodies'); bodies.value = 0; bodies.dispatchEvent(new Event('input')); }");
  await page.until("location.hash.includes('bodies=1&')");
  await page.until(`${last("counts")}.bodies.join() === '1,0,0,0'`);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("a wrong value is one sentence, and the scene goes on", async () => {
  for (const [link, word] of [["bodies=0", "50,000"], ["bodies=many", "bodies"], ["kinds=torus", "polytope"], ["seed=-1", "seed"], ["speed=9", "speed"]]) {
    const page = await plain.open(`#tab=collide&${link}`);
    await page.wait("error");
    await page.until("document.getElementById('error')?.hidden === false");
    const text = await page.value("document.getElementById('error-text').textContent");
    assert.ok(text.includes(word) && text.endsWith("."), text);
    await page.wait("counts", "(m) => m.bodies.reduce((a, b) => a + b) === 2000");
    assert.deepEqual(page.errors, []);
    await page.close();
  }
});

for (const [name, isGpu] of [["CPU", false], ["GPU", true]]) {
  test(`a dragged body follows the pointer and shows its contacts, on the ${name}`, async () => {
    const page = await (isGpu ? gpu : plain).open(`#tab=collide&bodies=1000&paused=1${isGpu ? "&engine=gpu" : ""}`);
    await page.wait("counts");
    if (isGpu) await page.wait("picture", "(m) => m.layer === 'gpu'");
    const { x, y, width, height } = await page.value("document.getElementById('stage').getBoundingClientRect().toJSON()");
    let at = [x + width / 2, y + height / 2];
    const drag = async (by) => {
      const to = [at[0] + by[0], at[1] + by[1]];
      await page.drag(at, to, 3);
      at = to;
      await new Promise((resolve) => setTimeout(resolve, isGpu ? 400 : 100));
    };
    // Where nothing is hit, the drag turns the camera.
    for (let step = 0; step < 20 && (await page.value(`${last("contacts")}.body`)) === null; step++) await drag([step % 2 ? 25 : -20, 8]);
    const { body } = await page.wait("contacts", "(m) => m.body !== null");
    assert.ok(body >= 0 && body < 1000);
    // It goes through the crowd, so at some place it meets another one.
    for (let step = 0; step < 40 && (await page.value(`${last("contacts")}.count`)) === 0; step++) await drag(step < 20 ? [-10, 0] : [0, -8]);
    await page.until(`${last("contacts")}.count > 0`);
    const contacts = await page.value(last("contacts"));
    assert.ok(contacts.rows.every(({ depth, body: other }) => depth > -1e-4 && other !== contacts.body), JSON.stringify(contacts));
    const listed = await page.value("document.querySelectorAll('#contacts tbody tr').length");
    assert.equal(listed, contacts.rows.length);
    await page.screenshot(`collide-contacts-${name.toLowerCase()}`);
    await page.value("[...document.querySelectorAll('#controls button')].find((button) => button.textContent === 'Let go').click()");
    await page.until(`${last("contacts")}.body === null`);
    assert.deepEqual(page.errors, []);
    await page.close();
  });
}

test("the keyboard pauses, chooses and moves a body", async () => {
  const page = await plain.open("#tab=collide&bodies=100");
  await page.wait("counts");
  await page.value("document.getElementById('stage').focus()");
  await page.press(" ", "Space");
  await page.until("location.hash.includes('paused=1')");
  assert.equal(await page.value("document.getElementById('control-pause').textContent"), "Go on");
  const choose = async (key, body) => {
    await page.press(key);
    await page.until(`${last("contacts")}.body === ${body}`);
  };
  await choose("PageDown", 0);
  await choose("PageDown", 1);
  const before = await page.value(`JSON.stringify(${last("counts")})`);
  for (let step = 0; step < 60 && (await page.value(`JSON.stringify(${last("counts")})`)) === before; step++) {
    await page.press("d", "KeyD");
    // The answer to these keys comes after the counts of the step. A slow worker would move the body past all others otherwise.
    await choose("PageDown", 2);
    await choose("PageUp", 1);
  }
  await page.until(`JSON.stringify(${last("counts")}) !== ${JSON.stringify(before)}`);
  await page.press("Escape");
  await page.until(`${last("contacts")}.body === null`);
  await page.press(" ", "Space");
  await page.until("!location.hash.includes('paused')");
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("the GPU and the CPU judge the same bodies, and all verdicts are equal", async (t) => {
  const page = await gpu.open("#tab=collide&engine=gpu&bodies=1000");
  const first = await page.wait("comparison", "(m) => m.equal !== null");
  assert.equal(first.equal, true, first.text);
  assert.ok(first.pairs > 300 && first.compared > 100, JSON.stringify(first));
  await page.until("playground.messages.filter((m) => m.type === 'comparison' && m.equal).length >= 3", 60_000);
  assert.ok(await page.value("playground.messages.every((m) => m.type !== 'comparison' || m.equal !== false)"));
  const shown = await page.value("document.getElementById('comparison').textContent");
  assert.match(shown, /^[\d,]+ pairs, all verdicts equal\./);
  t.diagnostic(shown);
  // Both count the same number of bodies.
  await page.wait("counts", "(m) => m.bodies.reduce((a, b) => a + b) === 1000");
  t.diagnostic(await page.value("document.getElementById('times').innerText.replace(/\\s+/g, ' ')"));
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("the bar moves while pipelines are built, and the CPU engine draws meanwhile", async () => {
  const page = await gpu.open("#tab=collide&engine=gpu&bodies=300");
  await page.wait("progress", "(m) => m.done < m.total");
  const first = await page.value("playground.messages.findIndex((m) => m.type === 'picture' && m.layer === 'flat')");
  assert.ok(first >= 0);
  await page.wait("picture", "(m) => m.layer === 'gpu'");
  await page.until("document.getElementById('progress').hidden");
  assert.deepEqual(page.errors, []);
  await page.close();
});

test("50,000 bodies have times for each stage", async (t) => {
  const page = await plain.open("#tab=collide&bodies=50000");
  await page.wait("counts", "(m) => m.bodies.reduce((a, b) => a + b) === 50000");
  await page.until("document.querySelectorAll('#times tr').length >= 4", 60_000);
  const text = await page.value("document.getElementById('times').innerText.replace(/\\s+/g, ' ')");
  for (const stage of ["move", "judge", "draw"]) assert.ok(text.includes(stage), text);
  t.diagnostic(text);
  assert.deepEqual(page.errors, []);
  await page.close();
});
