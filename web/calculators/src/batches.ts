/** Fields of calculators: how batches are drawn. */

import { calculated, samplers } from "../../numbers/words.json";
import type { BatchSampler } from "./types";

export const sampler = {
  kind: "choice",
  label: "How batches are drawn",
  options: calculated.samplers as unknown as readonly (readonly [BatchSampler, string])[],
  initial: "shuffle",
  help: calculated.help,
} as const;

/** The samplers with a parameter. */
function samplersWith(parameter: string): string[] {
  const all = Object.entries(samplers);
  return all.filter(([, facts]) => facts.parameter === parameter).map(([name]) => name);
}

export const usesPerEpoch = {
  kind: "number",
  label: "Batches with a record, per epoch",
  symbol: "k",
  least: 1,
  most: 1e6,
  whole: true,
  initial: 1,
  help: "Each record is in k of the batches of each epoch",
  onlyFor: ["sampler", ...samplersWith("uses_per_epoch")],
} as const;

/** A number of records per batch, of truncated batches. */
function recordsPerBatch(label: string, symbol: string, initial: number, help: string) {
  return {
    kind: "number",
    label,
    symbol,
    least: 1,
    most: 1e6,
    whole: true,
    initial,
    help,
    onlyFor: ["sampler", ...samplersWith("max_batch_size")],
  } as const;
}

export const batchSize = recordsPerBatch(
  "Records per batch, on average",
  "B",
  100,
  "The mean before truncation; the steps times this many are the records",
);
export const maxBatchSize = recordsPerBatch(
  "Most records of a batch",
  "Bₘ",
  110,
  "Of more records that are drawn into a batch, a uniform subset is kept",
);
