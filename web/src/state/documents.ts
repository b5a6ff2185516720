// The list of documents: a page of what matches.

import { computed, effect, signal } from "@preact/signals";
import { isOver } from "../api/client";
import * as memo from "../api/memo";
import type { DocumentList, DocumentState, TextMatches } from "../api/types";
import { Answer } from "./answer";
import { transaction } from "./memory";

export const LIMIT = 50;

export const page = signal<memo.Page>({ search: "", state: "", limit: LIMIT, offset: 0 });

export const rows = new Answer<DocumentList>();

/** Where texts contain what is searched for. */
export const contents = new Answer<TextMatches>();

/** Shorter texts are almost everywhere. */
const SHORTEST = 3;

export function search(text: string): void {
  page.value = { ...page.value, search: text, offset: 0 };
}

export function show(state: DocumentState | ""): void {
  page.value = { ...page.value, state, offset: 0 };
}

export function turn(offset: number): void {
  page.value = { ...page.value, offset };
}

const sought = computed(() => page.value.search.trim());

effect(() => {
  const text = sought.value;
  if (transaction.value === null || text.length < SHORTEST) contents.clear();
  else void contents.ask(() => memo.find(text));
});

effect(() => {
  const asked = page.value;
  if (transaction.value !== null) void rows.ask(() => memo.documents(asked));
});

// What was asked while the server did not answer is asked again once it does.
effect(() => {
  if (isOver(rows.error.peek())) void rows.ask(() => memo.documents(page.peek()));
});

effect(() => {
  if (isOver(contents.error.peek())) void contents.ask(() => memo.find(sought.peek()));
});
