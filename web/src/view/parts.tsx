// Small parts that many views share.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { words } from "../api/client";
import { ago, count, short, visible } from "../format";
import { say } from "../state/notice";

const ICONS = {
  plus: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h10v11H9zM5 15V4h10",
  clock: "M12 7v5l3 2M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18",
  sun: "M12 8a4 4 0 1 0 0 8a4 4 0 0 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M19 5l-1.4 1.4M6.4 17.6L5 19",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4A8.5 8.5 0 1 0 20 14.5",
  graph: "M6 8a2.5 2.5 0 1 0 0-5a2.5 2.5 0 0 0 0 5M18 8a2.5 2.5 0 1 0 0-5a2.5 2.5 0 0 0 0 5M12 21a2.5 2.5 0 1 0 0-5a2.5 2.5 0 0 0 0 5M8.5 5.5h7M7.2 7.7l3.6 8.6M16.8 7.7l-3.6 8.6",
  layers: "M12 3l9 5l-9 5l-9-5zM3 12l9 5l9-5M3 16l9 5l9-5",
  left: "M15 5l-7 7l7 7",
  right: "M9 5l7 7l-7 7",
};

export function Icon({ name }: { name: keyof typeof ICONS }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={ICONS[name]} />
    </svg>
  );
}

interface DialogProps {
  title: string;
  close: () => void;
  wide?: boolean;
  /** A class of its own. */
  kind?: string;
  /** Whether all is said, and there is only a button to close it. */
  done?: boolean;
  children: ComponentChildren;
}

export function Dialog({ title, close, wide, kind = "", done, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      // As long as it is open, nothing outside can have the focus.
      dialog?.close();
      before?.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={wide ? "wide" : kind}
      aria-labelledby={heading}
      onCancel={(event) => (event.preventDefault(), close())}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        <button class="quiet icon-only" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      {children}
      {done && (
        <div class="actions">
          <button class="primary" autofocus onClick={close}>
            Done
          </button>
        </div>
      )}
    </dialog>
  );
}

export function Failure({ error, again }: { error: unknown; again?: (() => void) | undefined }) {
  if (!error) return null;
  return (
    <p class="failure" role="alert">
      {words(error)}
      {again && <button onClick={again}>Try again</button>}
    </p>
  );
}

export function Digest({ value, whole }: { value: string; whole?: boolean }) {
  const copy = () => navigator.clipboard.writeText(value).then(() => say("Digest copied."));
  return (
    <span class="digest">
      <code title={value}>{whole ? value : short(value)}</code>
      {/* The clipboard is there only on secure origins. */}
      {"clipboard" in navigator && (
        <button class="quiet icon-only" aria-label="Copy the digest" onClick={copy}>
          <Icon name="copy" />
        </button>
      )}
    </span>
  );
}

/** A token as a name. That a space belongs to it is seen, but not taken for a letter. */
export function Name({ text }: { text: string }) {
  const [, space, letters] = /^(·?)(.*)$/s.exec(visible(text)) ?? [];
  return (
    <span class="name">
      {space && (
        <span class="space" title="A space comes before it">
          {space}
        </span>
      )}
      {letters}
    </span>
  );
}

export function Time({ at }: { at: string }) {
  return <time title={at}>{ago(at)}</time>;
}

/** A share as a bar. What it says is said in words beside it. */
export function Bar({ share }: { share: number }) {
  return (
    <span class="bar" aria-hidden="true">
      <span style={{ width: `${Math.min(1, Math.max(0, share)) * 100}%` }} />
    </span>
  );
}

interface PagesProps {
  label: string;
  offset: number;
  limit: number;
  total: number;
  turn: (offset: number) => void;
}

/** Newer and older pages of a list; nothing when all of it fits. */
export function Pages({ label, offset, limit, total, turn }: PagesProps) {
  if (total <= limit) return null;
  const last = Math.min(offset + limit, total);
  return (
    <nav class="pages" aria-label={label}>
      <button
        class="quiet icon-only"
        aria-label="Newer"
        disabled={offset === 0}
        onClick={() => turn(Math.max(0, offset - limit))}
      >
        <Icon name="left" />
      </button>
      {count(offset + 1)}–{count(last)} of {count(total)}
      <button class="quiet icon-only" aria-label="Older" disabled={last === total} onClick={() => turn(offset + limit)}>
        <Icon name="right" />
      </button>
    </nav>
  );
}
