// Prove it: forget a document, make a memory that never saw it, and compare the two.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import * as memo from "../api/memo";
import type { DocumentList, Proof as Given, Task } from "../api/types";
import { useAnswer } from "../state/answer";
import { refresh } from "../state/memory";
import { close } from "../state/place";
import { Receipt } from "./forget";
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
  const prove = async () => {
    await proof.ask(async () => memo.follow(await memo.prove(chosen.value), (at) => (task.value = at)));
    await refresh();
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
        The document is forgotten. Then a second memory is made from all the other documents, one that never saw it. If nothing of
        it is left, both have the same digest. <strong>It stays forgotten: this cannot be undone.</strong>
      </p>
      {id === null ? (
        <label>
          Document
          <select value={chosen.value} onChange={(event) => (chosen.value = event.currentTarget.value)}>
            <option value="">Choose one…</option>
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
        <button class="danger solid" disabled={!chosen.value || proof.waiting.value} onClick={prove}>
          {proof.waiting.value ? "Proving…" : "Forget it and prove it"}
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
  const { receipt, digest_before, digest_never_saw, equal } = proof;
  return (
    <>
      <p>
        {equal
          ? `“${receipt.documents.join(", ")}” is forgotten. The memory is now one that never saw it, bit for bit.`
          : "The memory differs from one that never saw it. This should never happen: please report it."}
      </p>
      <dl class={equal ? "proof equal" : "proof unequal"}>
        <dt>Before</dt>
        <dd>
          <Digest value={digest_before} whole />
        </dd>
        <dt>After forgetting</dt>
        <dd class="compared">
          <Digest value={receipt.digest_after} whole />
        </dd>
        <dt class="sign" aria-label={equal ? "equals" : "does not equal"}>
          {equal ? "=" : "≠"}
        </dt>
        <dd />
        <dt>Never saw it</dt>
        <dd class="compared">
          <Digest value={digest_never_saw} whole />
        </dd>
      </dl>
      <details>
        <summary>Receipt</summary>
        <Receipt receipt={receipt} />
      </details>
    </>
  );
}
