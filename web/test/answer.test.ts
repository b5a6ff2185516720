import { expect, test } from "vitest";
import { Answer } from "../src/state/answer";

test("only the answer to the last question counts", async () => {
  const answer = new Answer<string>();
  let late = (_: string) => {};
  const first = answer.ask(() => new Promise<string>((resolve) => (late = resolve)));
  await answer.ask(async () => "second");
  late("first");
  await first;
  expect(answer.value.value).toBe("second");
  expect(answer.waiting.value).toBe(false);
});

test("a failure keeps what was there and can be asked again", async () => {
  const answer = new Answer<number>();
  await answer.ask(async () => 1);
  expect(await answer.ask(() => Promise.reject(new Error("no")))).toBeNull();
  expect(answer.value.value).toBe(1);
  expect(answer.error.value).toEqual(new Error("no"));
  await answer.ask(async () => 2);
  expect([answer.value.value, answer.error.value]).toEqual([2, null]);
});
