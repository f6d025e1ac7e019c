import * as shared from "../../../fields/parameters";
import { CLIENTS } from "./clients";
import { ALL, about, type Sampler, samplers } from "./samplers";

const { noiseMultiplier, steps, epochs } = shared;

type Trained = Exclude<Sampler, "batch-then-shuffle">;

/** Samplers that trainings of the page draw batches with. */
export const TRAINED = ALL.filter(
  (sampler): sampler is Trained => sampler !== "batch-then-shuffle",
);

/** Fields of the view of trainings. */
export const TRAINING = {
  train_protocol: {
    kind: "choice",
    label: "Protocol",
    options: [
      ["two-worlds", "Two worlds"],
      ["one-run", "One run"],
      ["federated", "Federated"],
    ],
    initial: "two-worlds",
  },
  train_model: {
    kind: "choice",
    label: "Model",
    options: [
      ["mlp", "MLP, 32 hidden units"],
      ["lenet", "LeNet-5, 28 × 28 images"],
    ],
    initial: "mlp",
  },
  train_data: {
    kind: "choice",
    label: "Synthetic data",
    options: [
      ["p100-like", "purchases, 100 classes"],
      ["location-like", "places, 30 classes"],
      ["fmnist-like", "clothes, 28 × 28"],
    ],
    initial: "location-like",
  },
  train_noise: { ...noiseMultiplier, least: 0.2, most: 20, initial: 0.8, slider: { most: 5 } },
  train_batch: {
    kind: "number",
    label: "Batch size",
    symbol: "B",
    least: 1,
    most: 1000,
    whole: true,
    initial: 100,
  },
  train_steps: { ...steps, least: 2, most: 1000, initial: 20 },
  train_epochs: { ...epochs, most: 100, slider: { most: 20 } },
  train_sampler: {
    kind: "choice",
    label: "How batches are drawn",
    options: samplers(TRAINED),
    initial: "shuffle",
  },
  train_buffer: {
    kind: "number",
    label: "Shuffle buffer size",
    least: 1,
    most: 1e6,
    whole: true,
    initial: 500,
    help: "Records; at most those of an epoch",
  },
  train_max_batch: {
    kind: "number",
    label: "Most records of a batch",
    symbol: "Bₘ",
    least: 1,
    most: 1e6,
    whole: true,
    initial: 110,
    help: "A larger batch is cut to a uniform subset",
  },
  train_uses: {
    kind: "number",
    label: "Batches with a record, per epoch",
    symbol: "k",
    least: 1,
    most: 1000,
    whole: true,
    initial: 1,
    help: "Each record is in k of the T batches of each epoch",
  },
  train_attacker: {
    kind: "choice",
    label: "Attacker",
    options: [
      ["partially-informed", "knows one record of each batch"],
      ["target-canary", "knows the canary alone"],
    ],
    initial: "partially-informed",
  },
  train_runs: {
    kind: "number",
    label: "Trainings",
    symbol: "n",
    least: 20,
    most: 20_000,
    whole: true,
    initial: 600,
    help: "Half with the canary, half without",
  },
  train_rate: {
    kind: "number",
    label: "Learning rate (optional)",
    least: 0,
    most: 1e6,
    help: "That of the model if empty",
  },
  train_clip: {
    kind: "number",
    label: "Clip norm",
    symbol: "C",
    least: 1e-6,
    most: 1e6,
    initial: 1,
  },
  train_canary: {
    kind: "choice",
    label: "Gradient of the canary",
    options: [
      ["random", "a random direction"],
      ["dirac", "one parameter"],
    ],
    initial: "random",
  },
  train_canaries: {
    kind: "number",
    label: "Canaries",
    symbol: "m",
    least: 5,
    most: 5000,
    whole: true,
    initial: 200,
    help: "Of each training, each included by a fair coin flip",
  },
  train_kind: {
    kind: "choice",
    label: "Kind of canaries",
    options: [
      ["mislabelled", "records with a wrong label"],
      ["random", "records with their own label"],
      ["optimised", "optimised by metagradients"],
    ],
    initial: "mislabelled",
  },
  train_metasteps: {
    kind: "number",
    label: "Steps of the canaries",
    least: 1,
    most: 1000,
    whole: true,
    initial: 40,
    help: "Each trains two models and moves all canaries",
  },
  train_inner_steps: {
    kind: "number",
    label: "Steps of each of the two trainings (optional)",
    least: 1,
    most: 5000,
    whole: true,
    help: "Those of the model if empty",
  },
  train_repeats: {
    kind: "number",
    label: "Audited trainings",
    symbol: "R",
    least: 1,
    most: 2000,
    whole: true,
    initial: 20,
    help: "Each with coins of its own; one bound covers all",
  },
  train_references: {
    kind: "number",
    label: "Reference models",
    symbol: "K",
    least: 0,
    most: 200,
    whole: true,
    initial: 0,
    help: "Further trainings that calibrate the scores",
  },
  train_score: {
    kind: "choice",
    label: "Score of a canary",
    options: [
      ["final-loss", "loss of the trained model"],
      ["loss-difference", "decrease of its loss"],
      ["white-box", "likelihood ratio of all steps"],
    ],
    initial: "final-loss",
  },
  train_guesses: {
    kind: "number",
    label: "Guesses (optional)",
    symbol: "k",
    least: 1,
    most: 1e7,
    whole: true,
    help: "Over all audited trainings, fixed beforehand",
  },
  train_guesses_in: {
    kind: "number",
    label: "Guesses “included” (optional)",
    least: 1,
    most: 1e7,
    whole: true,
    help: "The canaries with the largest scores",
  },
  train_guesses_out: {
    kind: "number",
    label: "Guesses “not included” (optional)",
    least: 1,
    most: 1e7,
    whole: true,
    help: "The canaries with the smallest scores",
  },
  train_pretrain: {
    kind: "number",
    label: "Public records (optional)",
    least: 1,
    most: 100_000,
    whole: true,
    help: "Records of the pre-training without privacy",
  },
  train_pretrain_epochs: {
    kind: "number",
    label: "Epochs of the pre-training",
    least: 1,
    most: 1000,
    whole: true,
    initial: 1,
  },
  train_pretrain_rate: {
    kind: "number",
    label: "Learning rate of the pre-training (optional)",
    least: 0,
    most: 1e6,
  },
  train_momentum: {
    kind: "number",
    label: "Momentum",
    least: 0,
    most: 0.999,
    initial: 0,
  },
  ...CLIENTS,
} as const;

/** The attacker, where the sampler has a choice of two. */
export function attackerOf(
  sampler: Trained,
  attacker: "partially-informed" | "target-canary",
): "partially-informed" | "target-canary" {
  return about(sampler).threat_models.includes(attacker) ? attacker : "target-canary";
}
