// Facts and rules: what is asked for and what is being written, asked again whenever the memory changes.

import { computed, effect, signal } from "@preact/signals";
import * as memo from "../api/memo";
import type { DerivationStep, Facts, RuleList, RulesPreview } from "../api/types";
import { Answer } from "./answer";
import { refresh, transaction } from "./memory";
import { say } from "./notice";
import { dialog } from "./place";

export const LIMIT = 50;

export const ANYTHING: memo.FactPattern = { subject: "", predicate: "", object: "" };

/** What facts are searched for; what is empty is anything. */
export const pattern = signal<memo.FactPattern>(ANYTHING);

export const facts = new Answer<Facts>();

export const rules = new Answer<RuleList>();

/** Why a fact that was chosen is known, by its statement. */
export const reason = signal<string | null>(null);
export const derivation = new Answer<DerivationStep[]>();

/** Rules that are being written, and what would follow from them. */
export const draft = signal({ id: "", text: "" });
export const preview = new Answer<RulesPreview>();

const open = computed(() => (dialog.value?.kind === "knowledge" ? dialog.value.tab : null));

/** Facts are searched, and rules tried, when their author pauses. */
const PAUSE = 300;

let searching: ReturnType<typeof setTimeout> | undefined;

effect(() => {
  const sought = pattern.value;
  const shown = open.value === "facts" && transaction.value !== null;
  clearTimeout(searching);
  if (shown) searching = setTimeout(() => void facts.ask(() => memo.facts(sought, LIMIT)), facts.value.peek() ? PAUSE : 0);
});

effect(() => {
  if (open.value === "rules" && transaction.value !== null) void rules.ask(memo.rules);
});

effect(() => {
  const statement = reason.value;
  void transaction.value;
  if (statement === null) derivation.clear();
  else void derivation.ask(async () => (await memo.why(statement)).steps);
});

let trying: ReturnType<typeof setTimeout> | undefined;

effect(() => {
  const { id, text } = draft.value;
  void transaction.value;
  clearTimeout(trying);
  if (text.trim() === "") preview.clear();
  else trying = setTimeout(() => void preview.ask(() => memo.previewRules(id.trim(), text)), PAUSE);
});

/** States a fact, which corrects what was said of its subject and predicate. */
export async function state(fact: memo.FactPattern): Promise<void> {
  await memo.stateFacts([fact]);
  say("Stated. What follows from it is known, too.");
  // The next one can be written meanwhile.
  void refresh();
}

/** Adds the rules that were written. */
export async function addRules(): Promise<void> {
  const { document, transaction } = await memo.addRules(draft.value.id.trim(), draft.value.text);
  draft.value = { id: "", text: "" };
  say(transaction === null ? `“${document}” was known already.` : `Added the rules of “${document}”.`);
  await refresh();
}
