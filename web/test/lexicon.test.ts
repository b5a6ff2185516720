import { beforeEach, expect, test } from "vitest";
import { members, words } from "../src/state/lexicon";
import { refresh } from "../src/state/memory";
import { generalise, lexicon } from "../src/state/switch";
import { complete, prompt, read, spoken, stale } from "../src/state/text";
import { choose, explanation, probability } from "../src/state/why";
import { json, serve, sse, stats } from "./server";

const LEXICON = { words: 3, classes: [2], sources: 0, digest: "l1" };
const said = sse(
  ["token", { token: 1, text: " Rome", probability: 0.9, context_tokens: 1 }],
  ["done", { finish_reason: "end", tokens: 1, tokens_per_second: 9 }],
);
const fiat = { word: "Fiat", start: 0, end: 4, classes: [{ level: 0, class: "car" }] };
const answers = (parts = {}) => ({
  complete: said,
  read: json({ tokens: [] }),
  "lexicon/text": json({ words: [fiat] }),
  stats: stats({ lexicon: LEXICON, ...parts }),
});
const bodies = (asked: ReturnType<typeof serve>, path: string) => asked.filter((each) => each.path === path).map(({ body }) => body);

beforeEach(() => {
  prompt.value = "Fiat to";
  generalise.value = true;
  spoken.value = null;
});

test("without a lexicon there is no switch, and nothing is asked about it", async () => {
  generalise.value = false;
  const asked = serve(answers({ lexicon: null }));
  await refresh();
  await complete();
  expect(lexicon.value).toBeNull();
  expect(bodies(asked, "complete")[0]).not.toHaveProperty("generalize");
  expect(bodies(asked, "lexicon/text")).toEqual([]);
});

test("switched off, no question generalises; what was said before says so", async () => {
  const explain = json({ candidates: [{ token: 1, text: " Rome", probability: 0.2, general: [] }] });
  const asked = serve({ ...answers(), explain });
  await refresh();
  await complete();
  choose(0);
  await expect.poll(() => explanation.value.value).not.toBeNull();
  expect([stale.value, probability.value]).toEqual([null, { then: 0.9, now: null, stale: false }]);
  generalise.value = false;
  await expect.poll(() => bodies(asked, "explain")).toHaveLength(2);
  expect(bodies(asked, "explain")[0]).not.toHaveProperty("generalize");
  expect(bodies(asked, "explain")[1]).toMatchObject({ generalize: 0 });
  expect(stale.value).toMatch(/switched since/);
  await expect.poll(() => probability.value?.now).toBe(0.2);
  await complete();
  await read();
  expect(bodies(asked, "complete")[1]).toMatchObject({ generalize: 0 });
  expect(bodies(asked, "read")[0]).toMatchObject({ generalize: 0 });
  expect(stale.value).toBeNull();
});

test("the words of a text are looked up once it is all said", async () => {
  const asked = serve(answers());
  await refresh();
  await complete();
  await expect.poll(() => words.value).toEqual([fiat]);
  expect(bodies(asked, "lexicon/text")).toEqual([{ text: "Fiat to Rome" }]);
});

test("the words of a class are asked once, and again of another lexicon", async () => {
  const found = { level: 0, class: "a/b", total: 2, words: ["fiat", "volvo"] };
  const asked = serve({ ...answers(), "lexicon/classes/a%2Fb": json(found) });
  await refresh();
  expect(await members("a/b")).toEqual(found);
  await members("a/b");
  expect(asked.filter(({ path }) => path.startsWith("lexicon/classes"))).toHaveLength(1);
  const later = serve({ ...answers({ lexicon: { ...LEXICON, digest: "l2" } }), "lexicon/classes/a%2Fb": json(found) });
  await refresh();
  await members("a/b");
  expect(later.filter(({ path }) => path.startsWith("lexicon/classes"))).toHaveLength(1);
});
