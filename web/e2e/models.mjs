// A server of several models: the page is about one of them, which is chosen at the top.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { start } from "./server.mjs";

export const models = {
  async "several models"({ open, folder }) {
    // A server that was there already has the models that it has.
    const { MEMO_BIN } = process.env;
    if (!MEMO_BIN) return;
    for (const [name, text] of [["anna", "Anna keeps the key under the stone."], ["ben", "Ben sails at dawn."]]) {
      await writeFile(join(folder, `${name}.txt`), text);
      execFileSync(MEMO_BIN, ["memorize", join(folder, "models", `${name}.memo`), join(folder, `${name}.txt`)]);
    }
    const server = await start(join(folder, "models"));
    try {
      const page = await open({ url: server.url });
      const chooser = page.getByRole("combobox", { name: "Model" });
      const document = (name) => page.getByRole("list", { name: "Documents" }).getByRole("button", { name });
      await document("anna.txt").waitFor();
      await chooser.selectOption("ben");
      await document("ben.txt").waitFor();
      assert.equal(new URL(page.url()).searchParams.get("model"), "ben");
      assert.equal(await document("anna.txt").count(), 0);

      await chooser.selectOption("New model…");
      const dialog = page.getByRole("dialog", { name: "A new model" });
      await dialog.getByRole("textbox", { name: "Name" }).fill("carla");
      await dialog.getByRole("button", { name: "Make it" }).click();
      await page.waitForURL(/model=carla/);
      await page.getByLabel("The memory").waitFor();
      assert.equal(await chooser.inputValue(), "carla");
      assert.deepEqual(await chooser.locator("option").allTextContents(), ["anna", "ben", "carla", "New model…"]);
      await page.context().close();
    } finally {
      await server.stop();
    }
  },
};
