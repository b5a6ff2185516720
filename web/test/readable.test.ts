import { expect, test } from "vitest";
import { readable } from "../src/readable";

const file = (...parts: BlobPart[]) => readable(new File(parts, "given"));

test("a file that is no text is refused with what can be read", async () => {
  expect(await file("%PDF-1.7 …")).toMatch(/^This is a PDF\. MeMo reads text in UTF-8/);
  expect(await file(new Uint8Array([0x50, 0x4b, 3, 4, 20, 0]))).toMatch(/^This is a packed file/);
  expect(await readable(new File([new Uint8Array([0x50, 0x4b, 3, 4])], "Letter.DOCX"))).toBeNull();
  expect(await file(new Uint8Array([0xff, 0xfe, 65, 0]))).toMatch(/UTF-16/);
  expect(await file(new Uint8Array([65, 0, 66]))).toMatch(/^This is no text/);
});

test("text is not, in any script, nor an empty file", async () => {
  expect(await file("Грач читает. 読む 🦉")).toBeNull();
  expect(await file("PK is a name, %PDF too")).toBeNull();
  expect(await file()).toBeNull();
});
