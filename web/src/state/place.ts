// Where the user is: the section that a narrow screen shows, and the dialog that is open.

import { signal } from "@preact/signals";
import type { FactPattern } from "../api/memo";
import type { Excerpt } from "../api/types";

export type Section = "documents" | "text" | "why";

export const section = signal<Section>("text");

export type KnowledgeTab = "facts" | "rules" | "graphs";

export type Dialog =
  | { kind: "add" }
  | { kind: "new-model" }
  | { kind: "document"; id: string; version: number | null; excerpt: Excerpt | null }
  | { kind: "forget"; id: string }
  | { kind: "prove"; id: string | null }
  | { kind: "history" }
  | { kind: "inside" }
  | { kind: "knowledge"; tab: KnowledgeTab }
  | { kind: "forget-facts"; pattern: FactPattern };

export const dialog = signal<Dialog | null>(null);

export const close = () => {
  dialog.value = null;
};

export const openDocument = (id: string, version: number | null = null, excerpt: Excerpt | null = null) => {
  dialog.value = { kind: "document", id, version, excerpt };
};
