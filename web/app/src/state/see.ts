/** Fields of the view that draws one epoch after the other. */

import type { EpochSize } from "@dpscope/wasm/studies";
import * as shared from "../../../fields/parameters";
import { audit_bgm } from "../options/options.json";
import { fieldsOf } from "../options/table";
import { ALL, parametersOf, samplerField } from "./samplers";

const bgm = fieldsOf<EpochSize>(audit_bgm);
const { buffer, uses, maxBatch } = parametersOf("see_sampler");
const isLinear = true;

/** The size of an epoch. */
export const EPOCH = {
  see_noise: {
    ...shared.noiseMultiplier,
    least: 0.2,
    most: 5,
    initial: 0.6,
    record: "noise_multiplier",
  },
  see_steps: {
    ...shared.steps,
    label: "Batches per epoch",
    least: 2,
    most: 12,
    initial: 8,
    slider: { isLinear },
    record: "steps",
  },
  see_batch: bgm.number("batch_size", { symbol: "B", most: 8, initial: 4, slider: { isLinear } }),
  see_dataset: bgm.optional("dataset_size", {
    label: "Dataset size",
    symbol: "N",
    least: 2,
    most: 96,
    help: "With the batch size in place of the batches per epoch",
  }),
  see_uses: { ...uses, most: 12, initial: 2, slider: { isLinear } },
  see_max_batch: { ...maxBatch, most: 96, initial: 5, slider: { most: 12, isLinear } },
  see_buffer: { ...buffer, label: "Shuffle buffer size (optional)", most: 96 },
} as const;

export const SEE = {
  see_sampler: samplerField("How batches are drawn", ALL),
  ...EPOCH,
  see_threshold: {
    kind: "number",
    label: "Threshold of the attacker",
    least: 0,
    most: 20,
    initial: 3,
    slider: { most: 10, isLinear },
    hint: "For scores above it the attacker guesses: the target was there.",
  },
} as const;
