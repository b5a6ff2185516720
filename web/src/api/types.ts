// What the server says and is told, as it stands on the wire.

export interface Stats {
  model: string;
  engine: "sparse" | "dense";
  tokenizer: string;
  heads: number;
  layers: number;
  bytes: number;
  cell_bytes: number;
  table_bytes: number;
  documents: number;
  tokens: number;
  /** 1 is full; null for an engine that does not know. */
  load: number | null;
  predicted_recall: number | null;
  transaction: number;
  /** Null until someone asked for it in this state. */
  digest: string | null;
  busy: boolean;
}

export type State = "live" | "retired" | "forgotten" | "rolled back";

export interface Row {
  id: string;
  state: State;
  version: number | null;
  versions: number;
  tokens: number;
  labels: Record<string, string>;
  time: string;
  kind: "text" | "edit";
}

export interface Rows {
  documents: Row[];
  total: number;
}

export interface Version {
  number: number;
  time: string;
  tokens: number;
  transaction: number;
  kind: "text" | "edit";
  forgotten: number | null;
}

export interface Document {
  id: string;
  state: State;
  version: number | null;
  labels: Record<string, string>;
  versions: Version[];
  text: string | null;
}

export interface Transaction {
  id: number;
  time: string;
  kind: string;
  reason: string | null;
  documents: string[];
  undoes: number | null;
  undone_by: number | null;
  can_roll_back: boolean;
}

export interface Transactions {
  transactions: Transaction[];
  total: number;
}

export interface Memorized {
  documents: number;
  tokens: number;
  seconds: number;
  added: string[];
  updated: string[];
  unchanged: string[];
}

export interface Receipt {
  documents: string[];
  tokens: number;
  transaction: number;
  digest_after: string;
  forgotten: { document: string; version: number; digest: string }[];
  /** Live documents that share a passage and still know it. */
  shared: string[];
  copies: { kind: string; path: string; time: string }[];
}

export interface Proof {
  receipt: Receipt;
  digest_before: string;
  digest_after: string;
  digest_never_saw: string;
  equal: boolean;
}

export interface Token {
  token: number;
  text: string;
  probability: number;
  /** Of the longest context that knew the token; null when only the prior did. */
  layer: number | null;
  context_tokens: number | null;
}

export interface Done {
  ended: boolean;
  tokens: number;
  tokens_per_second: number;
}

export interface Evidence {
  layer: number;
  /** From 0, the newest. */
  head: number;
  context_tokens: number;
  count: number;
  noise: number;
  total: number;
}

export interface Passage {
  before: string;
  match: string;
  token: string;
  after: string;
}

export interface Source {
  document: string;
  version: number;
  match_tokens: number;
  passage: Passage;
}

export interface Candidate {
  token: number;
  text: string;
  probability: number;
  evidence: Evidence[];
  sources: Source[];
}

export interface Explanation {
  candidates: Candidate[];
}

export interface Edited {
  /** Null: it said so already. */
  transaction: number | null;
  document: string | null;
  weight: number;
}

export interface Failure {
  message: string;
  code: string | null;
}

export interface Task<Result = unknown> {
  id: string;
  kind: string;
  state: "queued" | "running" | "done" | "failed" | "cancelled";
  what: string;
  done: number;
  whole: number;
  result: Result | null;
  error: Failure | null;
}
