import { expect, test } from "vitest";
import type { SlotEvidence } from "../src/api/types";
import { after, followed, joined } from "../src/evidence";

const seen = (length: number, count: number, total: number, parts: Partial<SlotEvidence> = {}): SlotEvidence => ({
  unit: "tokens",
  length,
  from_start: false,
  count,
  total,
  ...parts,
});
const words = { unit: "words" } as const;
const start = { from_start: true };

test("contexts that say the same are said once, others apart", () => {
  const evidence = [seen(1, 3, 5), seen(2, 1, 1), seen(3, 1, 1), seen(4, 1, 1), seen(2, 1, 1, words), seen(4, 1, 1, words)];
  expect(joined(evidence).map(after)).toEqual([
    "after the last token",
    "after the last 2 to 4 tokens",
    "after the last 2 to 4 words, whatever their case",
  ]);
  expect(evidence[1]!.length).toBe(2);
});

test("the beginning of a document is told as such", () => {
  const evidence = [seen(2, 1, 1), seen(3, 1, 1, start), seen(1, 1, 1, start), seen(0, 2, 4, start)];
  expect(joined(evidence).map(after)).toEqual([
    "after the last 2 tokens",
    "after the first 3 tokens of a document",
    "after the first token of a document",
    "where a document begins",
  ]);
});

test("counts are said as people say them", () => {
  expect([seen(4, 1, 1), seen(4, 5, 5), seen(1, 1, 3), seen(1, 2, 1234)].map(followed)).toEqual([
    "seen once: always followed by this",
    "seen 5 times: always followed by this",
    "seen 3 times: followed by this once",
    "seen 1,234 times: followed by this 2 times",
  ]);
});
