import { expect, test } from "vitest";
import type { Breakdown, ContextBreakdown } from "../src/api/types";
import { columns, layer, oneIn, others, rows, says, used } from "../src/inside";

const context = (parts: Partial<ContextBreakdown>): ContextBreakdown => ({
  unit: "tokens",
  length: 1,
  span: 1,
  from_start: false,
  total: 1,
  kinds: 1,
  successors: [{ token: 7, text: " night", count: 1 }],
  weight: 0.5,
  ...parts,
});

const candidate = { token: 7, text: " night", probability: 0.9, prior: 0.05, contexts: [0.15, 0, 0.2, 0.1], quote: 0.4, general: 0, recent: 0 };

const breakdown: Breakdown = {
  tokens: [],
  whole: true,
  contexts: [context({}), context({ length: 2, total: 0 }), context({ length: 3, total: 0 }), context({ unit: "words", length: 2 })],
  prior: 0.1,
  quote: 0.4,
  general: 0,
  recent: 0,
  candidates: [candidate],
};

test("layers that occurred are shown, and the first that did not", () => {
  expect(rows(breakdown, candidate).map(({ key, adds }) => [key, adds])).toEqual([
    ["tokens 1 false", 0.15],
    ["tokens 2 false", 0],
    ["words 2 false", 0.1],
  ]);
});

test("what no layer adds is only there if it counts", () => {
  expect(others(breakdown, candidate).map(({ name, adds }) => [name, adds])).toEqual([
    ["Before any layer", 0.05],
    ["A quote", 0.4],
  ]);
});

test("as many of the last tokens are drawn as there is room for, each with what foretold it", () => {
  const drawn = columns(["The", " owl", " reads"], [null, 5, 1, 2], 14);
  expect(drawn).toEqual([
    { text: "·owl", room: 5, foretold: 1 },
    { text: "·reads", room: 7, foretold: 2 },
  ]);
  expect(columns(["x".repeat(99)], [], 5)).toHaveLength(1);
});

test("a layer says in words what it is and what it knows", () => {
  expect(layer(context({}))).toBe("last token");
  expect(layer(context({ unit: "words", length: 4 }))).toBe("last 4 words");
  expect(layer(context({ length: 3, from_start: true }))).toBe("all 3 tokens, as a beginning");
  expect(layer(context({ length: 0, from_start: true }))).toBe("the beginning");
  expect(says(context({}))).toBe("seen once, then ·night ×1");
  expect(says(context({ total: 9, kinds: 3, successors: [{ token: 1, text: "", count: 4 }] }))).toBe("seen 9 times, then the end ×4, and 2 more");
  expect(says(context({ total: 0 }))).toMatch(/^never seen/);
  expect(says(context({ unit: "words", successors: [], weight: 0 }))).toMatch(/knows better$/);
});

test("noise is rare, and said so", () => {
  expect(oneIn(0)).toBe("never");
  expect(oneIn(0.25)).toBe("1 in 4.0");
  expect(oneIn(40 / 2 ** 34)).toBe("1 in 430,000,000");
});

test("rows in use are counted, or about", () => {
  const slot = { unit: "tokens" as const, length: 2, table: "successors", rows: 12_000, cells: 15_000, exact: true, false_match: 1e-6 };
  expect(used(slot, 2 ** 34)).toBe("12,000 of 17,179,869,184");
  expect(used({ ...slot, exact: false }, 2 ** 34)).toMatch(/^about /);
  expect(used({ ...slot, table: "pairs" }, 2 ** 34)).toBe("12,000, one a token");
  expect(used({ ...slot, rows: null }, 2 ** 34)).toBe("not kept when frozen");
});
