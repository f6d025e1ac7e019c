import type { SamplerKind, ThreatModel } from "@dpscope/wasm/audits";
import { samplers as facts } from "../../../numbers/words.json";

export type { ThreatModel };

/** The samplers that are simulated; the others are only accounted for. */
export type Sampler = Exclude<SamplerKind, "fixed-size" | "random-allocation">;

/** The samplers of `dpscope audit bgm`, in the order of the menu. */
const NAMES: Readonly<Record<Sampler, { name: string; says: string }>> = {
  shuffle: { name: "Shuffle", says: "a new permutation in each epoch" },
  "persistent-shuffle": { name: "Persistent shuffle", says: "one permutation for all epochs" },
  poisson: {
    name: "Poisson",
    says: "each record joins each batch independently, as accountants assume",
  },
  "balls-in-bins": {
    name: "Balls-in-bins",
    says: "each record in one random batch of each epoch",
  },
  deterministic: { name: "Deterministic", says: "always the same order" },
  "partial-shuffle": { name: "Partial shuffle", says: "shuffled within blocks of the buffer size" },
  "sliding-buffer": {
    name: "Sliding buffer",
    says: "a buffer that is sampled and refilled, like tf.data’s shuffle",
  },
  "batch-then-shuffle": {
    name: "Batch, then shuffle",
    says: "batches are formed first, then their order is shuffled",
  },
};

const ONLY_ACCOUNTED: Readonly<Record<Exclude<SamplerKind, Sampler>, { name: string }>> = {
  "fixed-size": { name: "Fixed size" },
  "random-allocation": { name: "Random allocation" },
};

/** The name of any sampler. */
export function samplerName(sampler: SamplerKind): string {
  return { ...NAMES, ...ONLY_ACCOUNTED }[sampler].name;
}

interface AboutSampler {
  name: string;
  says: string;
  /** Its batches, within a sentence. */
  batches: string;
  /** The threat models that it supports, the default first. */
  threat_models: readonly [ThreatModel, ...ThreatModel[]];
  needs_batch_size: boolean;
  has_buffer: boolean;
}

const FACTS = facts as unknown as Record<Sampler, Omit<AboutSampler, "name" | "says">>;

export function about(sampler: Sampler): AboutSampler {
  return { ...NAMES[sampler], ...FACTS[sampler] };
}

/** Samplers as options of a field. */
export function samplers<S extends Sampler = Sampler>(
  values = Object.keys(NAMES) as S[],
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
