/**
 * One wasm instance for all calculators of a page. It runs in a worker from this same module, so
 * that a long computation does not block the page; where a page forbids workers, or the module came
 * from another origin, it runs in the page.
 */

import initAccounting, {
  calibrate_subsets as calibrateSubsets,
  type MatrixQuestion,
  matrix as matrixReport,
  subset_bound as subsetBound,
} from "@dpscope/wasm/accounting";
import init, {
  bound,
  bound_columns,
  calibrate,
  conclusion,
  counts,
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
import {
  Client,
  type Failure,
  failureOf,
  notLoaded,
  type Result,
  serve,
} from "../../protocol/protocol";

export type { Failure };
export { failureOf };

/** A bundle of its own, which the first call that needs it loads; a failed load is tried again. */
function lazy(init: () => Promise<unknown>): () => Promise<unknown> {
  let loaded: Promise<unknown> | undefined;
  return () => {
    loaded ??= init().catch((thrown: unknown) => {
      loaded = undefined;
      throw notLoaded(thrown);
    });
    return loaded;
  };
}

const oneShotLoaded = lazy(() => initOneShot());
const pateLoaded = lazy(() => initPate());
const accountingLoaded = lazy(() => initAccounting());

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

async function subset_bound(...given: Parameters<typeof subsetBound>) {
  await accountingLoaded();
  return subsetBound(...given);
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
  matrix,
  one_run,
  one_shot,
  pate,
  plan,
  subset_bound,
  version,
};
type CalculatorApi = typeof api;
type Name = keyof CalculatorApi;

/** Calls the wasm bundle; the first call loads it. */
export type Call = <N extends Name>(
  name: N,
  ...args: Parameters<CalculatorApi[N]>
) => Promise<Result<CalculatorApi, N>>;

export const WORKER_NAME = "dpscope-calculators";

/** Longest that one call may take: others wait for it. */
const LONGEST_MS = 10_000;

/** The worker's side. */
export function serveCalculators(scope: DedicatedWorkerGlobalScope): void {
  serve(init(), api, scope);
}

const loadedHere = lazy(() => init());

/** In the page. */
const callHere: Call = async (name, ...args) => {
  await loadedHere();
  return (api[name] as (...args: readonly unknown[]) => never)(...args);
};

/** Connects to the worker, or falls back to the page. */
async function connect(): Promise<Client<CalculatorApi> | "page"> {
  const client = new Client<CalculatorApi>(
    () => new Worker(new URL(import.meta.url), { type: "module", name: WORKER_NAME }),
  );
  try {
    await client.request("version", []);
    client.timeout_ms = LONGEST_MS;
    return client;
  } catch (failure) {
    client.close();
    if (failureOf(failure).kind === "file") throw failure;
    return "page";
  }
}

let host: Client<CalculatorApi> | "page" | undefined;
let queue: Promise<unknown> = Promise.resolve();

/** Calls the one instance of the page, after earlier calls have their answers. */
export const call: Call = <N extends Name>(name: N, ...args: Parameters<CalculatorApi[N]>) => {
  const answer = queue.then(async (): Promise<Result<CalculatorApi, N>> => {
    if (host !== "page" && (host === undefined || host.broken !== undefined))
      host = await connect();
    return host === "page" ? callHere(name, ...args) : host.request(name, args);
  });
  queue = answer.catch(() => undefined);
  return answer;
};
