// Light or dark: as the system says, until the user says otherwise.

import { signal } from "@preact/signals";

export type Theme = "light" | "dark";

const STORED = "memo-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

const chosen = () => localStorage.getItem(STORED) as Theme | null;
const current = (): Theme => chosen() ?? (system.matches ? "dark" : "light");

export const theme = signal<Theme>(current());

function show(): void {
  theme.value = current();
  document.documentElement.dataset["theme"] = theme.value;
}

export function toggle(): void {
  localStorage.setItem(STORED, theme.value === "dark" ? "light" : "dark");
  show();
}

system.addEventListener("change", show);
show();
