import { beforeEach, expect, test } from "vitest";
import { refresh } from "../src/state/memory";
import { asking, memoryShare, mode } from "../src/state/partner";
import { complete, prompt, spoken, stale } from "../src/state/text";
import { serve, sse, stats } from "./server";

const partner = { model: "tiny", vocabulary: 267, context: 512, slots: 2 };
const mixture = { weight: 0.25, memory: 0.8, model: 0.2 };
const said = sse(
  ["token", { token: 1, text: " at", probability: 0.35, context_tokens: 1, mixture }],
  ["done", { finish_reason: "end", tokens: 1, tokens_per_second: 9 }],
);

beforeEach(() => {
  prompt.value = "The owl reads";
  mode.value = "both";
});

test("a token's colour is the memory's part of its probability", () => {
  expect(memoryShare(mixture)).toBeCloseTo(0.2 / (0.2 + 0.15));
  expect(memoryShare({ weight: 1, memory: 0.3, model: null })).toBe(1);
  expect(memoryShare({ weight: 0, memory: 0.3, model: 0.1 })).toBe(0);
  expect(memoryShare({ weight: 0.4, memory: 0, model: 0 })).toBe(0.4);
});

test("who answers is asked only where there is somebody else, and switching makes what was said stale", async () => {
  const alone = serve({ complete: said, stats: stats({ partner: null }) });
  await refresh();
  await complete();
  expect(alone.find(({ path }) => path === "complete")?.body).not.toHaveProperty("mode");
  const beside = serve({ complete: said, stats: stats({ partner }) });
  await refresh();
  await complete();
  expect(beside.find(({ path }) => path === "complete")?.body).toMatchObject({ mode: "both" });
  expect(spoken.value?.tokens[0]?.mixture).toEqual(mixture);
  expect(stale.value).toBeNull();
  mode.value = "memory";
  expect(asking.value).toEqual({ mode: "memory" });
  expect(stale.value).toBe("Who answers was switched since.");
});
