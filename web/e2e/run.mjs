// A walk through the page in a real browser, against a real server. Fails on the first thing that is not as it should be.
//
//   MEMO_BIN=path/to/memo node e2e/run.mjs [--screenshots DIR]
//   PYTHON=venv/bin/python ...             with clients/requirements.txt, for the step with a neural model
//   MEMO_URL=http://127.0.0.1:7700/ ...    a server that is there already, with an empty memory

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { more } from "./inside.mjs";
import { keys } from "./keys.mjs";
import { serve } from "./server.mjs";
import { models } from "./models.mjs";
import { partner } from "./partner.mjs";
import { steps } from "./steps.mjs";

const at = process.argv.indexOf("--screenshots");
const screenshots = at > 0 ? process.argv[at + 1] : null;

const folder = await mkdtemp(join(tmpdir(), "memo-e2e-"));
const server = await serve(folder);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});

/** What the browser complained about, on any page. */
const complaints = [];

async function open(options = {}) {
  const { refusals = false, url = server.url, ...context } = options;
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 }, ...context })).newPage();
  page.setDefaultTimeout(20_000);
  const complain = (text) => {
    // Where a step makes the server refuse, the browser reports it; that alone is no fault.
    if (!(refusals && text.startsWith("Failed to load resource"))) complaints.push(text);
  };
  page.on("console", (message) => message.type() === "error" && complain(message.text()));
  page.on("pageerror", (error) => complain(error.stack ?? error.message));
  await page.goto(url);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return page;
}

const shot = async (page, name) => {
  if (screenshots) await page.screenshot({ path: join(screenshots, `${name}.png`) });
};

try {
  const walk = { open, shot, folder, url: server.url };
  for (const [name, step] of Object.entries({ ...steps, ...more, ...models, ...keys, ...partner })) {
    const begun = Date.now();
    try {
      await step(walk);
      assert.deepEqual(complaints, [], "the browser complained");
    } catch (error) {
      if (walk.page) await shot(walk.page, "failed");
      console.error(`FAILED ${name}`);
      throw error;
    }
    console.log(`ok ${name} (${Date.now() - begun} ms)`);
  }
  console.log("everything is right");
} finally {
  await browser.close();
  await server.stop();
  await rm(folder, { recursive: true });
}
