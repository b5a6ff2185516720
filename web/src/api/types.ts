// What the server answers: the types of its OpenAPI document, from which `npm run check` generates `schema.d.ts`.

import type { components } from "./schema";

/** In answers every field is there, if only as null. */
type Present<T> = T extends object ? { [Field in keyof T]-?: Present<T[Field]> } : T;

type Schemas = Present<components["schemas"]>;

export type AddedGraph = Schemas["AddedGraph"];
export type AddedRules = Schemas["AddedRules"];
export type Breakdown = Schemas["Breakdown"];
export type Candidate = Schemas["Candidate"];
export type CandidateShares = Schemas["CandidateShares"];
export type ChangeReport = Schemas["ChangeReport"];
export type ClassifiedText = Schemas["ClassifiedText"];
export type ClassifiedWord = Schemas["ClassifiedWord"];
export type ClassMembers = Schemas["ClassMembers"];
export type CompletionEnd = Schemas["CompletionEnd"];
export type ContextBreakdown = Schemas["ContextBreakdown"];
export type Derivation = Schemas["Derivation"];
export type DerivationStep = Schemas["DerivationStep"];
export type DigestReport = Schemas["DigestReport"];
export type Document = Schemas["Document"];
export type DocumentList = Schemas["DocumentList"];
export type DocumentMatches = Schemas["DocumentMatches"];
export type DocumentState = Schemas["DocumentState"];
export type DocumentText = Schemas["DocumentText"];
export type EditReport = Schemas["EditReport"];
export type ErrorDetail = Schemas["ErrorDetail"];
export type Excerpt = Schemas["Excerpt"];
export type Explanation = Schemas["ExplanationBeside"];
export type ExportedGraph = Schemas["ExportedGraph"];
export type Fact = Schemas["Fact"];
export type Facts = Schemas["Facts"];
export type ForgetPreview = Schemas["ForgetPreview"];
export type GeneralCandidate = Schemas["GeneralCandidate"];
export type GeneralSource = Schemas["GeneralSource"];
export type GraphList = Schemas["GraphList"];
export type GraphStats = Schemas["GraphStats"];
export type MemorizeReport = Schemas["MemorizeReport"];
export type MemoryFill = Schemas["MemoryFill"];
export type MixtureShares = Schemas["MixtureShares"];
export type PartnerCandidate = Schemas["PartnerCandidate"];
export type PartnerExplanation = Schemas["PartnerExplanation"];
export type Passage = Schemas["Passage"];
export type Permission = Schemas["Permission"];
export type PromptMatch = Schemas["PromptMatch"];
export type Proof = Schemas["Proof"];
export type Receipt = Schemas["Receipt"];
export type Rule = Schemas["Rule"];
export type RuleList = Schemas["RuleList"];
export type RulesPreview = Schemas["RulesPreview"];
export type ServedModel = Schemas["ServedModel"];
export type ServedModels = Schemas["ServedModels"];
export type SlotEvidence = Schemas["SlotEvidence"];
export type SlotStats = Schemas["SlotStats"];
export type Source = Schemas["Source"];
export type Stats = Schemas["ModelStats"];
export type TaskList = Schemas["TaskList"];
export type TextMatches = Schemas["TextMatches"];
export type TokenList = { tokens: Token[] };
export type Transaction = Schemas["Transaction"];
export type TransactionList = Schemas["TransactionList"];
export type WordClass = Schemas["WordClass"];

/** A token of the native API, which always has its probability. */
export type Token = Schemas["CompletionToken"] & { probability: number };

/** A task whose result is known by what began it. */
export type Task<Result = unknown> = Omit<Schemas["Task"], "result"> & { result: Result | null };
