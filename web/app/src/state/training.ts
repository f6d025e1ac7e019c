import { choiceOf } from "../../../fields/field";
import * as shared from "../../../fields/parameters";
import { audit_dpsgd, canaries_optimise } from "../options/options.json";
import { fieldsOf, type Values } from "../options/table";
import { CLIENTS, SERVER } from "./clients";
import { ALL, about, parametersOf, type Sampler, samplerField } from "./samplers";

const { noiseMultiplier, steps, epochs } = shared;

type Trained = Exclude<Sampler, "batch-then-shuffle">;

/** Samplers that trainings of the page draw batches with. */
export const TRAINED = ALL.filter(
  (sampler): sampler is Trained => sampler !== "batch-then-shuffle",
);

const dpsgd =
  fieldsOf<
    Values<
      typeof audit_dpsgd,
      {
        canary: "random" | "dirac";
        canary_kind: "random" | "mislabelled";
        score: "final-loss" | "loss-difference" | "white-box";
        learning_rate: number;
        pretrain_learning_rate: number;
      }
    >
  >(audit_dpsgd);
const optimised = fieldsOf<Values<typeof canaries_optimise>>(canaries_optimise);
const kind = dpsgd.choice("canary_kind", { label: "Kind of canaries" });
const { buffer, uses, maxBatch } = parametersOf("train_sampler");

/** Noise and batches of a training. */
export const BATCHES = {
  train_noise: {
    ...noiseMultiplier,
    least: 0.2,
    most: 20,
    initial: 0.8,
    slider: { most: 5 },
    record: "noise_multiplier",
  },
  train_steps: { ...steps, least: 2, most: 1000, initial: 20, record: "steps" },
  train_epochs: { ...epochs, most: 100, slider: { most: 20 }, record: "epochs" },
  train_sampler: { ...samplerField("How batches are drawn", TRAINED), record: "sampler" },
  train_batch: dpsgd.number("batch_size", { symbol: "B", most: 1000, initial: 100 }),
  train_buffer: { ...buffer, initial: 500, hint: "Records; at most those of an epoch." },
  train_max_batch: {
    ...maxBatch,
    initial: 110,
    hint: "If more records are drawn, a uniformly random subset of this size is kept.",
  },
  train_uses: dpsgd.number("uses_per_epoch", { ...uses, most: 1000 }),
} as const;

/** How a model is trained. */
export const MODEL = {
  train_clip: dpsgd.number("clip_norm", { symbol: "C", least: 1e-6 }),
  train_rate: dpsgd.optional("learning_rate", { hint: "That of the model if empty." }),
} as const;

/** Canaries of a training, and the guesses about them. */
export const CANARIES = {
  train_canaries: dpsgd.number("canaries", { symbol: "m", least: 5, most: 5000, initial: 200 }),
  train_kind: {
    ...kind,
    options: [...kind.options, ["optimised", "Optimised"]],
    says: {
      ...kind.says,
      optimised: "Moved so that a model shows whether it was trained on them.",
    },
  },
  train_repeats: dpsgd.number("repeats", {
    label: "Audited trainings",
    symbol: "R",
    most: 2000,
    initial: 20,
  }),
  train_references: dpsgd.number("reference_models", { symbol: "K", least: 0, most: 200 }),
  train_score: dpsgd.choice("score", { label: "Score of a canary" }),
  train_guesses: dpsgd.optional("guesses", {
    symbol: "k",
    most: 1e7,
    hint: "Over all audited trainings, most confident first; several numbers are tested jointly if empty.",
  }),
  train_guesses_in: dpsgd.optional("guesses_in", {
    label: "Guesses “included” (optional)",
    most: 1e7,
    hint: "Of the largest scores, in place of a number for both sides.",
  }),
  train_guesses_out: dpsgd.optional("guesses_out", {
    label: "Guesses “not included” (optional)",
    most: 1e7,
    hint: "Of the smallest scores, in place of a number for both sides.",
  }),
} as const;

/** The rest of a training with canaries. */
export const PRETRAINING = {
  train_momentum: dpsgd.number("momentum", { most: 0.999 }),
  train_pretrain: dpsgd.optional("pretrain_records", {
    label: "Public records (optional)",
    most: 100_000,
    hint: "Other records, which the model is first trained on without privacy; none if empty.",
  }),
  train_pretrain_epochs: dpsgd.number("pretrain_epochs", {
    label: "Epochs of the pre-training",
    most: 1000,
    onlyFor: ["train_pretrain"],
  }),
  train_pretrain_rate: dpsgd.optional("pretrain_learning_rate", {
    label: "Learning rate of the pre-training (optional)",
    hint: "The learning rate above if empty.",
    onlyFor: ["train_pretrain"],
  }),
} as const;

/** Canaries that are optimised. */
export const OPTIMISATION = {
  train_metasteps: optimised.number("metasteps", {
    label: "Steps of the canaries",
    most: 1000,
    initial: 40,
  }),
  train_inner_steps: optimised.optional("steps", {
    label: "Steps of each of the two trainings (optional)",
    most: 5000,
  }),
} as const;

/** Fields of the view of trainings. */
export const TRAINING = {
  train_protocol: choiceOf("Protocol", "two-worlds", {
    "two-worlds": "Two worlds",
    "one-run": "One run",
    federated: "Federated",
  }),
  train_model: choiceOf("Model", "mlp", {
    mlp: "MLP, 32 hidden units",
    lenet: "LeNet-5, 28 × 28 images",
  }),
  train_data: choiceOf("Synthetic data", "location-like", {
    "p100-like": "purchases, 100 classes",
    "location-like": "places, 30 classes",
    "fmnist-like": "clothes, 28 × 28",
  }),
  train_attacker: choiceOf("Attacker", "partially-informed", {
    "partially-informed": "knows one record of each batch",
    "target-canary": "knows the canary alone",
  }),
  train_runs: {
    kind: "number",
    label: "Trainings",
    symbol: "n",
    least: 20,
    most: 20_000,
    whole: true,
    initial: 600,
    hint: "Half with the canary, half without.",
  },
  train_canary: dpsgd.choice("canary", { label: "Gradient of the canary" }),
  ...BATCHES,
  ...MODEL,
  ...CANARIES,
  ...PRETRAINING,
  ...OPTIMISATION,
  ...CLIENTS,
  ...SERVER,
} as const;

/** The attacker, where the sampler has a choice of two. */
export function attackerOf(
  sampler: Trained,
  attacker: "partially-informed" | "target-canary",
): "partially-informed" | "target-canary" {
  return about(sampler).threat_models.includes(attacker) ? attacker : "target-canary";
}
