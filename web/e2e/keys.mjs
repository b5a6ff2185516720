// A server with keys: what a key allows is seen at once, and another can take its place.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { start } from "./server.mjs";

const [READ, WRITE] = ["a-key-that-reads-only", "a-key-that-also-writes"];

const RULES = `[[rule]]
when = "{x} has a key"
then = ["{x}", "has", "a key"]
`;

export const keys = {
  async "a key that may only read, and one that may write"({ open, folder, shot }) {
    // A server that was there already has the keys that it has.
    const { MEMO_BIN } = process.env;
    if (!MEMO_BIN) return;
    const [model, file, list] = ["keys.memo", "key.txt", "keys.list"].map((name) => join(folder, name));
    await writeFile(file, "Marta keeps the spare key under the blue stone.");
    await writeFile(list, `read:${READ}\nwrite:${WRITE}\n`);
    execFileSync(MEMO_BIN, ["memorize", model, file]);
    const server = await start(model, "--api-key-file", list);
    try {
      // That the server refuses what comes without a key is no fault.
      const page = await open({ url: server.url, refusals: true });
      const button = (within, name) => within.getByRole("button", { name, exact: true });
      const question = page.getByRole("dialog", { name: "This server asks for a key" });
      const give = async (key) => {
        await question.getByLabel("Key", { exact: true }).fill(key);
        await button(question, "Go on").click();
      };
      // Closed, the question stays closed until it is wanted.
      await button(question, "Close").click();
      await question.waitFor({ state: "detached" });
      await button(page, "Give a key").click();
      await give("a-key-that-nobody-has");
      await page.getByText("That key was not accepted.").waitFor();
      await give(READ);

      const document = page.getByRole("list", { name: "Documents" }).getByRole("button", { name: "key.txt" });
      await document.waitFor();
      const banner = page.getByText("This key may read the memory, but not change it.");
      await banner.waitFor();
      // That there was no key is over, and what is said now hides nothing.
      await page.getByText("This server asks for a key.").waitFor({ state: "detached" });
      await button(page, "Copy the digest").first().click();
      const [said, below] = [await page.locator(".notice").boundingBox(), await page.locator(".banner").boundingBox()];
      assert.ok(said.y >= below.y + below.height, "the notice covers the banner");
      await shot(page, "read-only");
      // Nothing was tried and refused: all that changes something is off from the beginning, and the rest is not.
      assert.ok(await button(page, "Add").isDisabled());
      await page.getByRole("textbox", { name: "Prompt" }).fill("Marta keeps");
      await button(page, "Complete").click();
      await page.getByRole("option", { name: "stone" }).click();
      await page.getByText("Edit what follows").click();
      await page.getByLabel("it should say").fill("tree");
      assert.ok(await button(page, "Edit").isDisabled());
      await document.click();
      for (const name of ["Retire", "Forget…"]) assert.ok(await button(page, name).isDisabled(), name);
      await page.keyboard.press("Escape");
      await button(page, "Knowledge").click();
      const knowledge = page.getByRole("dialog", { name: "Knowledge" });
      const stating = knowledge.getByRole("form", { name: "State a fact" });
      for (const name of ["Subject", "Predicate", "Object"]) await stating.getByLabel(name).fill("owl");
      assert.ok(await button(stating, "State").isDisabled());
      // Rules can be tried, and what is wrong with them is said; they cannot be added.
      await button(knowledge, "Rules").click();
      await knowledge.getByRole("textbox", { name: "Name" }).fill("keys.toml");
      const rules = knowledge.getByLabel("Rules, in TOML");
      await rules.fill(RULES.replace("then =", "then"));
      await knowledge.getByRole("alert").getByText(/line 3/).waitFor();
      await rules.fill(RULES);
      await knowledge.getByRole("status", { name: "Preview" }).waitFor();
      assert.ok(await button(knowledge, "Add rules").isDisabled());
      await page.keyboard.press("Escape");

      await button(page, "Use another key").click();
      await give(WRITE);
      await banner.waitFor({ state: "detached" });
      assert.ok(await button(page, "Add").isEnabled());
      await document.click();
      assert.ok(await button(page, "Retire").isEnabled());
      await page.context().close();
    } finally {
      await server.stop();
    }
  },
};
