// Why something is known by rule: each step, and what it follows from below it, further in.

import type { DerivationStep } from "../api/types";
import { because } from "../knowledge";

export function Derivation({ steps }: { steps: DerivationStep[] }) {
  if (steps.length === 0) return <p class="hint">No graph and no rule says this.</p>;
  return (
    <ol class="derivation" aria-label="Derivation">
      {steps.map((step, index) => (
        <li key={index} style={{ "--depth": step.depth }}>
          <span>{step.statement}</span>
          <span class="detail" title={step.rule_text ?? ""}>
            {because(step)}
          </span>
        </li>
      ))}
    </ol>
  );
}
