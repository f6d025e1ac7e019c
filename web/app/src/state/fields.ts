import { type Codec, choice, optional, real, seedCodec, whole } from "./codec";

export const VIEWS = ["explore", "see", "check", "scores", "meaning"] as const;
export type View = (typeof VIEWS)[number];

export const SAMPLERS = [
  "shuffle",
  "persistent-shuffle",
  "poisson",
  "balls-in-bins",
  "deterministic",
  "partial-shuffle",
  "sliding-buffer",
  "batch-then-shuffle",
] as const;
export type Sampler = (typeof SAMPLERS)[number];

export const THREAT_MODELS = ["worst-case", "partially-informed", "target-canary"] as const;
export type ThreatModel = (typeof THREAT_MODELS)[number];

export const AXES = ["noise_multiplier", "steps", "epochs", "delta"] as const;
export type Axis = (typeof AXES)[number];

const anySampler = (initial: Sampler): Codec<Sampler> => choice(SAMPLERS, initial);

/** Every field of the state, with the link's default of this version. */
export const FIELDS = {
  view: choice(VIEWS, "explore"),
  noise_multiplier: real(0.2, 20, 1),
  steps: whole(1, 100_000, 100),
  epochs: whole(1, 1000, 1),
  delta: real(1e-12, 0.1, 1e-5),
  sampler: anySampler("shuffle"),
  threat_model: choice(THREAT_MODELS, "worst-case"),
  batch_size: whole(1, 500_000, 64),
  buffer_examples: whole(1, 1_000_000_000, 1000),
  significance: real(1e-6, 0.5, 0.05),
  seed: seedCodec,
  axis: choice(AXES, "noise_multiplier"),
  observations: whole(1000, 100_000_000, 1_000_000),
  device: choice(["auto", "gpu", "cpu"], "auto"),
  float_mode: choice(["exact", "fast"], "exact"),
  see_sampler: choice(
    [
      "shuffle",
      "poisson",
      "balls-in-bins",
      "partial-shuffle",
      "batch-then-shuffle",
      "deterministic",
    ],
    "shuffle",
  ),
  see_noise: real(0.2, 5, 0.6),
  see_steps: whole(2, 12, 8),
  see_batch: whole(1, 8, 4),
  see_threshold: real(0, 20, 3),
  check_dataset: whole(1, 1_000_000_000_000, 60_000),
  check_batch: whole(1, 1_000_000_000, 256),
  check_epochs: whole(1, 1_000_000, 20),
  check_noise: real(0.01, 10_000, 0.8),
  check_claim: real(0, 1e6, 2.6),
  check_delta: real(1e-50, 0.999, 1e-5),
  check_loader: anySampler("shuffle"),
  check_buffer: optional(whole(1, 1_000_000_000_000, 10_000)),
  check_drop_last: choice(["no", "yes"], "no"),
  check_accountant: optional(anySampler("poisson")),
  check_rate: optional(real(1e-9, 1, 0.01)),
  check_steps: optional(whole(1, 1e9, 1000)),
  check_std: optional(real(1e-12, 1e12, 1)),
  check_clip: optional(real(1e-12, 1e12, 1)),
  check_noise_on: optional(choice(["sum", "mean"], "sum")),
  check_adjacency: choice(["add-remove", "zero-out", "replace"], "add-remove"),
  scores_rule: choice(["split", "simultaneous", "max-uncorrected"], "split"),
  scores_higher: choice(["target", "zero-out"], "target"),
};

type Fields = typeof FIELDS;
export type Field = keyof Fields;
/** The whole screen as one record. */
export type State = { [F in Field]: Fields[F] extends Codec<infer T> ? T : never };

export const FIELD_NAMES = Object.keys(FIELDS) as Field[];

export function initialState(): State {
  const pairs = FIELD_NAMES.map((name) => [name, FIELDS[name].initial]);
  return Object.fromEntries(pairs) as State;
}

/** A field's codec, whatever its type. */
export function codecOf(name: Field): Codec<unknown> {
  return FIELDS[name] as unknown as Codec<unknown>;
}
