/** Fields of the view of one run with canaries. */

import type { RunSimulation } from "@dpscope/wasm/studies";
import { audit_dpsgd } from "../options/options.json";
import { fieldsOf } from "../options/table";

const oneRun = fieldsOf<RunSimulation>(audit_dpsgd);

/** A simulated run. */
export const RUN = {
  run_canaries: oneRun.number("canaries", {
    symbol: "m",
    least: 20,
    most: 10_000,
    initial: 1000,
    hint: "Each is included in the training or not, by a fair coin.",
  }),
  run_guesses: oneRun.number("guesses", {
    symbol: "k",
    most: 10_000,
    initial: 60,
    help: "Fixed before the coins were drawn",
    hint: "The most confident ones: half of them the largest scores, half the smallest.",
  }),
  run_mu: oneRun.number("mu", {
    label: "Strength of the attack",
    symbol: "μ",
    most: 10,
    initial: 1,
    slider: { most: 4, isLinear: true },
    help: "Distance of the mean scores of included and other canaries, in standard deviations",
    hint: "0: the scores do not depend on the coins.",
  }),
} as const;
