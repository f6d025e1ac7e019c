/** Fields of calculators: how batches are drawn. */

export const sampler = {
  kind: "choice",
  label: "How batches are drawn",
  options: [
    ["shuffle", "Shuffle"],
    ["persistent-shuffle", "Persistent shuffle"],
    ["poisson", "Poisson"],
    ["balls-in-bins", "Balls-in-bins"],
    ["fixed-size", "Fixed size"],
    ["random-allocation", "Random allocation"],
    ["truncated-poisson", "Truncated Poisson"],
    ["deterministic", "Deterministic"],
  ],
  initial: "shuffle",
  help: "Shuffle: a new permutation in each epoch; persistent: one for all epochs; fixed size: a new uniform subset in each step; random allocation: each record in k batches of each epoch; truncated Poisson: Poisson batches, of which at most a maximum number of records is kept",
} as const;

export const usesPerEpoch = {
  kind: "number",
  label: "Batches with a record, per epoch",
  symbol: "k",
  least: 1,
  most: 1e6,
  whole: true,
  initial: 1,
  help: "k of random allocation: each record is in k of the batches of each epoch",
  onlyFor: ["sampler", "random-allocation"],
} as const;

/** A number of records per batch, of truncated Poisson batches. */
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
    onlyFor: ["sampler", "truncated-poisson"],
  } as const;
}

export const batchSize = recordsPerBatch(
  "Records per batch, on average",
  "B",
  100,
  "The mean of truncated Poisson batches; the steps times this many are the records",
);
export const maxBatchSize = recordsPerBatch(
  "Most records of a batch",
  "Bₘ",
  110,
  "Of more records that are drawn into a truncated Poisson batch, a uniform subset is kept",
);
