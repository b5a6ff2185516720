// Whether a file is text, before it is sent: the server would say at which byte it is not, which helps nobody.

const HEAD = 4096;

const KINDS: [RegExp, string][] = [
  [/^%PDF/, "a PDF"],
  [/^PK\x03\x04/, "a packed file, as Excel and zip make them"],
  [/^\x1f\x8b/, "a compressed file"],
  [/^(\x89PNG|\xff\xd8\xff|GIF8)/, "a picture"],
  [/^(\xff\xfe|\xfe\xff)/, "text in UTF-16"],
];

const ADVICE = "MeMo reads text in UTF-8 (.txt, .md, .csv, .jsonl, source code), web pages (.html) and Word documents (.docx). Save or convert it as such.";

/** Why a file cannot be read; null if nothing speaks against it. */
export async function readable(file: File): Promise<string | null> {
  // The server unpacks these.
  if (/\.docx$/i.test(file.name)) return null;
  const bytes = new Uint8Array(await file.slice(0, HEAD).arrayBuffer());
  const head = String.fromCharCode(...bytes);
  const [, kind] = KINDS.find(([start]) => start.test(head)) ?? [];
  if (kind) return `This is ${kind}. ${ADVICE}`;
  return bytes.includes(0) ? `This is no text. ${ADVICE}` : null;
}
