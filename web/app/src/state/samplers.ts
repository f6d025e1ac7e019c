import type { SamplerKind, ThreatModel } from "@dpscope/wasm/audits";
import { samplers as facts } from "../../../numbers/words.json";
import type { LineName } from "../numbers/lines";

export type { ThreatModel };
export type Sampler = SamplerKind;

interface Named {
  name: string;
  says: string;
  /** The lines of Explore, in the order of the table. */
  lines: readonly LineName[];
}

const CLAIM = ["poisson", "balls-in-bins"] as const;
const SHUFFLE = [...CLAIM, "shuffle-sum", "shuffle-max-slice"] as const;

/** Every sampler, in the order of the menus. */
const NAMES: Readonly<Record<Sampler, Named>> = {
  shuffle: {
    name: "Shuffle",
    says: "a new permutation in each epoch",
    lines: [...SHUFFLE, "pair-lower", "pair-estimate", "deterministic"],
  },
  "persistent-shuffle": {
    name: "Persistent shuffle",
    says: "one permutation for all epochs",
    lines: [...CLAIM, "persistent-shuffle", "deterministic"],
  },
  poisson: {
    name: "Poisson",
    says: "each record joins each batch independently, as accountants assume",
    lines: CLAIM,
  },
  "truncated-poisson": {
    name: "Truncated Poisson",
    says: "Poisson batches, of which at most a maximum number of records is kept",
    lines: ["poisson", "truncated-poisson-lower", "truncated-poisson"],
  },
  "fixed-size": {
    name: "Fixed size",
    says: "a new uniform subset of the records in each step",
    lines: ["poisson", "fixed-size-lower", "fixed-size"],
  },
  "random-allocation": {
    name: "Random allocation",
    says: "each record in k random batches of each epoch",
    lines: ["poisson", "random-allocation-lower", "random-allocation"],
  },
  "balls-in-bins": {
    name: "Balls-in-bins",
    says: "each record in one random batch of each epoch",
    lines: CLAIM,
  },
  deterministic: {
    name: "Deterministic",
    says: "always the same order",
    lines: [...CLAIM, "deterministic"],
  },
  "partial-shuffle": {
    name: "Partial shuffle",
    says: "shuffled within blocks of the buffer size",
    lines: [...CLAIM, "deterministic"],
  },
  "sliding-buffer": {
    name: "Sliding buffer",
    says: "a buffer that is sampled and refilled, like tf.data’s shuffle",
    lines: [...CLAIM, "deterministic"],
  },
  "batch-then-shuffle": {
    name: "Batch, then shuffle",
    says: "batches are formed first, then their order is shuffled",
    lines: [...SHUFFLE, "deterministic"],
  },
};

/** The name of any sampler. */
export function samplerName(sampler: Sampler): string {
  return NAMES[sampler].name;
}

interface AboutSampler extends Named {
  /** Its batches, within a sentence. */
  batches: string;
  /** The threat models of its audits, the default first. */
  threat_models: readonly ThreatModel[];
  needs_batch_size: boolean;
  has_buffer: boolean;
}

const FACTS = facts as unknown as Record<Sampler, Omit<AboutSampler, keyof Named>>;

export function about(sampler: Sampler): AboutSampler {
  return { ...NAMES[sampler], ...FACTS[sampler] };
}

/** Whether its batches are uniform subsets, which a bundle of its own accounts for. */
export function drawsSubsets(sampler: Sampler): boolean {
  return hasAdjacency(sampler) || sampler === "random-allocation";
}

/** Whether its bounds depend on what neighbours differ in. */
export function hasAdjacency(sampler: Sampler): boolean {
  return sampler === "fixed-size" || sampler === "truncated-poisson";
}

export const ALL = Object.keys(NAMES) as Sampler[];

/** Samplers as options of a field. */
export function samplers<S extends Sampler = Sampler>(
  values: readonly S[],
): (readonly [S, string])[] {
  return values.map((value) => [value, NAMES[value].name]);
}

export const THREAT_MODEL: Record<ThreatModel, { name: string; says: string }> = {
  "worst-case": { name: "Worst case", says: "the attacker chooses every record" },
  "partially-informed": {
    name: "Partially informed",
    says: "the attacker chooses one record of every batch",
  },
  "target-canary": { name: "Target canary", says: "the attacker chooses the target alone" },
};
