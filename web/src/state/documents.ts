// The list of documents: a page of what matches.

import { effect, signal } from "@preact/signals";
import * as memo from "../api/memo";
import type { DocumentList, DocumentState } from "../api/types";
import { Answer } from "./answer";
import { transaction } from "./memory";

export const LIMIT = 50;

export const page = signal<memo.Page>({ search: "", state: "", limit: LIMIT, offset: 0 });

export const rows = new Answer<DocumentList>();

export function search(text: string): void {
  page.value = { ...page.value, search: text, offset: 0 };
}

export function show(state: DocumentState | ""): void {
  page.value = { ...page.value, state, offset: 0 };
}

export function turn(offset: number): void {
  page.value = { ...page.value, offset };
}

effect(() => {
  const asked = page.value;
  if (transaction.value !== null) void rows.ask(() => memo.documents(asked));
});
