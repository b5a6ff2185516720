// Correcting what follows a prompt, and taking that back.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { tail, word } from "../format";
import { useAnswer } from "../state/answer";
import { readOnly } from "../state/key";
import { edit, edited, like, undo } from "../state/why";
import { Failure } from "./parts";

export function EditForm({ prompt, token }: { prompt: string; token: string }) {
  const before = useSignal(prompt);
  const target = useSignal("");
  const answer = useAnswer<void>();
  const fold = useRef<HTMLDetailsElement>(null);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void answer.ask(async () => {
      await edit(before.value, like(token, target.value));
      target.value = "";
      if (fold.current) fold.current.open = false;
    });
  };
  // It is the last thing on the right, and would open out of sight.
  const shown = () => {
    if (!fold.current?.open) return;
    fold.current.scrollIntoView({ block: "nearest" });
    fold.current.querySelector("input")?.focus({ preventScroll: true });
  };
  return (
    <details class="edit" ref={fold} onToggle={shown}>
      <summary>Edit what follows</summary>
      <form onSubmit={submit}>
        <label>
          After
          <textarea rows={3} required value={before.value} onInput={(event) => (before.value = event.currentTarget.value)} />
        </label>
        <label>
          it should say
          <input
            required
            value={target.value}
            placeholder={token.trim()}
            onInput={(event) => (target.value = event.currentTarget.value)}
          />
        </label>
        <Failure error={answer.error.value} />
        <button class="primary" disabled={!target.value.trim() || answer.waiting.value || readOnly.value}>
          {answer.waiting.value ? "Editing…" : "Edit"}
        </button>
      </form>
    </details>
  );
}

/** The last edit, with a way back. */
export function Edited() {
  const answer = useAnswer<void>();
  const element = useRef<HTMLDivElement>(null);
  const last = edited.value;
  useEffect(() => element.current?.scrollIntoView({ block: "center" }), [last]);
  if (!last) return null;
  const { prompt, target, weight, transaction } = last;
  return (
    <div class="edited" role="status" ref={element}>
      <p>
        Edited: after “{tail(prompt, 40)}” comes <strong>“{word(target)}”</strong>{" "}
        <span class="detail">
          weight {weight}, transaction {transaction}
        </span>
      </p>
      <Failure error={answer.error.value} />
      <div class="actions">
        <button disabled={answer.waiting.value || readOnly.value} onClick={() => answer.ask(() => undo(transaction))}>
          Undo
        </button>
        <button class="quiet" onClick={() => (edited.value = null)}>
          Keep it
        </button>
      </div>
    </div>
  );
}
