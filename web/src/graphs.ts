// Files of facts: their formats, and what they are called.

/** Formats that graphs are saved in: their name for the server, for people, and the end of a file's name. */
export const FORMATS: [format: string, label: string, end: string][] = [
  ["turtle", "Turtle", "ttl"],
  ["n-triples", "N-Triples", "nt"],
  ["json-ld", "JSON-LD", "jsonld"],
  ["table", "Table", "tsv"],
];

/** Ends of the names of files that can be read. */
export const READ = ".ttl,.nt,.nq,.jsonld,.rdf,.owl,.tsv,.csv,.txt";

/** The name of a file that a graph is saved in. */
export function savedAs(id: string, format: string): string {
  const [, , end] = FORMATS.find(([name]) => name === format) ?? [];
  // A name may have folders, which a file's name cannot.
  const base = id.replace(/[/\\]/g, "-").replace(/\.(ttl|nt|nq|jsonld|rdf|owl|tsv|csv|txt)$/i, "");
  return `${base}.${end ?? "txt"}`;
}
