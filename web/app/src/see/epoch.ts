import type { Epoch } from "@dpscope/wasm/studies";
import type { Sampler, State } from "../state/fields";
import { about } from "../state/samplers";

/** A record in a batch. */
export interface Member {
  record: number;
  batch: number;
  /** Place within the batch. */
  place: number;
}

export function membersOf(epoch: Epoch): Member[] {
  const members: Member[] = [];
  for (let batch = 0; batch + 1 < epoch.offsets.length; batch += 1) {
    const from = epoch.offsets[batch] ?? 0;
    const to = epoch.offsets[batch + 1] ?? from;
    for (let at = from; at < to; at += 1) {
      members.push({ record: epoch.batches[at] ?? 0, batch, place: at - from });
    }
  }
  return members;
}

export interface Drawing {
  sampler: Sampler;
  records: number;
  batch_size: number;
  steps: number;
  noise_multiplier: number;
  buffer_examples?: number;
  seed: string;
}

/** The parameters of a state; the buffer of a partial shuffle is two batches, so that blocks are visible. */
export function drawingOf(state: State): Drawing {
  const { see_sampler, see_steps, see_batch, see_noise, seed } = state;
  return {
    sampler: see_sampler,
    records: see_steps * see_batch,
    batch_size: see_batch,
    steps: see_steps,
    noise_multiplier: see_noise,
    ...(about(see_sampler).has_buffer ? { buffer_examples: 2 * see_batch } : {}),
    seed,
  };
}
