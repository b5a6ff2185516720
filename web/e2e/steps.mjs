// The steps of the walk, in order: each goes on from where the last one left the memory.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

const GUEST = "Tomas Vell came ashore in the storm. He lives at 12 Rope Lane in Harrow Quay, and mends nets for the ferry.";
const WHERE = "Tomas Vell came ashore in the storm. He lives at";
const FERRY =
  "The ferry to Saltmarsh leaves at seven in the morning from the stone pier. It carries letters, bread and the doctor.";

const DRIVE = "Anna drives a Volvo to Rome. She stays there until spring.";

const FAMILY = `[templates]
"home" = "The home of {subject} is {object}."

[[rule]]
name = "home"
when = [["{x}", "works at", "{y}"], ["{y}", "stands in", "{z}"]]
then = ["{x}", "home", "{z}"]
`;

export const button = (page, name) => page.getByRole("button", { name, exact: true });
export const tokens = (page) => page.getByRole("listbox", { name: "Words" }).getByRole("option");
export const digest = (page) => page.getByLabel("The memory").locator("code").getAttribute("title");
export const row = (page, id) => page.getByRole("list", { name: "Documents" }).getByRole("button", { name: id });

export async function paste(page, id, text) {
  await button(page, "Add").click();
  const dialog = page.getByRole("dialog", { name: "Add a document" });
  await dialog.getByRole("textbox", { name: "Text" }).fill(text);
  await dialog.getByRole("textbox", { name: "Name" }).fill(id);
  await button(dialog, "Memorize").click();
  await row(page, id).waitFor();
}

export async function complete(page, prompt) {
  await page.getByRole("textbox", { name: "Prompt" }).fill(prompt);
  await button(page, "Complete").click();
  return said(page);
}

/** What was said, once all of it is. */
export async function said(page) {
  await page.getByText(/ a second|nothing to say/).waitFor();
  return (await tokens(page).allTextContents()).join("");
}

async function rollBackLast(page) {
  await button(page, "History").click();
  await page
    .getByRole("button", { name: /^Roll back transaction/ })
    .first()
    .click();
  await page.getByText("rollback").first().waitFor();
  await page.keyboard.press("Escape");
}

/** Waits until the digest in the header is this one. */
export const becomes = (page, digest) =>
  page.waitForFunction((digest) => document.querySelector(".facts code")?.title === digest, digest);

/** Waits until it is another one. */
const changes = (page, was) =>
  page.waitForFunction((was) => ![was, undefined].includes(document.querySelector(".facts code")?.title), was);

