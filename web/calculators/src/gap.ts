/** What accounting claims, and what is proven for the actual sampler. */

import { numberText } from "../../fields/field";
import { significance } from "../../fields/parameters";
import { rounded } from "../../numbers/rounded";
import { deciding, samplers } from "../../numbers/words.json";
import { batchSize, maxBatchSize, usesPerEpoch } from "./batches";
import { type Answer, type Figure, figureOf } from "./calculator";
import { type Call, failureOf } from "./calls";
import type { api } from "./dpscope-compute";
import type {
  Accounted,
  BatchSampler,
  EpsilonSettings,
  GapResult,
  TrainingSettings,
} from "./types";

export type Row = Parameters<typeof api.bound>[0];

/** The lower and the upper bound of a sampler that decide; none for Poisson batches, of which the claim
 * is proven. */
const DECIDING = deciding as unknown as Readonly<
  Record<BatchSampler, readonly [Row | null, Row | null]>
>;

/** Inputs that a bound of uniform subsets may refuse. */
const OF_SUBSETS = ["uses_per_epoch", "max_batch_size", "dataset_size"];

/** The claim and the bounds of one training; a value that cannot be computed becomes a sentence. */
export async function gap(call: Call, settings: EpsilonSettings): Promise<Answer<GapResult>> {
  const { sampler, delta, noise_multiplier, steps, epochs } = settings;
  const training = { noise_multiplier, steps, epochs, ...rateOf(settings) };
  const setting = { ...training, ...subsetOptions(settings) };
  const { batches } = samplers[sampler];
  const [below, above] = DECIDING[sampler];
  const sentences: string[] = [];
  const bound = async (row: Row | null, what: string): Promise<Accounted | undefined> => {
    if (row === null) return undefined;
    try {
      return await call("bound", row, setting, { delta });
    } catch (error) {
      const failure = failureOf(error);
      if (failure.kind === "file" || OF_SUBSETS.includes(failure.field ?? "")) throw failure;
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

/** The sampling rate k/T of a record that is used k times, which Poisson accounting assumes. */
export function rateOf({ sampler, steps, uses_per_epoch }: Batches): { sampling_rate?: number } {
  return hasUses(sampler) ? { sampling_rate: uses_per_epoch / steps } : {};
}

function hasUses(sampler: BatchSampler): boolean {
  return samplers[sampler].parameter === "uses_per_epoch";
}

function truncates(sampler: BatchSampler): boolean {
  return samplers[sampler].parameter === "max_batch_size";
}

/** How batches are drawn. */
type Batches = Pick<
  EpsilonSettings,
  "sampler" | "steps" | "uses_per_epoch" | "batch_size" | "max_batch_size"
>;

/** The sizes of truncated batches: all records of an epoch, and the most of them in a batch. */
export function subsetOptions({ sampler, steps, batch_size, max_batch_size }: Batches) {
  if (!truncates(sampler)) return {};
  return { truncation: { dataset_size: steps * batch_size, max_batch_size } };
}

/** For samplers that ignore them: what the fields contain at first. */
export const NO_SUBSETS = {
  uses_per_epoch: usesPerEpoch.initial,
  batch_size: batchSize.initial,
  max_batch_size: maxBatchSize.initial,
} as const;

/** The steps of an epoch on the command line, with the parameters of the sampler. */
export function epochOptions(batches: Batches): string {
  const { sampler, steps, uses_per_epoch, batch_size, max_batch_size } = batches;
  if (truncates(sampler)) {
    return `--dataset-size ${numberText(steps * batch_size)} --batch-size ${numberText(batch_size)} --max-batch-size ${numberText(max_batch_size)}`;
  }
  const isStated = hasUses(sampler) && uses_per_epoch !== 1;
  const uses = isStated ? ` --uses-per-epoch ${numberText(uses_per_epoch)}` : "";
  return `--steps ${numberText(steps)}${uses}`;
}

/** The passes over the data on the command line, unless there is one. */
export function epochsOption(epochs: number): string {
  return epochs === 1 ? "" : ` --epochs ${numberText(epochs)}`;
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
export function trainingOptions(settings: Batches & TrainingSettings): string {
  const { noise_multiplier, epochs, delta } = settings;
  return `--noise-multiplier ${numberText(noise_multiplier)} ${epochOptions(settings)}${epochsOption(epochs)} --delta ${numberText(delta)}`;
}
