export type ThreatModel = "worst-case" | "partially-informed" | "target-canary";

interface AboutSampler {
  name: string;
  says: string;
  /** Its batches, within a sentence. */
  batches: string;
  /** The threat models that it supports, the default first. */
  threatModels: readonly [ThreatModel, ...ThreatModel[]];
  needsBatchSize: boolean;
  hasBuffer: boolean;
}

const ALL: AboutSampler["threatModels"] = ["worst-case", "partially-informed", "target-canary"];
const plain = { threatModels: ALL, needsBatchSize: false, hasBuffer: false };
const buffered = { threatModels: ALL, needsBatchSize: true, hasBuffer: true };

/** The samplers of `dpscope audit bgm`; the bundle rejects any other combination. */
const ALL_SAMPLERS = {
  shuffle: {
    name: "Shuffle",
    says: "a new permutation in each epoch",
    batches: "shuffled batches",
    ...plain,
  },
  "persistent-shuffle": {
    name: "Persistent shuffle",
    says: "one permutation for all epochs",
    batches: "batches shuffled once",
    ...plain,
  },
  poisson: {
    name: "Poisson",
    says: "each record joins each batch independently, as accountants assume",
    batches: "Poisson-sampled batches",
    ...plain,
    threatModels: ["target-canary"],
  },
  "balls-in-bins": {
    name: "Balls-in-bins",
    says: "each record in one random batch of each epoch",
    batches: "balls-in-bins batches",
    ...plain,
    threatModels: ["target-canary"],
  },
  deterministic: {
    name: "Deterministic",
    says: "always the same order",
    batches: "batches in a fixed order",
    ...plain,
  },
  "partial-shuffle": {
    name: "Partial shuffle",
    says: "shuffled within blocks of the buffer size",
    batches: "partially shuffled batches",
    ...buffered,
  },
  "sliding-buffer": {
    name: "Sliding buffer",
    says: "a buffer that is sampled and refilled, like tf.data’s shuffle",
    batches: "batches from a shuffle buffer",
    ...buffered,
  },
  "batch-then-shuffle": {
    name: "Batch, then shuffle",
    says: "batches are formed first, then their order is shuffled",
    batches: "batches formed before shuffling",
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