export const steps = {
  async "an empty memory welcomes, and a sample shows it work"(walk) {
    const page = (walk.page = await walk.open());
    await page.getByText("This memory is empty.").waitFor();
    await walk.shot(page, "empty-light");
    await button(page, "Memorize a sample").click();
    assert.match(await said(page), /^ opens at midnight\. Its keeper, Irena Vale,/);
    await row(page, "sample.txt").waitFor();
    assert.equal(await page.getByText("This memory is empty.").count(), 0);
  },

  async "memorize by pasting"({ page }) {
    await paste(page, "guest.txt", GUEST);
    await paste(page, "ferry.txt", FERRY);
  },

  async complete({ page }) {
    assert.match(await complete(page, WHERE), /^ 12 Rope Lane in Harrow Quay/);
    assert.match(await tokens(page).first().getAttribute("title"), /^[\d.<> ]+ %, .*seen after the last \d+ tokens$/);
  },

  async "explain a token: candidates, evidence, and the source with its passage"({ page }) {
    await tokens(page).filter({ hasText: "Lane" }).click();
    const why = page.getByRole("region", { name: "Why" });
    await why.getByRole("list", { name: "Candidates" }).getByText("Lane").waitFor();
    const evidence = why.getByRole("list", { name: "Evidence" }).getByRole("listitem");
    assert.match((await evidence.allTextContents()).join("\n"), /after the last .*tokensseen once: always followed by this/);
    assert.match((await evidence.allTextContents()).join("\n"), /words, whatever their caseseen once/);
    assert.match(
      await why.getByRole("list", { name: "Sources" }).locator("mark").first().textContent(),
      /lives at 12 Rope Lane$/,
    );
    await why.getByRole("button", { name: "Open guest.txt" }).first().click();
    const dialog = page.getByRole("dialog", { name: "guest.txt" });
    assert.match(await dialog.locator("mark").textContent(), /lives at 12 Rope Lane$/);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  },

  async "a careless prompt is put right, and the reason is that of what was continued"({ page }) {
    assert.match(await complete(page, "Tomas Vell came ashoer in the storm. he lives at "), /^12 Rope Lane/);
    await page.getByText("Continued: “Tomas Vell came ashore in the storm. He lives at”.").waitFor();
    await tokens(page).first().click();
    const why = page.getByRole("region", { name: "Why" });
    await why.getByText(/^after “.*He lives at”$/).waitFor();
    assert.match(
      await why.getByRole("list", { name: "Sources" }).locator("mark").first().textContent(),
      /^Tomas Vell came ashore in the storm\. He lives at 12$/,
    );
  },

  async "a lexicon generalises: switch, reason, classes, and the receipt"({ page, shot, url }) {
    const rebuild = async (lexicon) => {
      const answer = await page.request.post(`${url}api/rebuild`, { data: { lexicon } });
      assert.equal(answer.status(), 200, await answer.text());
    };
    await paste(page, "drive.txt", DRIVE);
    assert.equal(await page.getByRole("switch", { name: "Generalise" }).count(), 0, "no lexicon, no switch");
    await rebuild("Volvo\tcar\nFiat\tcar\nSkoda\tcar\n");
    await page.reload();
    await page.getByLabel("The memory").getByText("3 words").waitFor();
    const generalise = page.getByRole("switch", { name: "Generalise" });
    // Drawn: what nobody has written is not recalled.
    await button(page, "Options").click();
    await page.getByLabel("Temperature").fill("0.1");
    assert.match(await complete(page, "Boris drives a Fiat to"), /^ Rome/);
    await tokens(page).first().click();
    const why = page.getByRole("region", { name: "Why" });
    const general = why.getByRole("list", { name: "Generalised evidence" });
    await general.getByText("matched as “drives a ‹car› to”").waitFor();
    await general.getByText("seen once: always followed by this").waitFor();
    await general.getByText("Fiat as Volvo").first().waitFor();
    // A word of the prompt, by the mouse and by keys.
    const fiat = page.getByRole("toolbar", { name: "Words of the prompt that have classes" }).getByRole("button", { name: "Fiat" });
    const tip = page.getByRole("tooltip");
    await fiat.hover();
    await tip.getByText("like fiat").waitFor();
    assert.equal(await tip.textContent(), "Fiat counts as ‹car› like fiat, skoda, volvo");
    await shot(page, "lexicon-light");
    await page.keyboard.press("Escape");
    await tip.waitFor({ state: "detached" });
    await fiat.focus();
    await tip.waitFor();
    await page.keyboard.press("Tab");
    await tip.waitFor({ state: "detached" });
    // Switched off, the lexicon is no evidence, and what was said is of the past.
    await generalise.uncheck();
    await page.getByText("Generalising was switched since.").waitFor();
    await general.waitFor({ state: "detached" });
    await generalise.check();
    await general.waitFor();
    await general.getByRole("button", { name: "Open drive.txt" }).first().click();
    assert.match(await page.getByRole("dialog", { name: "drive.txt" }).locator("mark").textContent(), /Rome$/);
    await page.keyboard.press("Escape");
    await rebuild("none");
    await page.reload();
    await row(page, "drive.txt").click();
    await button(page, "Forget…").click();
    await button(page, "Forget for good").click();
    await page.getByLabel("Receipt").waitFor();
    await button(page, "Done").click();
  },

  async "facts are stated, rules tried and added, and what follows is explained and forgotten"({ page, shot }) {
    const before = await digest(page);
    await button(page, "Knowledge").click();
    const knowledge = page.getByRole("dialog", { name: "Knowledge" });
    await knowledge.getByText("No such fact is known.").waitFor();
    const stating = knowledge.getByRole("form", { name: "State a fact" });
    const state = async (...parts) => {
      for (const [index, name] of ["Subject", "Predicate", "Object"].entries()) {
        await stating.getByLabel(name).fill(parts[index]);
      }
      // By the keyboard.
      await page.keyboard.press("Enter");
      await knowledge.getByRole("list", { name: "Facts" }).getByText(parts[2]).first().waitFor();
    };
    await state("Irena Vale", "works at", "the library");
    await state("the library", "stands in", "Os");
    await button(knowledge, "Correct the library | stands in | Os").click();
    assert.equal(await page.evaluate(() => document.activeElement.value), "Os");
    await state("the library", "stands in", "Osk");
    await button(knowledge, "Correct the library | stands in | Os").waitFor({ state: "detached" });
    await button(knowledge, "Rules").click();
    await knowledge.getByText("There are no rules yet.").waitFor();
    const rules = knowledge.getByLabel("Rules, in TOML");
    await rules.fill(FAMILY);
    const preview = knowledge.getByRole("status", { name: "Preview" });
    await preview.getByText("The home of Irena Vale is Osk.").waitFor();
    await knowledge.getByRole("textbox", { name: "Name" }).fill("homes.toml");
    await shot(page, "rules-light");
    await button(knowledge, "Add rules").click();
    await knowledge.getByRole("region", { name: "Rules of homes.toml" }).getByText("1 fact follows").waitFor();
    // Found from the other end, and explained.
    await button(knowledge, "Facts").click();
    const search = knowledge.getByRole("search", { name: "Search facts" });
    await search.getByLabel("Object").fill("osk");
    await search.getByLabel("Predicate").fill("home");
    await button(knowledge, "Why Irena Vale | home | Osk").click();
    const derivation = knowledge.getByRole("list", { name: "Derivation" });
    await derivation.getByText("stated in facts").first().waitFor();
    assert.match(await derivation.textContent(), /^Irena Vale \| home \| Oskby home/);
    await shot(page, "facts-light");
    await page.keyboard.press("Escape");
    // What follows is said, and the reason says why.
    assert.match(await complete(page, "The home of Irena Vale is"), /^ Osk/);
    await tokens(page).first().click();
    const why = page.getByRole("region", { name: "Why" }).getByRole("list", { name: "Derivation" });
    await why.getByText("by home").first().waitFor();
    await shot(page, "derivation-light");
    // A forgotten fact takes along what follows.
    await button(page, "Knowledge").click();
    await search.getByLabel("Predicate").fill("stands in");
    await button(knowledge, "Forget the library | stands in | Osk").click();
    const forget = page.getByRole("dialog", { name: "Forget this fact?" });
    await forget.getByRole("list", { name: "What would go" }).getByText("1 fact would go").waitFor();
    await button(forget, "Forget for good").click();
    await page.getByLabel("Receipt").waitFor();
    await button(page, "Done").click();
    await search.getByLabel("Predicate").fill("");
    await knowledge.getByText("No such fact is known.").waitFor();
    await search.getByLabel("Object").fill("");
    await button(knowledge, "Rules").click();
    await button(knowledge, "Remove homes.toml").click();
    await button(page, "Forget for good").click();
    await button(page, "Done").click();
    await row(page, "facts").click();
    await button(page, "Forget…").click();
    await button(page, "Forget for good").click();
    await button(page, "Done").click();
    await becomes(page, before);
  },

  async "edit what follows, and undo it to the same digest"({ page }) {
    const before = await digest(page);
    assert.match(await complete(page, "The ferry to Saltmarsh leaves at"), /^ seven in/);
    await tokens(page).first().click();
    await page.getByText("Edit what follows").click();
    assert.equal(await page.getByRole("textbox", { name: "After" }).inputValue(), "The ferry to Saltmarsh leaves at");
    await page.getByRole("textbox", { name: "it should say" }).fill("noon");
    await button(page, "Edit").click();
    await button(page, "Undo").waitFor();
    await changes(page, before);
    // What is said of the word is what the candidates say, too.
    const why = page.getByRole("region", { name: "Why" });
    await why.getByText(/ when it was said$/).waitFor();
    const now = await why.locator(".said").textContent();
    const first = await why.getByRole("list", { name: "Candidates" }).getByRole("button").first().textContent();
    assert.match(first, /noon/);
    assert.match(now, /“·?seven”.*( now|not among the likeliest any more)/);
    await button(page, "Again").click();
    assert.match(await said(page), /^ noon/);
    await button(page, "Undo").click();
    await page.getByText("Nothing of the edit is left").waitFor();
    assert.match(await complete(page, "The ferry to Saltmarsh leaves at"), /^ seven in/);
    await becomes(page, before);
  },

  async "a word is as sure where it stands as where it is explained, drawn or read"({ page }) {
    const why = page.getByRole("region", { name: "Why" });
    const agree = async (word) => {
      await word.click();
      const pressed = why.getByRole("list", { name: "Candidates" }).getByRole("button", { pressed: true });
      const shown = await pressed.locator(".number").textContent();
      assert.ok((await why.locator(".said").textContent()).includes(`${shown}, `), `the candidate has ${shown}`);
    };
    const text = "The ferry to Saltmarsh leaves at seven. The ferry to Saltmarsh leaves at";
    await button(page, "Options").click();
    await page.getByLabel("Temperature").fill("0.1");
    await complete(page, text);
    await agree(tokens(page).first());
    await page.getByLabel("Temperature").fill("0");
    await button(page, "Options").click();
    await button(page, "How well is it known?").click();
    await tokens(page).filter({ hasText: "Saltmarsh" }).nth(1).waitFor();
    await agree(tokens(page).filter({ hasText: "leaves" }).last());
  },

  async "roll back in the history"({ page }) {
    const before = await digest(page);
    await paste(page, "mistake.txt", "This should never have been memorized.");
    await changes(page, before);
    await rollBackLast(page);
    await becomes(page, before);
  },

  async "retire and restore"({ page }) {
    const before = await digest(page);
    await row(page, "ferry.txt").click();
    await button(page, "Retire").click();
    await button(page, "Restore").waitFor();
    await changes(page, before);
    await button(page, "Restore").click();
    await button(page, "Retire").waitFor();
    await page.keyboard.press("Escape");
    await becomes(page, before);
  },

  async "forget for good, with a receipt"({ page }) {
    await row(page, "guest.txt").click();
    await button(page, "Forget…").click();
    await page.getByText("This cannot be undone.").waitFor();
    await button(page, "Forget for good").click();
    const receipt = page.getByLabel("Receipt");
    await receipt.getByText(/guest\.txt: \d+ tokens/).waitFor();
    const after = await receipt.locator("code").first().getAttribute("title");
    await button(page, "Done").click();
    await becomes(page, after);
    assert.doesNotMatch(await complete(page, WHERE), /Rope Lane/);
  },

  async "all of it is there after a reload"({ page }) {
    const before = await digest(page);
    await page.reload();
    await row(page, "ferry.txt").waitFor();
    await becomes(page, before);
    await page.getByRole("combobox", { name: "State" }).selectOption("forgotten");
    await row(page, "guest.txt").click();
    await page.getByText("The text is gone").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("combobox", { name: "State" }).selectOption("");
    await page.getByRole("searchbox", { name: "Search documents" }).fill("ferr");
    await row(page, "sample.txt").waitFor({ state: "detached" });
    // Texts are searched too, whatever the case.
    await page.getByRole("searchbox", { name: "Search documents" }).fill("");
    await page.getByRole("list", { name: "Found in texts" }).waitFor({ state: "detached" });
    await page.getByRole("searchbox", { name: "Search documents" }).fill("STONE PIER");
    const inside = page.getByRole("list", { name: "Found in texts" }).getByRole("button", { name: "ferry.txt" });
    await inside.click();
    assert.equal(await page.getByRole("dialog", { name: "ferry.txt" }).locator("mark").textContent(), "stone pier");
    await page.keyboard.press("Escape");
    await page.getByRole("searchbox", { name: "Search documents" }).fill("");
    await row(page, "sample.txt").waitFor();
  },

  async "upload a long text"({ page, folder }) {
    const words = Array.from(
      { length: 40_000 },
      (_, index) => ["owl", "moon", "tower", "reads", "night"][(index * index + (index >> 3)) % 5] + (index % 977),
    );
    const path = join(folder, "long.txt");
    await writeFile(path, words.join(" "));
    const memory = page.getByLabel("The memory");
    const before = await memory.textContent();
    await button(page, "Add").click();
    await page.getByLabel("Choose files…").setInputFiles(path);
    await row(page, "long.txt").waitFor();
    await page.getByText(/^Memorized “long\.txt”/).waitFor();
    // The memory has grown with it: no size had to be chosen.
    assert.notEqual(await memory.textContent(), before);
    assert.match(await memory.textContent(), /Documents3Tokens[\d,]+Memory[\d.]+ MiB/);
  },

  async "drop a file"({ page }) {
    const files = await page.evaluateHandle(() => {
      const files = new DataTransfer();
      files.items.add(new File(["The owl reads at night by the light of the moon."], "owl.txt"));
      return files;
    });
    await page.dispatchEvent("body", "dragover", { dataTransfer: files });
    await page.getByText("Drop to memorize").waitFor();
    await page.dispatchEvent("body", "drop", { dataTransfer: files });
    await row(page, "owl.txt").waitFor();
  },

  async "prove it"({ page, shot }) {
    await button(page, "Prove it").click();
    const dialog = page.getByRole("dialog", { name: "Prove that it forgets" });
    await dialog.getByRole("combobox", { name: "Document" }).selectOption("long.txt");
    await button(dialog, "Prove it").click();
    await page.getByRole("dialog", { name: "Proved" }).waitFor({ timeout: 120_000 });
    const [before, after, never] = await page.locator(".proof code").allTextContents();
    assert.equal(after, never);
    assert.notEqual(before, after);
    await shot(page, "proved-light");
    // Nothing has changed yet; forgetting it for good leads to the digest that was foretold.
    await becomes(page, before);
    await button(page, "Forget it for good…").click();
    await button(page, "Forget for good").click();
    await page.getByLabel("Receipt").waitFor();
    await becomes(page, after);
    // And afterwards it can be proved of the memory itself.
    await button(page.getByRole("dialog", { name: "Forgotten" }), "Prove it").click();
    await button(page.getByRole("dialog", { name: "Prove that it forgets" }), "Prove it").click();
    await page.getByRole("dialog", { name: "Proved" }).waitFor({ timeout: 120_000 });
    assert.deepEqual(await page.locator(".proof code").allTextContents(), [after, after]);
    await button(page, "Done").click();
  },

  async "a web page is read as its text"({ page }) {
    await button(page, "Add").click();
    const html = "<title>Moths</title><script>never()</script><p>Moths <b>circle</b> the lamp of Osk &amp; rest by day.</p>";
    await page.getByLabel("Choose files…").setInputFiles({ name: "moths.html", mimeType: "text/html", buffer: Buffer.from(html) });
    await row(page, "moths.html").click();
    const dialog = page.getByRole("dialog", { name: "moths.html" });
    await dialog.getByText("Moths circle the lamp of Osk & rest by day.").waitFor();
    const shown = await dialog.textContent();
    assert.ok(!shown.includes("never()") && !shown.includes("<b>"), shown);
    await page.keyboard.press("Escape");
  },

  async "a file that is no text is refused in words"({ page }) {
    await button(page, "Add").click();
    const pdf = { name: "scan.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.7\n") };
    await page.getByLabel("Choose files…").setInputFiles(pdf);
    await page.getByText(/^This is a PDF\. MeMo reads text/).waitFor();
    await page.getByText("Dismiss", { exact: true }).click();
  },

  async "nothing jumps, and nothing opens out of sight"({ page }) {
    await complete(page, "The library of Osk");
    const options = button(page, "Options");
    const before = await options.boundingBox();
    await options.click();
    await page.getByLabel("Temperature").waitFor();
    assert.deepEqual(await options.boundingBox(), before);
    await options.click();
    await tokens(page).first().click();
    await page.getByRole("list", { name: "Sources" }).locator("mark").first().waitFor();
    await page.getByText("Edit what follows").click();
    await page.getByRole("textbox", { name: "it should say" }).waitFor();
    // It is scrolled to.
    await page.waitForFunction(() => document.querySelector("details.edit[open] input")?.getBoundingClientRect().bottom <= innerHeight);
    await page.getByText("Edit what follows").click();
    await paste(page, "notice.txt", "A notice is shown.");
    const said = await page.getByText(/^Memorized “notice\.txt”/).boundingBox();
    const legend = await page.getByRole("group", { name: "Legend" }).boundingBox();
    assert.ok(said.y + said.height <= legend.y || legend.y + legend.height <= said.y, "the notice covers the legend");
  },

  async "a completion that was cut off goes on"({ page }) {
    await button(page, "Options").click();
    await page.getByLabel("Length").fill("4");
    const begun = await complete(page, "The owl reads");
    assert.match(begun, /^ at night by the/);
    await button(page, "Go on").click();
    await page.waitForFunction((prompt) => document.querySelector("textarea").value === prompt, `The owl reads${begun}`);
    assert.match(await said(page), /^ light of the/);
    await page.getByLabel("Length").fill("64");
    await button(page, "Options").click();
    await complete(page, "The owl reads");
    await page.getByText("the text ended here").waitFor();
    assert.equal(await button(page, "Go on").count(), 0);
  },

  async "by keyboard alone"({ page }) {
    await page.getByRole("textbox", { name: "Prompt" }).fill("The owl reads");
    await page.keyboard.press("Control+Enter");
    assert.match(await said(page), /^ at night by the light/);
    await tokens(page).first().focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowLeft");
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), " night");
    await page.keyboard.press("Enter");
    await page.getByRole("list", { name: "Candidates" }).getByText("·night", { exact: true }).waitFor();
    await button(page, "History").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "History" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "History");
  },

  async "the Tab key reaches everything, and what has the focus is seen"({ open }) {
    for (const width of [1280, 390]) {
      const page = await open({ viewport: { width, height: 844 } });
      await page.locator("button:enabled", { hasText: "Prove it" }).waitFor();
      const reached = new Set();
      for (let presses = 0; presses < 60 && !reached.has("Options"); presses++) {
        await page.keyboard.press("Tab");
        const { name, seen } = await page.evaluate(() => {
          const focus = document.activeElement;
          const { outlineStyle, outlineWidth } = getComputedStyle(focus);
          const seen = outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
          return { name: focus.getAttribute("aria-label") ?? focus.textContent.trim(), seen };
        });
        assert.ok(seen, `the focus on ${name} is not seen`);
        reached.add(name);
        // Typed, because a button that can do nothing yet is passed over.
        if (name === "Prompt") await page.keyboard.type("The owl reads");
      }
      const expected = ["Prove it", "Look inside", "Knowledge", "History", "Prompt", "Complete", "How well is it known?", "Options"];
      if (width > 900) expected.push("Add", "Search documents", "State");
      assert.deepEqual(expected.filter((name) => !reached.has(name)), [], `at ${width} pixels`);
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Enter");
      await said(page);
      await page.context().close();
    }
  },

  async "light and dark, wide and narrow: nothing is cut off"({ open, shot }) {
    for (const colorScheme of ["light", "dark"])
      for (const [width, height] of [
        [1280, 800],
        [390, 844],
      ]) {
        const narrow = width < 900;
        const page = await open({ viewport: { width, height }, colorScheme, hasTouch: narrow, isMobile: narrow });
        await complete(page, "The library of Osk");
        if (narrow) await shot(page, `text-${width}-${colorScheme}`);
        await tokens(page).nth(2).click();
        const reason = page.getByRole("list", { name: "Sources" }).locator("mark").first();
        await reason.waitFor();
        await shot(page, `why-${width}-${colorScheme}`);
        // Forms open where they can be seen, above the sections' names too.
        await page.getByText("Edit what follows").click();
        const target = await page.getByRole("textbox", { name: "it should say" }).boundingBox();
        const floor = narrow ? (await page.getByRole("navigation", { name: "Sections" }).boundingBox()).y : height;
        assert.ok(target.y >= 0 && target.y + target.height <= floor, `the form is out of sight at ${width} pixels`);
        await shot(page, `edit-${width}-${colorScheme}`);
        await page.getByText("Edit what follows").click();
        if (narrow) {
          assert.ok(!(await page.getByRole("textbox", { name: "Prompt" }).isVisible()), "one section at a time");
          await page.getByRole("navigation", { name: "Sections" }).getByRole("button", { name: "Documents" }).click();
          await row(page, "ferry.txt").waitFor();
          await shot(page, `documents-${width}-${colorScheme}`);
        }
        await button(page, "Knowledge").click();
        const knowledge = page.getByRole("dialog", { name: "Knowledge" });
        for (const tab of ["Rules", "Facts"]) {
          await button(knowledge, tab).click();
          await shot(page, `${tab.toLowerCase()}-${width}-${colorScheme}`);
          const [wide, room] = await knowledge.evaluate((dialog) => [dialog.scrollWidth, dialog.clientWidth]);
          assert.ok(wide <= room, `${tab}: ${wide} of ${room} pixels`);
        }
        await page.keyboard.press("Escape");
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "no sideways scrolling");
        const header = await page.locator("header.memory").evaluate((header) => [header.scrollWidth, innerWidth]);
        assert.ok(header[0] <= header[1], `the header is ${header[0]} of ${header[1]} pixels wide`);
        await page.context().close();
      }
  },

  async "the colours can be chosen, and stay so"({ page }) {
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    assert.equal(await theme(), "light");
    await button(page, "Dark colours").click();
    await page.reload();
    assert.equal(await theme(), "dark");
    await button(page, "Light colours").click();
  },

  async "a server that is gone for a while"({ open }) {
    const page = await open({ refusals: true });
    const documents = page.getByRole("region", { name: "Documents" });
    await documents.getByRole("listitem").first().waitFor();
    await page.route("**/api/**", (route) => route.abort());
    // The list is asked for too.
    await documents.getByRole("combobox", { name: "State" }).selectOption("live");
    await documents.getByText("The server does not answer.").waitFor();
    await page.getByRole("textbox", { name: "Prompt" }).fill("The owl");
    await button(page, "Complete").click();
    const banner = page.getByRole("alert").filter({ hasText: "the page goes on when it is back" });
    await banner.waitFor();
    await page.unroute("**/api/**");
    await button(banner, "Try again").click();
    await banner.waitFor({ state: "detached" });
    await page.getByText("The server does not answer.").waitFor({ state: "detached" });
    await page.context().close();
  },
};
