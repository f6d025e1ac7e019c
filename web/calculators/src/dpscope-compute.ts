/**
 * What the calculators compute, with the wasm bundles that it needs. A page runs this file in one worker
 * for all of its calculators, or imports it where it cannot start a worker.
 */

import initAccounting, {
  calibrate_subsets as calibrateSubsets,
  type MatrixQuestion,
  matrix as matrixReport,
  subset_bound as subsetBound,
} from "@dpscope/wasm/accounting";
import init, {
  type BoundSetting,
  bound_columns,
  calibrate,
  conclusion,
  counts,
  bound as firstBound,
  type Given,
  type KnownBound,
  plan,
  version,
} from "@dpscope/wasm/calculators";
import initOneShot, {
  type GuessCounts,
  guesses_bound,
  type OneShotQuestion,
  one_shot_size,
} from "@dpscope/wasm/one_shot";
import initPate, { type VotesQuestion, votes_epsilon } from "@dpscope/wasm/pate";
import { bounds } from "../../numbers/words.json";
import { notLoaded, serve } from "../../protocol/protocol";
import { WORKER_NAME } from "./calls";

/** The address of a wasm module, or the module itself, compressed with gzip. */
export type Source = string | Uint8Array<ArrayBuffer>;
export type Sources = Readonly<Record<"accounting" | "calculators" | "one_shot" | "pate", Source>>;

type Init = (input: { module_or_path: string | ArrayBuffer }) => Promise<unknown>;

let sources: Sources | undefined;

/** A module that the first call which needs it loads; a failed load is tried again. */
function lazy(name: keyof Sources, init: Init): () => Promise<unknown> {
  let loaded: Promise<unknown> | undefined;
  const load = async () => init({ module_or_path: await inflated(sources?.[name] ?? "") });
  return () => {
    loaded ??= load().catch((thrown: unknown) => {
      loaded = undefined;
      throw notLoaded(thrown);
    });
    return loaded;
  };
}

async function inflated(source: Source): Promise<string | ArrayBuffer> {
  if (typeof source === "string") return source;
  const bytes = new Blob([source]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(bytes).arrayBuffer();
}

const calculatorsLoaded = lazy("calculators", init);
const oneShotLoaded = lazy("one_shot", initOneShot);
const pateLoaded = lazy("pate", initPate);
const accountingLoaded = lazy("accounting", initAccounting);

/** Comes before the first of the other calls. */
async function load(given: Sources): Promise<void> {
  sources = given;
  await calculatorsLoaded();
}

async function one_run(counts: GuessCounts, delta: number, significance: number) {
  await oneShotLoaded();
  return guesses_bound(counts, delta, significance);
}

async function one_shot(question: OneShotQuestion) {
  await oneShotLoaded();
  return one_shot_size(question);
}

async function pate(question: VotesQuestion) {
  await pateLoaded();
  return votes_epsilon(question);
}

/** A known bound, from the bundle that has its accountant. */
async function bound(row: KnownBound, setting: BoundSetting, at: Given) {
  if (bounds[row].cost !== "subsets") {
    const { adjacency: _, truncation: __, ...training } = setting;
    return firstBound(row, training, at);
  }
  await accountingLoaded();
  return subsetBound(row, setting, at);
}

async function calibrate_subsets(...given: Parameters<typeof calibrateSubsets>) {
  await accountingLoaded();
  return calibrateSubsets(...given);
}

async function matrix(question: MatrixQuestion) {
  await accountingLoaded();
  return matrixReport(question);
}

export const api = {
  bound,
  bound_columns,
  calibrate,
  calibrate_subsets,
  conclusion,
  counts,
  load,
  matrix,
  one_run,
  one_shot,
  pate,
  plan,
  version,
};

const scope = globalThis as unknown as DedicatedWorkerGlobalScope;
if (scope.name === WORKER_NAME && typeof globalThis.document === "undefined") {
  serve(Promise.resolve(), api, scope);
}
