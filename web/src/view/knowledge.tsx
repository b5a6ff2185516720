// What the memory knows by facts and by rules.

import type { KnowledgeTab } from "../state/place";
import { close, dialog } from "../state/place";
import { Facts } from "./facts";
import { Graphs } from "./graphs";
import { Dialog } from "./parts";
import { Rules } from "./rules";

const TABS: [KnowledgeTab, string][] = [
  ["facts", "Facts"],
  ["rules", "Rules"],
  ["graphs", "Graphs"],
];

export function Knowledge({ tab }: { tab: KnowledgeTab }) {
  return (
    <Dialog title="Knowledge" close={close} wide>
      <nav class="tabs" aria-label="Parts of knowledge">
        {TABS.map(([name, label]) => (
          <button key={name} aria-current={tab === name} onClick={() => (dialog.value = { kind: "knowledge", tab: name })}>
            {label}
          </button>
        ))}
      </nav>
      {tab === "facts" ? <Facts /> : tab === "rules" ? <Rules /> : <Graphs />}
    </Dialog>
  );
}
