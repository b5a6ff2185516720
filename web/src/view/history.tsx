// What was done to the model, newest first; most of it can be taken back.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import * as memo from "../api/memo";
import type { Transaction, TransactionList } from "../api/types";
import { count } from "../format";
import { useAnswer } from "../state/answer";
import { readOnly } from "../state/key";
import { refresh, transaction } from "../state/memory";
import { close, openDocument } from "../state/place";
import { Dialog, Failure, Pages, Time } from "./parts";

const LIMIT = 20;

export function History() {
  const offset = useSignal(0);
  const answer = useAnswer<TransactionList>();
  useEffect(() => void answer.ask(() => memo.transactions(LIMIT, offset.value)), [offset.value, transaction.value]);
  const found = answer.value.value;
  return (
    <Dialog title="History" close={close} wide>
      <p class="hint">Everything but forgetting can be rolled back, unless something later stands on it.</p>
      <Failure error={answer.error.value} />
      {found && <Log transactions={found.transactions} />}
      {found && (
        <Pages
          label="Pages of history"
          offset={offset.value}
          limit={LIMIT}
          total={found.total}
          turn={(to) => (offset.value = to)}
        />
      )}
    </Dialog>
  );
}

/** Transactions, of the whole model or of one document, whose name then needs no repeating. */
export function Log({ transactions, of }: { transactions: Transaction[]; of?: string }) {
  const change = useAnswer<unknown>();
  const rollBack = (id: number) => change.ask(() => memo.rollBack(id).then(refresh));
  return (
    <>
      <Failure error={change.error.value} />
      {transactions.length === 0 && <p class="hint">Nothing yet.</p>}
      <ol class="log" aria-label="Transactions">
        {transactions.map((transaction) => (
          <li key={transaction.id} class={transaction.undone_by ? "gone" : ""}>
            <span class="number">{transaction.id}</span>
            <div>
              <span class="name">
                {transaction.kind} <Names ids={transaction.changes.map(({ document }) => document).filter((id) => id !== of)} />
              </span>
              <span class="detail">
                <Time at={transaction.time} />
                {transaction.reason && ` · ${transaction.reason}`}
                {transaction.undoes !== null && ` · undoes ${transaction.undoes}`}
                {transaction.undone_by !== null && ` · undone by ${transaction.undone_by}`}
              </span>
            </div>
            {transaction.can_roll_back && (
              <button
                disabled={change.waiting.value || readOnly.value}
                aria-label={`Roll back transaction ${transaction.id}`}
                onClick={() => rollBack(transaction.id)}
              >
                Roll back
              </button>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}

/** More names than these would bury the rest. */
const FEW = 3;

function Names({ ids }: { ids: string[] }) {
  return (
    <>
      {ids.slice(0, FEW).map((id) => (
        <button class="link" key={id} onClick={() => openDocument(id)}>
          {id}
        </button>
      ))}
      {ids.length > FEW && ` and ${count(ids.length - FEW)} more`}
    </>
  );
}
