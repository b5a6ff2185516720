import { expect, test } from "vitest";
import { savedAs } from "../src/graphs";

test("a graph is saved under its own name, with the end of its format", () => {
  expect(savedAs("people.tsv", "turtle")).toBe("people.ttl");
  expect(savedAs("facts", "table")).toBe("facts.tsv");
  expect(savedAs("archive/v1.2", "json-ld")).toBe("archive-v1.2.jsonld");
});
