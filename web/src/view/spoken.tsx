// Tokens as text: each can be reached by mouse or arrow keys, and says how sure the memory is and which layer spoke.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { CompletionEnd, Token as Said } from "../api/types";
import { count, plural } from "../format";
import { stats } from "../state/memory";
import { busy, chosen, stale, type Spoken as Saying } from "../state/text";
import { choose } from "../state/why";
import { thickness, title } from "../tint";

const STEPS: Record<string, (at: number, last: number) => number> = {
  ArrowLeft: (at) => at - 1,
  ArrowUp: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  ArrowDown: (at) => at + 1,
  Home: () => 0,
  End: (_, last) => last,
};

export function Spoken({ spoken: { prompt, tokens, done, again } }: { spoken: Saying }) {
  const list = useRef<HTMLSpanElement>(null);
  // Only one token is a stop for the Tab key; arrows go on from there.
  const stop = useSignal(0);
  const last = tokens.length - 1;
  const at = Math.min(stop.value, last);
  const layers = stats.value?.layers ?? 1;
  const keys = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (event.key === "Enter" || event.key === " ") choose(at);
    else if (step) stop.value = Math.max(0, Math.min(last, step(at, last)));
    else return;
    event.preventDefault();
    (list.current?.children[stop.value] as HTMLElement | undefined)?.focus();
  };
  const click = (index: number) => {
    stop.value = index;
    choose(index);
  };
  return (
    <>
      <p class="spoken">
        {prompt && <span class="prompt">{prompt}</span>}
        <span ref={list} role="listbox" aria-label="Tokens" aria-orientation="horizontal" onKeyDown={keys}>
          {tokens.map((token, index) => (
            <Token
              key={index}
              token={token}
              layers={layers}
              chosen={chosen.value === index}
              stop={at === index}
              click={() => click(index)}
            />
          ))}
        </span>
        {busy.value && <span class="caret" aria-hidden="true" />}
      </p>
      <p class="detail" role="status">
        {done && summary(done)}
      </p>
      {stale.value && (
        <p class="stale" role="status">
          The memory has changed since.
          <button class="link" onClick={again}>
            Again
          </button>
        </p>
      )}
      <Legend layers={layers} />
    </>
  );
}

function summary({ tokens, tokens_per_second, finish_reason }: CompletionEnd): string {
  if (tokens === 0) return "The memory has nothing to say after this.";
  return `${count(tokens)} ${plural(tokens, "token")}, ${count(tokens_per_second)} a second${finish_reason === "end" ? "; the text ended here" : ""}.`;
}

interface TokenProps {
  token: Said;
  layers: number;
  chosen: boolean;
  stop: boolean;
  click: () => void;
}

function Token({ token, layers, chosen, stop, click }: TokenProps) {
  const [, space = "", word = ""] = /^(\s*)(.*)$/s.exec(token.text) ?? [];
  const lines = !word && space.includes("\n");
  const pixels = thickness(token.layer, layers);
  return (
    <span class="token" role="option" aria-selected={chosen} tabIndex={stop ? 0 : -1} title={title(token)} onClick={click}>
      {word && space}
      <span
        class={pixels ? "tint" : "tint unknown"}
        style={{ "--sure": `${token.probability * 100}%`, "--layer": `${pixels}px` }}
      >
        {/* A line break alone has no body to tint: a sign stands for it. */}
        {word || (lines ? "↵" : space)}
      </span>
      {lines && space}
    </span>
  );
}

function Legend({ layers }: { layers: number }) {
  return (
    <div class="legend" aria-label="Legend" role="group">
      <span>
        guessing <i class="scale" /> sure
      </span>
      <span>
        layer
        {Array.from({ length: layers }, (_, index) => (
          <i class="layer" key={index} style={{ "--layer": `${thickness(index + 1, layers)}px` }}>
            {index + 1}
          </i>
        ))}
        <i class="layer unknown">none</i>
      </span>
    </div>
  );
}
