import { expect, test } from "vitest";
import { locate } from "../src/excerpt";

const excerpt = { before: "The ferry", match: " leaves at", token: " seven", after: " in the" };

test("the excerpt is found where its surroundings match, not where it first reads alike", () => {
  const text = "A train leaves at seven. The ferry leaves at seven in the morning.";
  const { before, mark, after, cut } = locate(text, excerpt);
  expect(before).toBe("A train leaves at seven. The ferry");
  expect(mark).toBe(" leaves at seven");
  expect(after).toBe(" in the morning.");
  expect(cut).toBe(false);
});

test("without a excerpt, or with one that is gone, the text is shown as it is", () => {
  for (const gone of [null, { ...excerpt, token: " nine" }])
    expect(locate("Some text.", gone)).toEqual({ before: "", mark: "", after: "Some text.", cut: false });
});

test("of a long text the part around the excerpt is shown", () => {
  const text = `${"x".repeat(500)}The ferry leaves at seven in the${"y".repeat(500)}`;
  const found = locate(text, excerpt, 100);
  expect(found.mark).toBe(" leaves at seven");
  expect(found.cut).toBe(true);
  expect(found.before.length + found.mark.length + found.after.length).toBe(100);
  expect(text).toContain(found.before + found.mark + found.after);
});
