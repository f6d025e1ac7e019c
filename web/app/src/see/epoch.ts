import type { Epoch, EpochSize } from "@dpscope/wasm/studies";
import type { Failure } from "../../../protocol/protocol";
import type { Field, Sampler, State } from "../state/fields";
import { inputsOf, recordOf } from "../state/records";
import { hasAdjacency, hasUses, truncates } from "../state/samplers";
import { EPOCH } from "../state/see";
import type { Claimed } from "../theory/own-claim";
import { accountedTraining } from "../theory/setting";

/** A record in a batch. */
export interface Member {
  record: number;
  batch: number;
  /** Place within the batch. */
  place: number;
  /** Whether it was drawn into a truncated batch, and not kept. */
  isDropped: boolean;
}

/** The records of all batches; dropped ones begin a new row of two below those that are kept. */
export function membersOf(epoch: Epoch): Member[] {
  return [...epoch.offsets].slice(1).flatMap((_, batch) => {
    const kept = part(epoch.batches, epoch.offsets, batch);
    const dropped = part(epoch.dropped, epoch.dropped_offsets, batch);
    const below = 2 * Math.ceil(kept.length / 2);
    return [
      ...kept.map((record, place) => ({ record, batch, place, isDropped: false })),
      ...dropped.map((record, at) => ({ record, batch, place: below + at, isDropped: true })),
    ];
  });
}

function part(all: Uint32Array, offsets: Uint32Array, batch: number): number[] {
  return [...all.subarray(offsets[batch], offsets[batch + 1])];
}

export interface Drawing {
  sampler: Sampler;
  size: EpochSize;
  seed: string;
}

/** The parameters of a state; a buffer has two batches if its size is not stated, so that blocks are
 * visible. */
export function drawingOf(state: State): Drawing {
  const see_buffer = state.see_buffer ?? 2 * state.see_batch;
  return {
    sampler: state.see_sampler,
    size: recordOf({ ...state, see_buffer }, EPOCH),
    seed: state.seed,
  };
}

const { see_batch, see_buffer, see_uses, see_max_batch } = EPOCH;
/** The fields whose inputs may be refused because of others. */
const FIELD_OF = inputsOf({ see_batch, see_buffer, see_uses, see_max_batch });

/** The field of an input that was refused. */
export function refusedField(input: string | undefined): Field | undefined {
  return input === undefined ? undefined : FIELD_OF[input];
}

/** The message of a failure, with the input at its start as `label` calls it. */
export function refusalText({ field, message }: Failure, label: string): string {
  const isNamed = field !== undefined && message.startsWith(`${field} `);
  return isNamed ? `${label}${message.slice(field.length)}.` : `${message}.`;
}

/** What is claimed of one epoch. */
export function claimedOf(state: State, claim: number): Claimed {
  const { delta, significance, see_sampler: sampler, see_steps: steps } = state;
  const training = { noise_multiplier: state.see_noise, steps, epochs: 1 };
  const uses = hasUses(sampler) ? state.see_uses : undefined;
  const truncation = {
    dataset_size: steps * state.see_batch,
    max_batch_size: state.see_max_batch,
  };
  return {
    sampler,
    setting: {
      ...accountedTraining(training, uses),
      ...(hasAdjacency(sampler) ? { adjacency: "zero-out" } : {}),
      ...(truncates(sampler) ? { truncation } : {}),
    },
    delta,
    significance,
    claim,
  };
}
