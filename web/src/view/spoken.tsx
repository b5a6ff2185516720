// Tokens as text: each can be reached by mouse or arrow keys, and says how sure the memory is and how long a context knew it.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Token as Said } from "../api/types";
import { busy, chosen, stale, type Spoken as Saying } from "../state/text";
import { choose } from "../state/why";
import { summary } from "../summary";
import { STEPS as LENGTHS, thickness, title } from "../tint";
import { Closest } from "./closest";

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
      {done?.closest && done.closest.length > 0 && <Closest passages={done.closest} />}
      {stale.value && (
        <p class="stale" role="status">
          The memory has changed since.
          <button class="link" onClick={again}>
            Again
          </button>
        </p>
      )}
      <Legend />
    </>
  );
}

interface TokenProps {
  token: Said;
  chosen: boolean;
  stop: boolean;
  click: () => void;
}

function Token({ token, chosen, stop, click }: TokenProps) {
  const [, space = "", word = ""] = /^(\s*)(.*)$/s.exec(token.text) ?? [];
  const lines = !word && space.includes("\n");
  const pixels = thickness(token.context_tokens);
  return (
    <span class="token" role="option" aria-selected={chosen} tabIndex={stop ? 0 : -1} title={title(token)} onClick={click}>
      {word && space}
      <span
        class={pixels ? "tint" : "tint unknown"}
        style={{ "--sure": `${token.probability * 100}%`, "--reach": `${pixels}px` }}
      >
        {/* A line break alone has no body to tint: a sign stands for it. */}
        {word || (lines ? "↵" : space)}
      </span>
      {lines && space}
    </span>
  );
}

function Legend() {
  return (
    <div class="legend" aria-label="Legend" role="group">
      <span>
        guessing <i class="scale" /> sure
      </span>
      <span>
        tokens of context
        {LENGTHS.map((length, index) => (
          <i class="reach" key={length} style={{ "--reach": `${thickness(length)}px` }}>
            {index === LENGTHS.length - 1 ? `${length}+` : length}
          </i>
        ))}
        <i class="reach unknown">none</i>
      </span>
    </div>
  );
}
