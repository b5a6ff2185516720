// Facts: searched from either end, explained, stated, corrected and forgotten.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { RefObject } from "preact";
import type { FactPattern } from "../api/memo";
import type { Fact } from "../api/types";
import { count, plural } from "../format";
import { asStatement, origin } from "../knowledge";
import { useAnswer } from "../state/answer";
import { readOnly } from "../state/key";
import { ANYTHING, derivation, facts, pattern, reason, state } from "../state/knowledge";
import { dialog } from "../state/place";
import { Derivation } from "./derivation";
import { Failure } from "./parts";

const PARTS: [keyof FactPattern, string][] = [
  ["subject", "Subject"],
  ["predicate", "Predicate"],
  ["object", "Object"],
];

export function Facts() {
  const stated = useSignal<FactPattern>(ANYTHING);
  const found = facts.value.value;
  const form = useRef<HTMLFormElement>(null);
  const correct = ({ subject, predicate, object }: Fact) => {
    stated.value = { subject, predicate, object };
    // What is to be corrected is the object, which may be out of sight.
    form.current?.querySelector<HTMLInputElement>("label:last-of-type input")?.focus();
  };
  return (
    <>
      <form class="triple" role="search" aria-label="Search facts" onSubmit={(event) => event.preventDefault()}>
        <Triple value={pattern.value} set={(value) => (pattern.value = value)} placeholder="anything" />
      </form>
      <Failure error={facts.error.value} />
      {found && (
        <p class="detail" role="status">
          {found.total === 0
            ? "No such fact is known."
            : found.total > found.facts.length
              ? `The first ${count(found.facts.length)} facts; there are more.`
              : `${count(found.total)} ${plural(found.total, "fact")}`}
        </p>
      )}
      <ul class="known" aria-label="Facts">
        {found?.facts.map((fact) => (
          <li key={asStatement(fact)}>
            <One fact={fact} correct={() => correct(fact)} />
          </li>
        ))}
      </ul>
      <Stating form={form} stated={stated.value} set={(value) => (stated.value = value)} />
    </>
  );
}

interface TripleProps {
  value: FactPattern;
  set: (value: FactPattern) => void;
  placeholder?: string;
}

function Triple({ value, set, placeholder = "" }: TripleProps) {
  return (
    <>
      {PARTS.map(([part, label]) => (
        <label key={part}>
          {label}
          <input
            value={value[part]}
            placeholder={placeholder}
            onInput={(event) => set({ ...value, [part]: event.currentTarget.value })}
          />
        </label>
      ))}
    </>
  );
}

function One({ fact, correct }: { fact: Fact; correct: () => void }) {
  const { subject, predicate, object, documents, rule } = fact;
  const statement = asStatement(fact);
  const shown = reason.value === statement;
  // What follows by rule is corrected and forgotten where it follows from.
  const own = documents.length > 0 && !rule;
  return (
    <>
      <span class="fact">
        <strong>{subject}</strong> <em>{predicate}</em> <strong>{object}</strong>
      </span>
      <span class="detail">
        {origin(fact)}
        {" · "}
        <button
          class="link"
          aria-expanded={shown}
          aria-label={`Why ${statement}`}
          onClick={() => (reason.value = shown ? null : statement)}
        >
          Why
        </button>
        {own && (
          <>
            {" · "}
            <button class="link" disabled={readOnly.value} aria-label={`Correct ${statement}`} onClick={correct}>
              Correct
            </button>
            {" · "}
            <button
              class="link danger"
              disabled={readOnly.value}
              aria-label={`Forget ${statement}`}
              onClick={() => (dialog.value = { kind: "forget-facts", pattern: { subject, predicate, object } })}
            >
              Forget…
            </button>
          </>
        )}
      </span>
      {shown && (
        <>
          <Failure error={derivation.error.value} />
          {derivation.value.value && <Derivation steps={derivation.value.value} />}
        </>
      )}
    </>
  );
}

interface StatingProps {
  form: RefObject<HTMLFormElement | null>;
  stated: FactPattern;
  set: (value: FactPattern) => void;
}

function Stating({ form, stated, set }: StatingProps) {
  const answer = useAnswer<boolean>();
  const ready = PARTS.every(([part]) => stated[part].trim() !== "");
  const submit = (event: Event) => {
    event.preventDefault();
    if (!ready || readOnly.value) return;
    void answer.ask(() => state(stated).then(() => true)).then((done) => done && set({ ...ANYTHING }));
  };
  return (
    <form ref={form} class="stating" aria-labelledby="stating" onSubmit={submit}>
      <h3 id="stating">State a fact</h3>
      <div class="triple">
        <Triple value={stated} set={set} />
      </div>
      <Failure error={answer.error.value} />
      <div class="actions">
        <button class="primary" disabled={!ready || readOnly.value || answer.waiting.value}>
          {answer.waiting.value ? "Stating…" : "State"}
        </button>
        <span class="hint">It takes the place of what graphs say of this subject and predicate.</span>
      </div>
    </form>
  );
}
