import { expect, test } from "vitest";
import { events, Parser } from "../src/api/events";

const STREAM = 'event: token\ndata: {"text":" a"}\n\n: a comment\nevent: done\ndata: one\ndata: two\n\n';
const EVENTS = [
  { name: "token", data: '{"text":" a"}' },
  { name: "done", data: "one\ntwo" },
];

test("events are whole however the text is cut", () => {
  for (let at = 0; at <= STREAM.length; at++) {
    const parser = new Parser();
    expect([...parser.push(STREAM.slice(0, at)), ...parser.push(STREAM.slice(at))]).toEqual(EVENTS);
  }
});

test("every kind of line end is one line end, also when cut in two", () => {
  for (const end of ["\r\n", "\r"]) {
    // A last \r waits for what follows: it may be half of \r\n.
    const text = `${STREAM.replaceAll("\n", end)}: more`;
    for (let at = 0; at <= text.length; at++) {
      const parser = new Parser();
      expect([...parser.push(text.slice(0, at)), ...parser.push(text.slice(at))]).toEqual(EVENTS);
    }
  }
});

test("an event without data is none, and one without a name is a message", () => {
  expect(new Parser().push("event: ping\n\ndata:x\n\n")).toEqual([{ name: "message", data: "x" }]);
});

test("a character cut between two chunks is read whole, and stopping early ends the request", async () => {
  const bytes = new TextEncoder().encode("data: é\n\ndata: second\n\n");
  let ended = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes.slice(0, 7));
      controller.enqueue(bytes.slice(7));
    },
    cancel() {
      ended = true;
    },
  });
  for await (const event of events(body)) {
    expect(event.data).toBe("é");
    break;
  }
  await expect.poll(() => ended).toBe(true);
});
