/** Fields of the view of federated trainings. */

import type { NoisySumSimulation } from "@dpscope/wasm/one_shot";
import * as shared from "../../../fields/parameters";
import { audit_gaussian } from "../options/options.json";
import { fieldsOf } from "../options/table";

const sum = fieldsOf<NoisySumSimulation>(audit_gaussian);

const whole = true;

export const FEDERATED = {
  fed_noise: {
    ...shared.noiseMultiplier,
    least: 0.02,
    most: 10_000,
    slider: { least: 0.1, most: 100 },
    help: "Standard deviation of the noise of a server round, over the norm of a canary",
    hint: "Noise of a server round over the norm of a canary.",
    record: "noise_multiplier",
  },
  fed_canaries: sum.number("canaries", {
    label: "Canaries",
    symbol: "k",
    least: 10,
    most: 3000,
    whole,
    initial: 1000,
    hint: "Mean of their number, which is drawn from a Poisson distribution.",
  }),
  fed_dimension: sum.number("dimension", {
    symbol: "d",
    least: 1000,
    most: 1e9,
    initial: 1e6,
    hint: "Number of trained parameters.",
  }),
  fed_presentations: sum.number("presentations", {
    label: "Presentations",
    most: 1000,
    whole,
    initial: 1,
    slider: { most: 100 },
    hint: "Server rounds in which each canary takes part; the attacker knows them.",
  }),
} as const;
