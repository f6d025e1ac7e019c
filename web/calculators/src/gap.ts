/** What accounting claims, and what is proven for the actual sampler. */

import { numberText } from "../../fields/field";
import { significance } from "../../fields/parameters";
import { rounded } from "../../numbers/rounded";
import { samplers } from "../../numbers/words.json";
import { type Answer, type Figure, figureOf } from "./calculator";
import { type api, type Call, failureOf } from "./calls";
import type {
  Accounted,
  BatchSampler,
  EpsilonSettings,
  GapResult,
  TrainingSettings,
} from "./types";

export type Row = FirstRow | SubsetRow;

/** Bounds of the bundle `accounting`. */
type SubsetRow =
  | "fixed-size"
  | "fixed-size-lower"
  | "random-allocation"
  | "random-allocation-lower";

/** Bounds of the bundle that is loaded at first. */
export type FirstRow =
  | "poisson"
  | "balls-in-bins"
  | "deterministic"
  | "shuffle-best"
  | "persistent-shuffle";

const ROWS: Readonly<Record<BatchSampler, { readonly lower?: Row; readonly upper?: Row }>> = {
  poisson: {},
  shuffle: { lower: "shuffle-best", upper: "deterministic" },
  "persistent-shuffle": { lower: "persistent-shuffle", upper: "deterministic" },
  "balls-in-bins": { upper: "balls-in-bins" },
  deterministic: { upper: "deterministic" },
  "fixed-size": { lower: "fixed-size-lower", upper: "fixed-size" },
  "random-allocation": { lower: "random-allocation-lower", upper: "random-allocation" },
};

/** The claim and the bounds of one training; a value that cannot be computed becomes a sentence. */
export async function gap(call: Call, settings: EpsilonSettings): Promise<Answer<GapResult>> {
  const { sampler, delta, noise_multiplier, steps, epochs } = settings;
  const training = { noise_multiplier, steps, epochs, ...rateOf(settings) };
  const { batches } = samplers[sampler];
  const { lower: below, upper: above } = ROWS[sampler];
  const sentences: string[] = [];
  const bound = async (row: Row | undefined, what: string): Promise<Accounted | undefined> => {
    if (row === undefined) return undefined;
    try {
      const name = row.startsWith("fixed") || row.startsWith("random") ? "subset_bound" : "bound";
      return await call(name, row, training, { delta });
    } catch (error) {
      const failure = failureOf(error);
      if (failure.kind === "file" || failure.field === "uses_per_epoch") throw failure;
      sentences.push(`No ${what}: ${failure.message.replace(/\.$/, "")}.`);
      return undefined;
    }
  };
  const claimed = await bound("poisson", "claim of Poisson accounting");
  const lower = await bound(below, `lower bound of ${batches}`);
  const upper = await bound(above, `upper bound of ${batches}`);
  const epsilons: Parameters<typeof api.conclusion>[1] = {};
  if (claimed) epsilons.poisson = claimed.epsilon;
  if (below && lower) epsilons[below] = lower.epsilon;
  if (above && upper) epsilons[above] = upper.epsilon;
  const { sentence } = await call("conclusion", sampler, epsilons, significance.initial);
  const figures: Figure[] = [];
  if (claimed) figures.push(figureOf("claim", "Poisson accounting claims", claimed));
  if (lower) figures.push(figureOf("lower", `${capital(batches)} leak at least`, lower));
  if (upper) figures.push(figureOf("upper", `${capital(batches)} leak at most`, upper));
  return {
    figures,
    sentences: [sentence, ...sentences],
    result: present(claimed, lower, upper),
  };
}

/** The sampling rate k/T of random allocation, which Poisson accounting assumes. */
export function rateOf({
  sampler,
  steps,
  uses_per_epoch,
}: Pick<EpsilonSettings, "sampler" | "steps" | "uses_per_epoch">): { sampling_rate?: number } {
  return sampler === "random-allocation" ? { sampling_rate: uses_per_epoch / steps } : {};
}

/** The option of random allocation on the command line. */
export function usesOption({
  sampler,
  uses_per_epoch,
}: Pick<EpsilonSettings, "sampler" | "uses_per_epoch">): string {
  if (sampler !== "random-allocation" || uses_per_epoch === 1) return "";
  return ` --uses-per-epoch ${numberText(uses_per_epoch)}`;
}

function present(claimed?: Accounted, lower?: Accounted, upper?: Accounted): GapResult {
  return {
    ...(claimed && { claimed }),
    ...(lower && { lower }),
    ...(upper && { upper }),
    ...(claimed &&
      lower &&
      claimed.epsilon > 0 && {
        ratio: Number(rounded(lower.epsilon / claimed.epsilon, "lower")),
      }),
  };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The options of a training on the command line. */
export function trainingOptions(
  { noise_multiplier, steps, epochs, delta }: TrainingSettings,
  more = "",
): string {
  const repeated = epochs === 1 ? "" : ` --epochs ${numberText(epochs)}`;
  return `--noise-multiplier ${numberText(noise_multiplier)} --steps ${numberText(steps)}${repeated}${more} --delta ${numberText(delta)}`;
}
