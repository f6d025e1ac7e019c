/** What accounting claims, and what is proven for the actual sampler. */

import { numberText } from "../../fields/field";
import { rounded } from "../../numbers/rounded";
import { type Answer, type Figure, figureOf } from "./calculator";
import { type Call, failureOf } from "./calls";
import { relation } from "./relation";
import type {
  Accounted,
  BatchSampler,
  EpsilonSettings,
  GapResult,
  TrainingSettings,
} from "./types";

type Row = "poisson" | "balls-in-bins" | "deterministic" | "shuffle-best" | "persistent-shuffle";

interface Subject {
  readonly batches: string;
  readonly lower?: Row;
  readonly upper?: Row;
}

const SUBJECTS: Readonly<Record<BatchSampler, Subject>> = {
  poisson: { batches: "Poisson-sampled batches" },
  shuffle: { batches: "shuffled batches", lower: "shuffle-best", upper: "deterministic" },
  "persistent-shuffle": {
    batches: "batches shuffled once",
    lower: "persistent-shuffle",
    upper: "deterministic",
  },
  "balls-in-bins": { batches: "balls-in-bins batches", upper: "balls-in-bins" },
  deterministic: { batches: "the same batches in each epoch", upper: "deterministic" },
};

/** The claim and the bounds of one training; a value that cannot be computed becomes a sentence. */
export async function gap(call: Call, settings: EpsilonSettings): Promise<Answer<GapResult>> {
  const { sampler, delta, noise_multiplier, steps, epochs } = settings;
  const { batches, lower: below, upper: above } = SUBJECTS[sampler];
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
  const ratio =
    claimed && lower && claimed.epsilon > 0 ? lower.epsilon / claimed.epsilon : undefined;
  const figures: Figure[] = [];
  const isPoisson = sampler === "poisson";
  if (claimed)
    figures.push(
      figureOf("claim", isPoisson ? capital(batches) : "Accounted as if Poisson sampled", claimed),
    );
  if (lower) figures.push(figureOf("lower", `${capital(batches)} leak at least`, lower));
  if (upper) figures.push(figureOf("upper", `${capital(batches)} leak at most`, upper));
  return {
    figures,
    sentences: [summary(batches, { claimed, lower, upper, ratio }, delta), ...sentences],
    result: present({ claimed, lower, upper, ratio }),
  };
}

interface Found {
  claimed: Accounted | undefined;
  lower: Accounted | undefined;
  upper: Accounted | undefined;
  ratio: number | undefined;
}

function summary(batches: string, { claimed, lower, upper, ratio }: Found, delta: number): string {
  const at = `at ${relation("δ", "=", numberText(delta))}`;
  if (ratio !== undefined && ratio > 1 && lower) {
    return `Poisson accounting is not valid for ${batches}: they leak at least ${rounded(ratio, "lower", 1)} times the ε that it claims, ${at}.`;
  }
  if (lower && claimed)
    return `No gap is proven here: the lower bound does not exceed what Poisson accounting claims, ${at}.`;
  if (upper && claimed && upper.epsilon <= claimed.epsilon)
    return `${capital(batches)} leak no more than Poisson accounting claims, ${at}.`;
  if (upper && claimed)
    return `The proven upper bound for ${batches} exceeds what Poisson accounting claims, ${at}.`;
  if (claimed) return `This ε is valid for ${batches} only, ${at}; shuffled batches leak more.`;
  return `Nothing is known about this setting, ${at}.`;
}

function present({ claimed, lower, upper, ratio }: Found): GapResult {
  return {
    ...(claimed && { claimed }),
    ...(lower && { lower }),
    ...(upper && { upper }),
    ...(ratio !== undefined && { ratio: Number(rounded(ratio, "lower")) }),
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
