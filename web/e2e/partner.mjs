// A neural model beside the memory: the switch, the hues and their legend, the numbers of a word, and both lists of candidates.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { listening, start } from "./server.mjs";
import { complete, tokens } from "./steps.mjs";

const NOTE = "The spare key of the mill is under the blue stone by the well.";

export const partner = {
  async "a model beside the memory"({ open, folder, shot }) {
    // PYTHON is one that has llama.cpp's server; the model is a tiny one that is made there.
    const { MEMO_BIN, PYTHON } = process.env;
    if (!MEMO_BIN || !PYTHON) return console.log("   left out: PYTHON names no interpreter with xllamacpp");
    const weights = join(folder, "tiny.gguf");
    const llama = await listening(spawn(PYTHON, ["../clients/llama.py", weights], { stdio: ["ignore", "pipe", "ignore"] }));
    const model = join(folder, "beside.memo");
    await writeFile(join(folder, "key.txt"), NOTE);
    execFileSync(MEMO_BIN, ["init", model, "--tokenizer", weights]);
    execFileSync(MEMO_BIN, ["memorize", model, join(folder, "key.txt")]);
    const server = await start(model, "--partner", llama.url.replace(/\/$/, ""));
    try {
      const page = await open({ url: server.url });
      const asked = "The spare key of the mill";
      const mode = (name) => page.getByRole("group", { name: "Who answers" }).getByRole("radio", { name });
      const share = async (word) => parseFloat(await word.locator(".tint").evaluate((each) => each.style.getPropertyValue("--share")));
      assert.ok(await mode("Both").isChecked());
      assert.equal(await complete(page, asked), NOTE.slice(asked.length));
      const stone = tokens(page).filter({ hasText: "stone" });
      assert.ok((await share(stone)) > 90, "what is memorized has the memory's hue");
      const legend = page.getByRole("group", { name: "Legend" });
      assert.match(await legend.textContent(), /from the model.*from the memory/);

      await stone.click();
      const why = page.getByRole("region", { name: "Why" });
      assert.match(
        await why.getByText("of it came from the memory").textContent(),
        /^[\d.<> ]+ % of it came from the memory, [\d.<> ]+ % from the model\. The memory gives it [\d.<> ]+ % and\s+counts [\d.<> ]+ % here; the model gives it [\d.<> ]+ %\.$/,
      );
      await why.getByRole("list", { name: "Candidates", exact: true }).getByRole("listitem").first().waitFor();
      assert.equal(await why.getByRole("list", { name: "Candidates of the model" }).getByRole("listitem").count(), 5);
      assert.match(await why.getByRole("list", { name: "Sources" }).locator("mark").first().textContent(), /blue/);
      await shot(page, "partner");

      await mode("Model").check();
      assert.notEqual(await complete(page, asked), NOTE.slice(asked.length));
      assert.equal(await share(tokens(page).first()), 0, "what the model says has its hue");
      await mode("Memory").check();
      assert.equal(await complete(page, asked), NOTE.slice(asked.length));
      assert.match(await legend.textContent(), /guessing.*sure/);
      await page.context().close();
    } finally {
      await server.stop();
      await llama.stop();
    }
  },
};
