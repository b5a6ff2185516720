// Prove it: forget a document in a copy of the memory, make another that never saw it, and compare the two. Nothing changes.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import * as memo from "../api/memo";
import type { DocumentList, Proof as Given, Task } from "../api/types";
import { count, plural } from "../format";
import { useAnswer } from "../state/answer";
import { readOnly } from "../state/key";
import { close, dialog } from "../state/place";
import { Bar, Dialog, Digest, Failure } from "./parts";

const MOST = 200;

export function Prove({ id }: { id: string | null }) {
  const chosen = useSignal(id ?? "");
  const live = useAnswer<DocumentList>();
  const proof = useAnswer<Given>();
  const task = useSignal<Task | null>(null);
  useEffect(() => {
    if (id === null) void live.ask(() => memo.documents({ search: "", state: "live", limit: MOST, offset: 0 }));
  }, []);
  const prove = () => {
    const without = chosen.value ? [chosen.value] : [];
    void proof.ask(async () => memo.follow(await memo.prove(without), (at) => (task.value = at)));
  };
  const given = proof.value.value;
  if (given) {
    return (
      <Dialog title={given.equal ? "Proved" : "Not equal"} close={close} wide done>
        <Proof proof={given} />
      </Dialog>
    );
  }
  return (
    <Dialog title="Prove that it forgets" close={close}>
      <p>
        The document is forgotten in a copy of the memory. A second memory is made from all the other documents, one that never saw
        it. If nothing of it is left, both have the same digest. <strong>Your memory stays as it is.</strong>
      </p>
      {id === null ? (
        <label>
          Document
          <select value={chosen.value} onChange={(event) => (chosen.value = event.currentTarget.value)}>
            <option value="">None: the memory as it is</option>
            {live.value.value?.documents.map((row) => (
              <option key={row.id}>{row.id}</option>
            ))}
          </select>
        </label>
      ) : (
        <p>
          Document: <strong>{id}</strong>
        </p>
      )}
      <Failure error={live.error.value ?? proof.error.value} />
      {proof.waiting.value && <Progress task={task.value} />}
      <div class="actions">
        <button class="primary" disabled={proof.waiting.value} onClick={prove}>
          {proof.waiting.value ? "Proving…" : "Prove it"}
        </button>
        {!proof.waiting.value && (
          <button class="quiet" onClick={close}>
            Cancel
          </button>
        )}
      </div>
    </Dialog>
  );
}

function Progress({ task }: { task: Task | null }) {
  return (
    <p class="progress" role="status">
      <Bar share={task?.total ? task.done / task.total : 0} />
      <span class="detail">{task?.stage ?? "starting"}</span>
    </p>
  );
}

function Proof({ proof }: { proof: Given }) {
  const { without, documents, digest, digest_after, digest_never_saw, equal } = proof;
  const [id] = without;
  // Whether it is still in the memory, and was forgotten in a copy.
  const rehearsed = digest !== digest_after;
  return (
    <>
      <p>
        {!equal
          ? "The memory differs from one made of its documents. Rebuilding makes it anew; please report this."
          : id === undefined
            ? "The memory is one made anew from its documents, bit for bit."
            : rehearsed
              ? `With “${id}” forgotten, the memory is one that never saw it, bit for bit. Nothing was changed.`
              : `The memory is one that never saw “${id}”, bit for bit.`}
      </p>
      <dl class={equal ? "proof equal" : "proof unequal"}>
        {rehearsed && (
          <>
            <dt>The memory</dt>
            <dd>
              <Digest value={digest} whole />
            </dd>
          </>
        )}
        <dt>{rehearsed ? "With it forgotten" : "The memory"}</dt>
        <dd class="compared">
          <Digest value={digest_after} whole />
        </dd>
        <dt class="sign" aria-label={equal ? "equals" : "does not equal"}>
          {equal ? "=" : "≠"}
        </dt>
        <dd />
        <dt>{id === undefined ? "Made anew" : "Never saw it"}</dt>
        <dd class="compared">
          <Digest value={digest_never_saw} whole />
        </dd>
      </dl>
      <p class="hint">
        The second memory was made of {count(documents)} {plural(documents, "document")}.
      </p>
      {id !== undefined && rehearsed && (
        <div class="actions">
          <button class="danger" disabled={readOnly.value} onClick={() => (dialog.value = { kind: "forget", id })}>
            Forget it for good…
          </button>
        </div>
      )}
    </>
  );
}
