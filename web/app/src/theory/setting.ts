import type { BoundSetting, Training, Truncation } from "@dpscope/wasm/calculators";
import type { State } from "../state/fields";
import { drawsSubsets, hasAdjacency, hasUses, truncates } from "../state/samplers";

export function settingOf(state: State): Training {
  const { noise_multiplier, steps, epochs } = state;
  const training = { noise_multiplier, steps, epochs };
  if (hasUses(state.sampler)) return accountedTraining(training, state.uses_per_epoch);
  if (!truncates(state.sampler)) return training;
  return { ...training, sampling_rate: state.batch_size / recordsOf(state) };
}

/** A training for the accountants: a record that k of T batches contain is sampled at the rate k/T. */
export function accountedTraining(
  { noise_multiplier, steps, epochs }: Training,
  uses_per_epoch: number | undefined,
): Training {
  const training = { noise_multiplier, steps, epochs };
  return uses_per_epoch === undefined
    ? training
    : { ...training, sampling_rate: uses_per_epoch / steps };
}

/** Records of the dataset: as entered, or those of an epoch. */
export function recordsOf({ dataset_size, steps, batch_size }: State): number {
  return dataset_size ?? steps * batch_size;
}

/** The sizes of truncated batches. */
export function truncationOf(state: State): Truncation | undefined {
  if (!truncates(state.sampler)) return undefined;
  return { dataset_size: recordsOf(state), max_batch_size: state.max_batch_size };
}

/** The neighbours of the bounds, where there is a choice. */
export function adjacencyOf({ sampler, adjacency }: State): State["adjacency"] | undefined {
  return hasAdjacency(sampler) ? adjacency : undefined;
}

/** The training alone, for bounds that depend on nothing else. */
export function trainingIn({ adjacency: _, truncation: __, ...training }: BoundSetting): Training {
  return training;
}

/** The training, with what bounds of uniform subsets depend on as well. */
export function boundSettingOf(state: State): BoundSetting {
  const [adjacency, truncation] = [adjacencyOf(state), truncationOf(state)];
  return {
    ...settingOf(state),
    ...(adjacency && { adjacency }),
    ...(truncation && { truncation }),
  };
}

/** Equal for states with the same theory; that of uniform subsets has lines of its own. */
export function keyOf(state: State): string {
  const { sampler, delta } = state;
  return JSON.stringify([boundSettingOf(state), delta, drawsSubsets(sampler) ? sampler : ""]);
}

export function pairKeyOf(state: State): string {
  return [keyOf(state), state.seed, state.significance].join(" ");
}
