import type { Sampler, State, ThreatModel } from "./fields";

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
export const SAMPLER: Record<Sampler, AboutSampler> = {
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
};

export const THREAT_MODEL: Record<ThreatModel, { name: string; says: string }> = {
  "worst-case": { name: "Worst case", says: "the attacker chooses every record" },
  "partially-informed": {
    name: "Partially informed",
    says: "the attacker chooses one record of every batch",
  },
  "target-canary": { name: "Target canary", says: "the attacker chooses the target alone" },
};

/** The state with a threat model that its sampler allows. */
export function consistent(state: State): State {
  const allowed = SAMPLER[state.sampler].threatModels;
  if (allowed.includes(state.threat_model)) return state;
  return { ...state, threat_model: allowed[0] };
}
