export type ThreatModel = "worst-case" | "partially-informed" | "target-canary";

interface AboutSampler {
  name: string;
  says: string;
  /** The threat models it can be audited under, the default one first. */
  threatModels: readonly [ThreatModel, ...ThreatModel[]];
  needsBatchSize: boolean;
  hasBuffer: boolean;
}

const ALL: AboutSampler["threatModels"] = ["worst-case", "partially-informed", "target-canary"];
const plain = { threatModels: ALL, needsBatchSize: false, hasBuffer: false };
const buffered = { threatModels: ALL, needsBatchSize: true, hasBuffer: true };

/** As `dpscope audit bgm` has them; the bundle refuses what is not defined. */
const ALL_SAMPLERS = {
  shuffle: { name: "Shuffle", says: "a fresh permutation each epoch", ...plain },
  "persistent-shuffle": {
    name: "Persistent shuffle",
    says: "one permutation for all epochs",
    ...plain,
  },
  poisson: {
    name: "Poisson",
    says: "each record in each batch independently: what accountants assume",
    ...plain,
    threatModels: ["target-canary"],
  },
  "balls-in-bins": {
    name: "Balls-in-bins",
    says: "each record in one random batch of each epoch",
    ...plain,
    threatModels: ["target-canary"],
  },
  deterministic: { name: "Deterministic", says: "the same order, always", ...plain },
  "partial-shuffle": {
    name: "Partial shuffle",
    says: "blocks of a buffer’s size are shuffled",
    ...buffered,
  },
  "sliding-buffer": {
    name: "Sliding buffer",
    says: "a reservoir that is drawn from and refilled, as tf.data’s shuffle",
    ...buffered,
  },
  "batch-then-shuffle": {
    name: "Batch, then shuffle",
    says: "batches are formed first, then their order is shuffled",
    ...plain,
    threatModels: ["worst-case"],
    needsBatchSize: true,
  },
} as const satisfies Record<string, AboutSampler>;

export type Sampler = keyof typeof ALL_SAMPLERS;
export const SAMPLER: Record<Sampler, AboutSampler> = ALL_SAMPLERS;

/** Samplers as options of a field. */
export function samplers<S extends Sampler = Sampler>(
  values = Object.keys(SAMPLER) as S[],
): (readonly [S, string])[] {
  return values.map((value) => [value, SAMPLER[value].name]);
}

export const THREAT_MODEL: Record<ThreatModel, { name: string; says: string }> = {
  "worst-case": { name: "Worst case", says: "the attacker chooses every record" },
  "partially-informed": {
    name: "Partially informed",
    says: "the attacker chooses one record of every batch",
  },
  "target-canary": { name: "Target canary", says: "the attacker chooses the target alone" },
};
