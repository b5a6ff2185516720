import { beforeEach, expect, test, vi } from "vitest";
import { refusal, json, serve } from "./server";

const stored = new Map<string, string>();
vi.stubGlobal("sessionStorage", {
  getItem: (name: string) => stored.get(name) ?? null,
  setItem: (name: string, value: string) => stored.set(name, value),
});
const { change, declined, given, question, readOnly } = await import("../src/state/key");
const { send } = await import("../src/api/client");
const { refresh } = await import("../src/state/memory");
const { complain, notice } = await import("../src/state/notice");

beforeEach(() => stored.clear());

const locked = () =>
  serve({
    stats: ({ authorization }) => (authorization ? json({}) : refusal(401, "a key is needed")),
    forget: refusal(403, "this key may only read", "read_only_key"),
  });

test("who closes the question is not asked again, until they want to be", async () => {
  locked();
  const first = send("stats");
  await expect.poll(() => question.value).not.toBeNull();
  question.value!.answer(null);
  await expect(first).rejects.toThrow("asks for a key");
  await expect(send("stats")).rejects.toThrow("asks for a key");
  expect([question.value, declined.value]).toEqual([null, true]);
  const asked = change();
  question.value!.answer("right");
  await asked;
  expect((await send("stats")).ok).toBe(true);
  expect([declined.value, given.value]).toEqual([false, true]);
});

test("that there was no key is no longer said once there is one", async () => {
  locked();
  const refused = send("stats").catch((error: unknown) => complain(error));
  await expect.poll(() => question.value).not.toBeNull();
  question.value!.answer(null);
  await refused;
  expect(notice.value?.text).toBe("This server asks for a key.");
  const asked = change();
  question.value!.answer("right");
  await asked;
  await send("stats");
  expect(notice.value).toBeNull();
});

test("what a key allows is known before anything is refused, and asked again for another one", async () => {
  stored.set("memo-key", "reader");
  const models = (permission: string) => json({ models: [], can_create: false, permission });
  serve({
    models: ({ authorization }) => models(authorization === "Bearer reader" ? "read" : "write"),
    stats: json({ transaction: 1, digest: "d", busy: false }),
  });
  await refresh();
  expect(readOnly.value).toBe(true);
  const asked = change();
  question.value!.answer("writer");
  await asked;
  await refresh();
  expect(readOnly.value).toBe(false);
});

test("a key that may only read is known once a change is refused, and can be changed", async () => {
  stored.set("memo-key", "reader");
  locked();
  await expect(send("forget", { json: {} })).rejects.toThrow("only read");
  expect(readOnly.value).toBe(true);
  const asked = change();
  question.value!.answer("writer");
  await asked;
  expect([readOnly.value, stored.get("memo-key")]).toEqual([false, "writer"]);
});
