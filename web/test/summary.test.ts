import { expect, test } from "vitest";
import type { CompletionEnd, PromptMatch } from "../src/api/types";
import { summary } from "../src/summary";

const match = (parts: Partial<PromptMatch>): PromptMatch => ({
  kind: "verbatim",
  tokens: 3,
  of: 9,
  typed: null,
  remembered: null,
  ...parts,
});
const end = (parts: Partial<CompletionEnd>) =>
  summary({ tokens: 2, tokens_per_second: 900, finish_reason: "length", matched: match({}), ...parts } as CompletionEnd);

test("why a completion ended is said", () => {
  expect(end({})).toBe("2 tokens, 900 a second; there may be more.");
  expect(end({ finish_reason: "end" })).toBe("2 tokens, 900 a second; the text ended here.");
  expect(end({ finish_reason: "unknown" })).toMatch(/does not know how it goes on\.$/);
  expect(end({ finish_reason: "loop", matched: null })).toMatch(/began to repeat itself\.$/);
});

test("a prompt that is not in the memory as it is typed is not passed off as a quote", () => {
  expect(end({ matched: match({ kind: "near", typed: " cat", remembered: " owl" }) })).toMatch(
    /the memory has “owl” where you have “cat”\.$/,
  );
  expect(end({ matched: match({ kind: "near" }) })).toMatch(/another case or layout\.$/);
  const continued = { text: "The owl reads", tokens: [1, 2, 3], next: " at" };
  expect(end({ matched: match({ kind: "near" }), continued })).toMatch(/layout\. Continued: “The owl reads”\.$/);
  expect(end({ continued })).toBe("2 tokens, 900 a second; there may be more.");
  expect(end({ matched: match({ kind: "general" }) })).toMatch(/Only the last 3 of the prompt's 9 tokens are known/);
  expect(end({ tokens: 0, matched: match({ kind: "none" }) })).toMatch(/does not know this, and has nothing to say/);
});
