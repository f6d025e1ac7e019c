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

export type Row =
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
};

/** The claim and the bounds of one training; a value that cannot be computed becomes a sentence. */
export async function gap(call: Call, settings: EpsilonSettings): Promise<Answer<GapResult>> {
  const { sampler, delta, noise_multiplier, steps, epochs } = settings;
  const { batches } = samplers[sampler];
  const { lower: below, upper: above } = ROWS[sampler];
  const sentences: string[] = [];
  const bound = async (row: Row | undefined, what: string): Promise<Accounted | undefined> => {
    if (row === undefined) return undefined;
    try {
      return await call("bound", row, { noise_multiplier, steps, epochs }, { delta });
    } catch (error) {
      const failure = failureOf(error);
      if (failure.kind === "file") throw failure;
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
export function trainingOptions({
  noise_multiplier,
  steps,
  epochs,
  delta,
}: TrainingSettings): string {
  const repeated = epochs === 1 ? "" : ` --epochs ${numberText(epochs)}`;
  return `--noise-multiplier ${numberText(noise_multiplier)} --steps ${numberText(steps)}${repeated} --delta ${numberText(delta)}`;
}
