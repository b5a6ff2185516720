// More of the walk: words and their pieces, long texts, graphs as files, a look inside the memory, and what assistive technology needs.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { becomes, button, complete, digest, paste, row, tokens } from "./steps.mjs";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** What axe finds wrong with what is shown. */
async function violations(page) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(await readFile(AXE, "utf8"));
  const { violations } = await page.evaluate(() => axe.run({ resultTypes: ["violations"] }));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}

/** Whether all of an element is in sight. */
const inSight = (element) =>
  element.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });

const LINES = Array.from({ length: 6_000 }, (_, n) => `Line ${n} of the long tale, in which a lamp is lit and nothing else happens.`);
const LAST = "And that was the very last line.";

/** Sentences that disagree, so that layers do. */
const BIRDS =
  "The owl reads at night by the light of the moon. The crow reads at noon in the garden. The old heron reads at night, too, and the cat sleeps at noon on the roof.";

const PEOPLE = "Mira\tlives in\tAlden\nAlden\tlies by\tthe sea\n";

export const more = {
  async "a word of several tokens is one word, with its pieces inside"({ page, shot }) {
    assert.match(await complete(page, "The ferry to"), /^ Saltmarsh leaves/);
    const word = tokens(page).first();
    assert.equal(await word.textContent(), " Saltmarsh");
    await word.focus();
    await page.keyboard.press("Enter");
    const why = page.getByRole("region", { name: "Why" });
    await why.getByText("“Saltmarsh”").waitFor();
    const pieces = why.getByRole("group", { name: "Pieces of the word" }).getByRole("button");
    assert.ok((await pieces.count()) > 1);
    const texts = await pieces.allTextContents();
    assert.equal(texts.join(""), "·Saltmarsh");
    await pieces.nth(1).focus();
    await page.keyboard.press("Enter");
    await why.getByRole("list", { name: "Candidates" }).getByText(texts[1], { exact: true }).waitFor();
    assert.equal(await pieces.nth(1).getAttribute("aria-pressed"), "true");
    assert.equal(await word.getAttribute("aria-selected"), "true", "it is still that word");
    await shot(page, "pieces-light");
  },

  async "a long text is read to its end, and a long completion stays in sight"({ page }) {
    const before = await digest(page);
    await button(page, "Add").click();
    const text = { name: "tale.txt", mimeType: "text/plain", buffer: Buffer.from([...LINES, LAST].join("\n")) };
    await page.getByLabel("Choose files…").setInputFiles(text);
    await row(page, "tale.txt").click();
    const prose = page.getByRole("dialog", { name: "tale.txt" }).getByRole("region", { name: "Text" });
    assert.equal((await prose.textContent()).length, text.buffer.length);
    await prose.focus();
    await page.keyboard.press("End");
    const last = prose.getByText(LAST).last();
    await page.waitForFunction(
      ([prose, last]) => {
        // What comes into sight is laid out, and the end moves.
        prose.scrollTop = prose.scrollHeight;
        const range = document.createRange();
        range.setStart(last.lastChild, last.lastChild.length - 5);
        range.setEnd(last.lastChild, last.lastChild.length);
        const [box, room] = [range.getBoundingClientRect(), prose.getBoundingClientRect()];
        return box.height > 0 && box.bottom <= room.bottom;
      },
      [await prose.elementHandle(), await last.elementHandle()],
    );
    await page.keyboard.press("Escape");
    await button(page, "Options").click();
    await page.getByLabel("Length").fill("600");
    await complete(page, "Line 70 of the long tale,");
    assert.ok((await tokens(page).count()) > 300);
    assert.ok(await inSight(tokens(page).last()), "the end is in sight");
    await page.getByLabel("Length").fill("64");
    await button(page, "Options").click();
    await row(page, "tale.txt").click();
    await button(page, "Forget…").click();
    await button(page, "Forget for good").click();
    await button(page, "Done").click();
    await becomes(page, before);
  },

  async "graphs come from files and become files"({ open, shot }) {
    const page = await open({ refusals: true });
    await page.locator(".facts code").waitFor();
    const before = await digest(page);
    await button(page, "Knowledge").click();
    const knowledge = page.getByRole("dialog", { name: "Knowledge" });
    await button(knowledge, "Graphs").click();
    await knowledge.getByText("There are no graphs yet.").waitFor();
    const file = (name, text) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
    await knowledge.getByLabel("Choose files…").setInputFiles(file("broken.ttl", "this is no Turtle"));
    await knowledge.getByRole("alert").waitFor();
    await knowledge.getByLabel("Choose files…").setInputFiles(file("people.tsv", PEOPLE));
    await knowledge.getByRole("list", { name: "Graphs" }).getByText("2 facts").waitFor();
    assert.equal(await knowledge.getByRole("alert").count(), 0, "the error is gone");
    await knowledge.getByLabel("Format of people.tsv").selectOption("Table");
    await shot(page, "graphs-light");
    const saving = page.waitForEvent("download");
    await button(knowledge, "Save as").focus();
    await page.keyboard.press("Enter");
    const saved = await saving;
    assert.equal(saved.suggestedFilename(), "people.tsv");
    const [, ...facts] = (await readFile(await saved.path(), "utf8")).trim().split("\n");
    assert.deepEqual(facts.sort(), PEOPLE.trim().split("\n").sort());
    await button(knowledge, "Facts").click();
    await knowledge.getByRole("list", { name: "Facts" }).getByText("Alden").first().waitFor();
    await button(knowledge, "Graphs").click();
    await button(knowledge, "Remove people.tsv").click();
    await button(page, "Forget for good").click();
    await button(page, "Done").click();
    await becomes(page, before);
    await page.context().close();
  },

  async "a look inside: blocks, what layers say, their sum, and how full they are"({ page, shot }) {
    const before = await digest(page);
    await paste(page, "birds.txt", BIRDS);
    await button(page, "Look inside").click();
    await page.getByRole("textbox", { name: "Sentence" }).fill("The young crow reads at");
    await page.getByRole("row", { name: /^last 3 tokens/ }).getByText("seen once, then ·noon ×1").waitFor();
    await page.getByRole("row", { name: /^last 2 tokens “/ }).getByText(/^seen 4 times, then ·night ×3, ·noon ×1$/).waitFor();
    await page.getByRole("row", { name: /^last 64 tokens/ }).waitFor();
    const size = page.viewportSize();
    await page.setViewportSize({ ...size, height: 940 });
    await shot(page, "inside-light");
    await page.setViewportSize(size);
    await page.keyboard.press("Escape");
    await row(page, "birds.txt").click();
    await button(page, "Forget…").click();
    await button(page, "Forget for good").click();
    await button(page, "Done").click();
    await becomes(page, before);
    await complete(page, "The library of Osk opens");
    await tokens(page).first().click();
    // By the keyboard, from the reason.
    await button(page, "How it came about, layer by layer").focus();
    await page.keyboard.press("Enter");
    const inside = page.getByRole("dialog", { name: "Inside the memory" });
    const layers = inside.getByRole("table", { name: /^The layers, and what each adds to “·at”$/ });
    const two = layers.getByRole("row", { name: /^last 2 tokens “/ });
    await two.getByText("seen once, then ·at ×1").waitFor();
    assert.match(await two.textContent(), /“.*k opens”/);
    // All that is added is the sum, as far as it is shown.
    const added = await layers.locator("tbody .number").allTextContents();
    const terms = added.map((text) => (text === "–" || text.startsWith("<") ? 0 : parseFloat(text.replace("> ", ""))));
    const sum = parseFloat((await layers.locator("tfoot .number").textContent()).replace("> ", ""));
    const total = terms.reduce((a, b) => a + b);
    assert.ok(Math.abs(total - sum) < 0.1 * added.length, `${terms.join(" + ")} is ${total}, not ${sum}`);
    // Another candidate has another sum.
    await inside.getByRole("list", { name: "What comes next" }).getByRole("button").nth(1).focus();
    await page.keyboard.press("Enter");
    await layers.waitFor({ state: "detached" });
    // Another sentence is read while it is written.
    await inside.getByRole("textbox", { name: "Sentence" }).fill("The owl reads at");
    await inside.getByRole("row", { name: /^last 4 tokens/ }).getByText("seen once, then ·night ×1").waitFor();
    await inside.getByRole("textbox", { name: "Sentence" }).fill("Nobody ever reads");
    await inside.getByText("never seen: longer blocks were not, either").waitFor();
    const fill = inside.getByRole("table", { name: "How full and how noisy each layer is" });
    assert.match(await fill.getByRole("row", { name: /^last token \d/ }).textContent(), /one a token.*never$/);
    assert.match(await fill.getByRole("row", { name: /^last 16 tokens/ }).textContent(), / of 17,179,869,184.*1 in [\d,]+$/);
    await page.keyboard.press("Escape");
    await inside.waitFor({ state: "detached" });
  },

  async "wide and narrow, light and dark: a look inside fits, and assistive technology finds nothing wrong"({ open, shot }) {
    for (const colorScheme of ["light", "dark"])
      for (const [width, height] of [
        [1280, 900],
        [390, 844],
      ]) {
        const narrow = width < 900;
        const where = `${width}-${colorScheme}`;
        const page = await open({ viewport: { width, height }, colorScheme, hasTouch: narrow, isMobile: narrow, bypassCSP: true });
        const right = async (what) => assert.deepEqual(await violations(page), [], `${what} ${where}`);
        const title = await page.getByRole("heading", { level: 1 }).evaluate((title) => [title.scrollWidth, title.clientWidth]);
        assert.ok(title[0] <= title[1], `the title has ${title[1]} of ${title[0]} pixels`);
        await complete(page, "The library of Osk opens");
        await right("text");
        await tokens(page).first().click();
        await page.getByRole("list", { name: "Sources" }).locator("mark").first().waitFor();
        await right("why");
        await button(page, "How it came about, layer by layer").click();
        const inside = page.getByRole("dialog", { name: "Inside the memory" });
        await inside.getByRole("row", { name: /^last 2 tokens “/ }).waitFor();
        await inside.getByRole("row", { name: /^last 64 tokens/ }).waitFor();
        await shot(page, `inside-${where}`);
        await right("inside");
        const [wide, room] = await inside.evaluate((dialog) => [dialog.scrollWidth, dialog.clientWidth]);
        assert.ok(wide <= room, `inside: ${wide} of ${room} pixels`);
        await inside.getByRole("row", { name: /^last 64 tokens/ }).scrollIntoViewIfNeeded();
        await shot(page, `fill-${where}`);
        await page.keyboard.press("Escape");
        await button(page, "Knowledge").click();
        for (const tab of ["Rules", "Graphs", "Facts"]) {
          await button(page.getByRole("dialog", { name: "Knowledge" }), tab).click();
          await right(tab);
        }
        await page.context().close();
      }
  },
};
