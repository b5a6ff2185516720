// The models of a server that has several. Which one the page is about is in its address, so that it can be kept and shared.

import { signal } from "@preact/signals";
import { useModel } from "../api/client";
import * as memo from "../api/memo";
import type { Permission, ServedModels } from "../api/types";

export const served = signal<ServedModels | null>(null);

/** What may be done with them; null until the server has said so, and for a new key again. */
export const permission = signal<Permission | null>(null);

/** The model that the page is about; null where there is none, or no choice. */
export const chosen = signal<string | null>(null);

/** Looks which models there are and what may be done with them, and chooses the one of the address, or the first. */
export async function look(): Promise<void> {
  const { models, permission: allowed } = (served.value = await memo.models());
  permission.value = allowed;
  const first = models.length > 1 ? models[0]!.name : null;
  chosen.value = new URLSearchParams(location.search).get("model") ?? first;
  useModel(chosen.value);
}

/** Opens the page of another model. */
export const open = (name: string): void => location.assign(`?${new URLSearchParams({ model: name })}`);

export const create = async (name: string): Promise<void> => open((await memo.createModel(name)).name);
