// Forgetting a document for good: asks first, then shows the receipt.

import * as memo from "../api/memo";
import type { Receipt as Given } from "../api/types";
import { count, plural } from "../format";
import { useAnswer } from "../state/answer";
import { readOnly } from "../state/key";
import { refresh } from "../state/memory";
import { close, dialog, openDocument } from "../state/place";
import { Dialog, Digest, Failure, Time } from "./parts";

export function Forget({ id }: { id: string }) {
  const answer = useAnswer<Given>();
  const receipt = answer.value.value;
  const forget = () => answer.ask(() => memo.forget(id)).then(refresh);
  const change = useAnswer<void>();
  const retire = () =>
    change.ask(async () => {
      await memo.retire(id);
      await refresh();
      close();
    });
  const waiting = answer.waiting.value || change.waiting.value || readOnly.value;
  if (receipt) {
    return (
      <Dialog title="Forgotten" close={close} done>
        <Receipt receipt={receipt} />
        <div class="actions">
          <button onClick={() => (dialog.value = { kind: "prove", id })}>Prove it</button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={`Forget “${id}”?`} close={close}>
      <p>
        It is subtracted from the memory, and every byte of it is erased from the model: older versions and edits too.{" "}
        <strong>This cannot be undone.</strong>
      </p>
      <p class="hint">To take it out of the memory and keep the text, retire it instead.</p>
      <Failure error={answer.error.value ?? change.error.value} />
      <div class="actions">
        <button class="danger solid" disabled={waiting} onClick={forget}>
          {answer.waiting.value ? "Forgetting…" : "Forget for good"}
        </button>
        <button disabled={waiting} onClick={retire}>
          Retire instead
        </button>
        <button class="quiet" autofocus onClick={close}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}

export function Receipt({ receipt }: { receipt: Given }) {
  const { tokens, transaction, digest_after, forgotten, shared, lexicon_sources, copies } = receipt;
  return (
    <dl class="receipt" aria-label="Receipt">
      <dt>Forgot</dt>
      <dd>
        {receipt.documents.join(", ")}: {count(tokens)} {plural(tokens, "token")}, in transaction {transaction}
      </dd>
      <dt>Digest after</dt>
      <dd>
        <Digest value={digest_after} />
      </dd>
      <dt>Kept as proof</dt>
      <dd>
        {forgotten.map(({ document, version, digest }) => (
          <div key={`${document} ${version}`}>
            version {version}: keyed digest <Digest value={digest} />
          </div>
        ))}
      </dd>
      <dt>Still known by</dt>
      <dd>
        {shared.length === 0 && "No other document shares a passage with it."}
        {shared.map((id) => (
          <div key={id}>
            <button class="link" onClick={() => openDocument(id)}>
              {id}
            </button>{" "}
            shares a passage and keeps it.
          </div>
        ))}
      </dd>
      {lexicon_sources.length > 0 && (
        <>
          <dt>Lexicon</dt>
          <dd>
            It was induced from {lexicon_sources.join(", ")}, and still has which words stood together there, until the model is
            rebuilt with another.
          </dd>
        </>
      )}
      <dt>Copies</dt>
      <dd>
        {copies.length === 0 && "No copy of this model was made."}
        {copies.map(({ kind, path, time }) => (
          <div key={path + time}>
            {kind} <code>{path}</code>, <Time at={time} />: out of reach, it still holds the text.
          </div>
        ))}
      </dd>
    </dl>
  );
}
