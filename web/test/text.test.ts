import { beforeEach, expect, test, vi } from "vitest";
import { refresh } from "../src/state/memory";
import { before, busy, chosen, complete, failure, options, prompt, read, spoken, stale, stop } from "../src/state/text";
import { asked, candidate, choose, explanation, like, picked } from "../src/state/why";
import { json, refusal, serve, sse, stats } from "./server";

const token = (id: number, text: string) => ({ token: id, text, probability: 0.9, context_tokens: 1 });
const said = sse(
  ["token", token(1, " at")],
  ["token", token(2, " night")],
  ["done", { finish_reason: "end", tokens: 2, tokens_per_second: 9 }],
);

beforeEach(() => {
  prompt.value = "The owl reads";
});

test("tokens come after the prompt, in order", async () => {
  const questions = serve({ complete: said, stats: stats() });
  await complete();
  expect(questions[0]).toMatchObject({ path: "complete", body: { prompt: "The owl reads", stream: true, temperature: 0 } });
  expect(spoken.value?.tokens.map(({ text }) => text)).toEqual([" at", " night"]);
  expect(spoken.value?.done?.finish_reason).toBe("end");
  expect(before(spoken.value!, 1)).toBe("The owl reads at");
});

test("a failure in the middle keeps what was said, and says what went wrong", async () => {
  serve({
    complete: sse(["token", token(1, " at")], ["error", { error: { message: "The disk is gone.", code: null } }]),
    stats: stats(),
  });
  await complete();
  expect(spoken.value?.tokens).toHaveLength(1);
  expect(failure.value).toMatchObject({ message: "The disk is gone." });
  expect(busy.value).toBe(false);
});

test("stopping keeps what was said and is no failure", async () => {
  const endless = new ReadableStream({
    start: (body) => body.enqueue(new TextEncoder().encode(`event: token\ndata: ${JSON.stringify(token(1, " at"))}\n\n`)),
  });
  serve({ complete: () => new Response(endless), stats: stats() });
  void complete();
  await expect.poll(() => spoken.value?.tokens.length).toBe(1);
  stop();
  expect(busy.value).toBe(false);
  expect([spoken.value?.tokens.length, failure.value]).toEqual([1, null]);
});

test("a prompt that was put right is explained, and edited, as it was continued", async () => {
  const continued = { text: "The owl reads", tokens: [7, 8, 9], next: " at" };
  const questions = serve({
    // The prompt ended in a space: the first token is shown without its own.
    complete: sse(
      ["token", token(1, "at")],
      ["token", token(2, " night")],
      ["done", { finish_reason: "end", tokens: 2, tokens_per_second: 9, continued }],
    ),
    explain: json({ candidates: [] }),
    stats: stats(),
  });
  prompt.value = "the owl raeds ";
  await complete();
  const asks = async (index: number) => {
    const before = questions.length;
    choose(index);
    await expect.poll(() => questions.length).toBeGreaterThan(before);
    return (questions.at(-1)!.body as { prompt: unknown }).prompt;
  };
  expect(await asks(0)).toEqual([7, 8, 9]);
  expect(asked.value).toMatchObject({ prompt: "The owl reads", text: " at" });
  expect(await asks(1)).toEqual([7, 8, 9, 1]);
  expect(asked.value).toMatchObject({ prompt: "The owl reads at", text: " night" });
  // What is shown is what was typed.
  expect(before(spoken.value!, 1)).toBe("the owl raeds at");
});

test("what was drawn is explained with what the text says itself, as it was drawn", async () => {
  const questions = serve({ complete: said, explain: json({ candidates: [] }), stats: stats() });
  const recent = async (temperature: number) => {
    options.value = { ...options.value, temperature };
    await complete();
    choose(0);
    await expect.poll(() => questions.at(-1)?.path).toBe("explain");
    return (questions.at(-1)!.body as { recent?: number }).recent;
  };
  expect([await recent(0), await recent(1)]).toEqual([undefined, 1]);
  options.value = { ...options.value, temperature: 0 };
  chosen.value = null;
});

test("a text's own tokens can be looked at too", async () => {
  serve({ read: json({ tokens: [token(3, "The"), token(4, " owl")] }), stats: stats() });
  await read();
  expect(before(spoken.value!, 1)).toBe("The");
});

test("what was said is stale once the memory has changed", async () => {
  serve({ complete: said, stats: stats({ transaction: 7 }) });
  await refresh();
  await complete();
  expect(stale.value).toBeNull();
  serve({ stats: stats({ transaction: 8 }) });
  await refresh();
  expect(stale.value).toMatch(/changed since/);
});

test("a token is explained by what stands before it, and again when the memory changes", async () => {
  const explain = json({
    candidates: [
      { token: 9, text: " noon" },
      { token: 2, text: " night" },
    ],
  });
  const questions = serve({ complete: said, explain, stats: stats({ transaction: 1 }) });
  await refresh();
  await complete();
  choose(1);
  await expect.poll(() => explanation.value.value).not.toBeNull();
  expect(questions.find(({ path }) => path === "explain")?.body).toMatchObject({ prompt: "The owl reads at" });
  expect(candidate.value?.text).toBe(" night");
  picked.value = 9;
  expect(candidate.value?.text).toBe(" noon");

  const later = serve({ explain, stats: stats({ transaction: 2 }) });
  await refresh();
  expect(later.filter(({ path }) => path === "explain")).toHaveLength(1);
});

test("an explanation goes with the text it was of", async () => {
  serve({ complete: refusal(400, "no"), stats: stats() });
  await complete();
  expect([chosen.value, asked.value, explanation.value.value]).toEqual([null, null, null]);
});

test("what replaces a word gets the space that the word had", () => {
  expect(like(" seven", "noon")).toBe(" noon");
  expect(like(" seven", " noon")).toBe(" noon");
  expect(like("seven", "noon")).toBe("noon");
  expect(like(" seven", ", perhaps")).toBe(", perhaps");
});

test("a failure because nobody answered goes when the server is back", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
  await complete();
  expect(failure.value).toMatchObject({ status: 0 });
  serve({ stats: stats() });
  await refresh();
  expect(failure.value).toBeNull();
});
