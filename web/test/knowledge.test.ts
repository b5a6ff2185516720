import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Rule } from "../src/api/types";
import { asStatement, because, byDocument, follows, origin, wouldFollow } from "../src/knowledge";
import { addRules, ANYTHING, draft, facts, pattern, preview, reason, derivation, state } from "../src/state/knowledge";
import { refresh } from "../src/state/memory";
import { close, dialog } from "../src/state/place";
import { json, refusal, serve, stats } from "./server";

const ADA = { subject: "Ada", predicate: "born in", object: "London" };
const known = { facts: [{ ...ADA, count: 1, documents: ["people.tsv"], rule: null }], total: 1, noise: 0 };
const paths = (asked: ReturnType<typeof serve>, path: string) => asked.filter((each) => each.path.startsWith(path));

beforeEach(() => {
  pattern.value = ANYTHING;
  draft.value = { id: "", text: "" };
});

afterEach(() => {
  close();
  reason.value = null;
  vi.useRealTimers();
});

test("facts say where they are from, and steps why they hold", () => {
  expect(origin({ documents: ["a", "b"], rule: null, count: 2 })).toBe("stated in a, b, 2 times");
  expect(origin({ documents: [], rule: "nationality", count: 1 })).toBe("follows by nationality");
  expect(origin({ documents: ["a"], rule: "birth", count: 1 })).toBe("found by birth in a");
  expect(origin({ documents: [], rule: null, count: 1 })).toBe("in the memory");
  expect(because({ rule: null, documents: ["a"], sentence: null })).toBe("stated in a");
  expect(because({ rule: "birth", documents: ["a"], sentence: "Ada was born." })).toBe("by birth, from “Ada was born.” in a");
  expect(because({ rule: "birth", documents: [], sentence: null })).toBe("by birth");
  expect(asStatement(ADA)).toBe("Ada | born in | London");
});

test("what follows is counted in words", () => {
  expect(follows({ facts: 0, texts: 0 })).toBe("nothing follows");
  expect(follows({ facts: 1, texts: 0 })).toBe("1 fact follows");
  expect(follows({ facts: 2, texts: 1 })).toBe("2 facts and 1 text follow");
  expect(wouldFollow({ facts: 0, texts: 3 })).toBe("3 texts would be new.");
  expect(wouldFollow({ facts: 0, texts: 0 })).toBe("Nothing new would follow.");
});

test("rules are shown by document, in their order", () => {
  const rule = (name: string, document: string): Rule => ({ name, document, kind: "text", text: "", facts: 0, texts: 0 });
  const grouped = byDocument([rule("1", "a"), rule("2", "b"), rule("3", "a")]);
  expect(grouped.map(([document, rules]) => [document, rules.map(({ name }) => name)])).toEqual([
    ["a", ["1", "3"]],
    ["b", ["2"]],
  ]);
});

test("facts are asked for only while they are shown, and again when the memory changes", async () => {
  const asked = serve({ stats: stats({ transaction: 10 }), facts: json(known) });
  await refresh();
  expect(paths(asked, "facts")).toHaveLength(0);
  dialog.value = { kind: "knowledge", tab: "facts" };
  await expect.poll(() => facts.value.value?.total).toBe(1);
  pattern.value = { ...ANYTHING, subject: "Ada" };
  await expect.poll(() => paths(asked, "facts").map(({ path }) => path)).toEqual(["facts?limit=50", "facts?subject=Ada&limit=50"]);
  serve({ stats: stats({ transaction: 11 }), facts: json({ ...known, total: 0, facts: [] }) });
  await refresh();
  await expect.poll(() => facts.value.value?.total).toBe(0);
});

test("a stated fact is sent as it is, and the memory is looked at again", async () => {
  const asked = serve({ stats: stats({ transaction: 12 }), facts: json({ transaction: 12 }) });
  await state(ADA);
  expect(paths(asked, "facts")[0]).toMatchObject({ method: "POST", body: { facts: [ADA] } });
  expect(paths(asked, "stats")).toHaveLength(1);
});

test("why a fact is known is asked by its statement", async () => {
  const steps = [{ depth: 0, statement: asStatement(ADA), rule: null, rule_text: null, documents: ["people.tsv"], sentence: null }];
  const asked = serve({ why: json({ steps }) });
  reason.value = asStatement(ADA);
  await expect.poll(() => derivation.value.value).toEqual(steps);
  expect(paths(asked, "why")[0]!.path).toBe("why?statement=Ada+%7C+born+in+%7C+London");
});

test("rules are tried when their author pauses, and only the last ones", async () => {
  vi.useFakeTimers();
  const found = { rules: [], facts: 1, texts: 0, examples: ["Ada | nationality | England"] };
  const asked = serve({ stats: stats(), "rules/preview": json(found), rules: json({ document: "r.toml", transaction: 2 }) });
  for (const text of ["[", "[[", "[[rule]]"]) draft.value = { id: "r.toml", text };
  await vi.advanceTimersByTimeAsync(1000);
  expect(paths(asked, "rules/preview").map(({ body }) => body)).toEqual([{ id: "r.toml", text: "[[rule]]" }]);
  expect(preview.value.value).toEqual(found);
  await addRules();
  expect(asked.find(({ path }) => path === "rules")).toMatchObject({ method: "POST", body: { id: "r.toml", text: "[[rule]]" } });
  await vi.advanceTimersByTimeAsync(1000);
  expect([draft.value, preview.value.value]).toEqual([{ id: "", text: "" }, null]);
});

test("what is wrong with rules is shown as the server says it", async () => {
  vi.useFakeTimers();
  serve({ "rules/preview": refusal(400, "rules, line 2, column 1: a rule needs a `when`") });
  draft.value = { id: "", text: "[[rule]]\n" };
  await vi.advanceTimersByTimeAsync(1000);
  expect(preview.error.value).toMatchObject({ message: "rules, line 2, column 1: a rule needs a `when`" });
});
