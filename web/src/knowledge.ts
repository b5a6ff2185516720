// Facts, rules and derivations, in words for the page.

import type { DerivationStep, Fact, Rule, RulesPreview } from "./api/types";
import { count, plural } from "./format";

type Triple = Pick<Fact, "subject" | "predicate" | "object">;

/** A fact as the server writes it. */
export const asStatement = ({ subject, predicate, object }: Triple): string => `${subject} | ${predicate} | ${object}`;

/** Where a fact is from. */
export function origin({ documents, rule, count: times }: Pick<Fact, "documents" | "rule" | "count">): string {
  const where = documents.join(", ");
  const from = rule ? (where ? `found by ${rule} in ${where}` : `follows by ${rule}`) : where ? `stated in ${where}` : "in the memory";
  return times > 1 ? `${from}, ${count(times)} times` : from;
}

/** Why a step of a derivation holds. */
export function because({ rule, documents, sentence }: Pick<DerivationStep, "rule" | "documents" | "sentence">): string {
  const where = documents.join(", ");
  if (!rule) return `stated in ${where}`;
  return sentence ? `by ${rule}, from “${sentence}” in ${where}` : `by ${rule}`;
}

/** So much of facts and texts. */
function amount(facts: number, texts: number): string {
  const parts = [facts && `${count(facts)} ${plural(facts, "fact")}`, texts && `${count(texts)} ${plural(texts, "text")}`];
  return parts.filter(Boolean).join(" and ");
}

/** What follows by a rule. */
export const follows = ({ facts, texts }: Pick<Rule, "facts" | "texts">): string =>
  facts + texts > 0 ? `${amount(facts, texts)} ${plural(facts + texts, "follows", "follow")}` : "nothing follows";

/** What would be new with rules that are being written. */
export const wouldFollow = ({ facts, texts }: Pick<RulesPreview, "facts" | "texts">): string =>
  facts + texts > 0 ? `${amount(facts, texts)} would be new.` : "Nothing new would follow.";

/** Rules by the documents that hold them, in their order. */
export function byDocument(rules: Rule[]): [string, Rule[]][] {
  const documents = new Map<string, Rule[]>();
  for (const rule of rules) documents.set(rule.document, [...(documents.get(rule.document) ?? []), rule]);
  return [...documents];
}
