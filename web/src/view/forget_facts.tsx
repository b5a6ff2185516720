// Forgetting a fact for good: shows what would go, asks, then shows the receipt.

import { useEffect } from "preact/hooks";
import * as memo from "../api/memo";
import type { ForgetPreview, Receipt as Given } from "../api/types";
import { count, plural } from "../format";
import { asStatement } from "../knowledge";
import { useAnswer } from "../state/answer";
import { readOnly } from "../state/key";
import { refresh } from "../state/memory";
import { dialog } from "../state/place";
import { Receipt } from "./forget";
import { Dialog, Failure } from "./parts";

const back = () => {
  dialog.value = { kind: "knowledge", tab: "facts" };
};

export function ForgetFacts({ pattern }: { pattern: memo.FactPattern }) {
  const preview = useAnswer<ForgetPreview>();
  const answer = useAnswer<Given>();
  useEffect(() => void preview.ask(() => memo.previewForgetFacts(pattern)), []);
  const forget = () => answer.ask(() => memo.forgetFacts(pattern)).then(refresh);
  const [shown, receipt] = [preview.value.value, answer.value.value];
  if (receipt) {
    return (
      <Dialog title="Forgotten" close={back} done>
        <Receipt receipt={receipt} />
      </Dialog>
    );
  }
  return (
    <Dialog title="Forget this fact?" close={back}>
      <p>
        <strong>{asStatement(pattern)}</strong>
      </p>
      {shown && (
        <ul class="known" aria-label="What would go">
          {shown.documents.map(({ document, places, whole }) => (
            <li key={document}>
              <span>{document}</span>
              <span class="detail">
                {whole ? "nothing of it would be left" : `${count(places)} ${plural(places, "fact")} would go`}
              </span>
            </li>
          ))}
        </ul>
      )}
      <p>
        It leaves every graph that states it, older versions too, and what follows from it goes with it.{" "}
        <strong>This cannot be undone.</strong>
      </p>
      <Failure error={preview.error.value ?? answer.error.value} />
      <div class="actions">
        <button class="danger solid" disabled={!shown || answer.waiting.value || readOnly.value} onClick={forget}>
          {answer.waiting.value ? "Forgetting…" : "Forget for good"}
        </button>
        <button class="quiet" autofocus onClick={back}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
