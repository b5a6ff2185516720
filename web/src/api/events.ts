// Server-sent events, read from a fetch: EventSource can neither POST nor send a key.

export interface Event {
  name: string;
  data: string;
}

/** Takes text as it arrives, in any pieces, and gives the events that are complete. */
export class Parser {
  private rest = "";
  private name = "";
  private data: string[] = [];

  push(text: string): Event[] {
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.line(line));
  }

  private line(line: string): Event[] {
    if (line === "") return this.flush();
    const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === "event") this.name = value;
    if (field === "data") this.data.push(value);
    return [];
  }

  private flush(): Event[] {
    const event = { name: this.name || "message", data: this.data.join("\n") };
    const empty = this.data.length === 0;
    this.name = "";
    this.data = [];
    return empty ? [] : [event];
  }
}

export async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<Event> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  const parser = new Parser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(value);
    }
  } finally {
    // A reader who stops early ends the request too. One that failed already has said so.
    reader.cancel().catch(() => {});
  }
}
