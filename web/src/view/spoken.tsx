// Tokens as text: each can be reached by mouse or arrow keys, and says how sure the memory is and how long a context knew it.

import { useLayoutEffect, useRef } from "preact/hooks";
import type { ClassifiedWord, Token as Said } from "../api/types";
import { wordsOf } from "../classes";
import { words } from "../state/lexicon";
import { memoryShare } from "../state/partner";
import { busy, chosen, stale, type Spoken as Saying } from "../state/text";
import { choose } from "../state/why";
import { summary } from "../summary";
import { STEPS as LENGTHS, thickness, title } from "../tint";
import { Classes, pointing, Prompt } from "./classes";
import { Closest } from "./closest";
import { MixtureLegend } from "./partner";
import { useRoving } from "./roving";

export function Spoken({ spoken: { prompt, tokens, done, again } }: { spoken: Saying }) {
  const { container, stop, at, keys } = useRoving(tokens.length, ".token", choose);
  const classed = wordsOf(
    tokens.map(({ text }) => text),
    words.value,
    [...prompt].length,
  );
  const caret = useFollowing(tokens.length);
  const click = (index: number) => {
    stop.value = index;
    choose(index);
  };
  return (
    <>
      <p class="spoken">
        {prompt && <Prompt text={prompt} />}
        <span ref={container} role="listbox" aria-label="Tokens" aria-orientation="horizontal" onKeyDown={keys}>
          {tokens.map((token, index) => (
            <Token
              key={index}
              token={token}
              chosen={chosen.value === index}
              stop={at === index}
              word={classed[index] ?? null}
              click={() => click(index)}
            />
          ))}
        </span>
        {busy.value && <span class="caret" ref={caret} aria-hidden="true" />}
      </p>
      <Classes />
      <p class="detail" role="status">
        {done && summary(done)}
      </p>
      {done?.closest && done.closest.length > 0 && <Closest passages={done.closest} />}
      {stale.value && (
        <p class="stale" role="status">
          {stale.value}
          <button class="link" onClick={again}>
            Again
          </button>
        </p>
      )}
      <Legend mixed={tokens.some(({ mixture }) => mixture)} />
    </>
  );
}

/** How far below the sight the text may have grown since it was followed last, in pixels. */
const NEAR = 160;

/** Keeps the end of a growing text in sight, unless the reader has scrolled away from it. */
function useFollowing(length: number) {
  const end = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const box = end.current?.closest("section")?.getBoundingClientRect();
    const below = box && end.current ? end.current.getBoundingClientRect().bottom - box.bottom : 0;
    // The legend covers the last lines.
    if (below > -NEAR / 2 && below < NEAR) end.current?.scrollIntoView({ block: "center" });
  }, [length]);
  return end;
}

interface TokenProps {
  token: Said;
  chosen: boolean;
  stop: boolean;
  /** The word with classes that it is part of. */
  word: ClassifiedWord | null;
  click: () => void;
}

function Token({ token, chosen, stop, word: known, click }: TokenProps) {
  const [, space = "", word = ""] = /^(\s*)(.*)$/s.exec(token.text) ?? [];
  const lines = !word && space.includes("\n");
  const pixels = thickness(token.context_tokens);
  const mixture = token.mixture;
  const share = mixture ? { "--share": `${memoryShare(mixture) * 100}%` } : {};
  return (
    <span
      class={known ? "token known" : "token"}
      role="option"
      aria-selected={chosen}
      tabIndex={stop ? 0 : -1}
      title={title(token)}
      onClick={click}
      {...pointing(known)}
    >
      {word && space}
      <span
        class={`tint${pixels ? "" : " unknown"}${mixture ? " mixed" : ""}`}
        style={{ "--sure": `${token.probability * 100}%`, "--reach": `${pixels}px`, ...share }}
      >
        {/* A line break alone has no body to tint: a sign stands for it. */}
        {word || (lines ? "↵" : space)}
      </span>
      {lines && space}
    </span>
  );
}

function Legend({ mixed }: { mixed: boolean }) {
  return (
    <div class="legend" aria-label="Legend" role="group">
      {mixed ? (
        <MixtureLegend />
      ) : (
        <span>
          guessing <i class="scale" /> sure
        </span>
      )}
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
