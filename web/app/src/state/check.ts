/** Fields of the view that checks a described training. */

import type { TrainingDescription } from "@dpscope/wasm/studies";
import { choiceOf } from "../../../fields/field";
import * as shared from "../../../fields/parameters";
import { check } from "../options/options.json";
import { fieldsOf } from "../options/table";
import { ALL, parametersOf, samplerField } from "./samplers";

const options = fieldsOf<TrainingDescription>(check);
const { buffer, uses, maxBatch } = parametersOf("check_loader");

/** The description of a training, in the order of its command. */
export const CHECK = {
  check_dataset: options.number("dataset_size", { most: 1e12, initial: 60_000 }),
  check_batch: options.number("batch_size", { symbol: "B", most: 1e9, initial: 256 }),
  check_epochs: { ...shared.epochs, most: 1e6, initial: 20, record: "epochs" },
  check_noise: {
    ...shared.noiseMultiplier,
    least: 0.01,
    most: 1e4,
    initial: 0.8,
    record: "noise_multiplier",
  },
  check_loader: { ...samplerField("How the data loader draws batches", ALL), record: "loader" },
  check_buffer: { ...buffer, most: 1e12 },
  check_uses: { ...uses, most: 1e9 },
  check_max_batch: { ...maxBatch, most: 1e12 },
  check_drop_last: {
    ...choiceOf("Drop a smaller last batch", "no", {
      no: "No",
      yes: "Yes",
    }),
    record: "drop_last",
  },
  check_claim: options.number("claim", { label: "Claimed ε", initial: 2.6 }),
  check_delta: { ...shared.delta, least: 1e-50, most: 0.999, record: "delta" },
  check_adjacency: options.choice("claim_adjacency", { label: "Adjacency" }),
  check_accountant: {
    kind: "choice",
    label: "Sampler that it assumes",
    options: samplerField("", ALL).options,
    record: "accountant",
  },
  check_rate: options.optional("accounted_sampling_rate", {
    label: "Sampling rate (optional)",
    least: 1e-9,
    most: 1,
  }),
  check_steps: options.optional("accounted_steps", { label: "Total steps (optional)", most: 1e9 }),
  check_std: options.optional("noise_std", {
    label: "Standard deviation (optional)",
    least: 1e-12,
    most: 1e12,
  }),
  check_clip: options.optional("clip_norm", { least: 1e-12, most: 1e12 }),
  check_noise_on: options.optionalChoice("noise_on", { label: "Added to" }),
} as const;
