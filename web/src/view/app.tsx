// One screen: documents, text, reason; the memory on top.

import { reachable } from "../api/client";
import { change, readOnly } from "../state/key";
import { refresh } from "../state/memory";
import { dismiss, notice } from "../state/notice";
import { dialog, section, type Dialog, type Section } from "../state/place";
import { Add, Drop } from "./add";
import { Document } from "./document";
import { Documents } from "./documents";
import { Forget } from "./forget";
import { ForgetFacts } from "./forget_facts";
import { Header } from "./header";
import { History } from "./history";
import { Inside } from "./inside";
import { Key } from "./key";
import { Knowledge } from "./knowledge";
import { NewModel } from "./models";
import { Icon } from "./parts";
import { Prove } from "./prove";
import { Text } from "./text";
import { Why } from "./why";

const SECTIONS: [Section, string][] = [
  ["documents", "Documents"],
  ["text", "Text"],
  ["why", "Why"],
];

export function App() {
  return (
    <>
      <Header />
      {!reachable.value ? <Unreachable /> : readOnly.value && <ReadOnly />}
      <main data-section={section.value}>
        <Documents />
        <Text />
        <Why />
      </main>
      <nav class="sections" aria-label="Sections">
        {SECTIONS.map(([name, label]) => (
          <button key={name} aria-current={section.value === name} onClick={() => (section.value = name)}>
            {label}
          </button>
        ))}
      </nav>
      <Notice />
      {dialog.value && <Opened dialog={dialog.value} />}
      <Key />
      <Drop />
    </>
  );
}

function Opened({ dialog }: { dialog: Dialog }) {
  switch (dialog.kind) {
    case "add":
      return <Add />;
    case "new-model":
      return <NewModel />;
    case "document":
      return <Document key={dialog.id} {...dialog} />;
    case "forget":
      return <Forget id={dialog.id} />;
    case "prove":
      return <Prove id={dialog.id} />;
    case "history":
      return <History />;
    case "inside":
      return <Inside />;
    case "knowledge":
      return <Knowledge tab={dialog.tab} />;
    case "forget-facts":
      return <ForgetFacts pattern={dialog.pattern} />;
  }
}

function Unreachable() {
  return (
    <div class="banner" role="alert">
      The server does not answer. Nothing is lost; the page goes on when it is back.
      <button onClick={refresh}>Try again</button>
    </div>
  );
}

function ReadOnly() {
  return (
    <div class="banner" role="status">
      This key may read the memory, but not change it.
      <button onClick={() => change().then(refresh, () => {})}>Use another key</button>
    </div>
  );
}

function Notice() {
  const said = notice.value;
  return (
    <div class="notices" role="status" aria-live="polite">
      {said && (
        <div class={`notice ${said.tone}`}>
          {said.text}
          <button class="quiet icon-only" aria-label="Dismiss" onClick={dismiss}>
            <Icon name="close" />
          </button>
        </div>
      )}
    </div>
  );
}
