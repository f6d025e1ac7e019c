import type { AuditCurve, AuditPlan, SimulationResult } from "@dpscope/wasm/audits";
import type { Client } from "../../../protocol/protocol";

export interface Range {
  first: number;
  end: number;
}

/** What the counts so far show. */
export interface Found {
  result: SimulationResult;
  curve: AuditCurve;
}

/** The functions of a coordinator. */
export type CoordinatorApi<F = Found> = {
  open(...asked: never[]): { layout: Uint8Array; done: number; total: number };
  next(observations: number): Range | undefined;
  add(counted: Uint8Array): { done: number; total: number };
  release(first: number, end: number): void;
  evaluate(): F;
  to_bytes(): Uint8Array;
};

/** The functions of a counter. */
export type CounterApi = {
  prepare(...shared: never[]): void;
  open_gpu(mode: "exact" | "fast", software: boolean): string | Promise<string>;
  count(first: number, end: number): Uint8Array | Promise<Uint8Array>;
};

/** How long ranges take, and how large the first one is. */
export interface Pace {
  /** Target time of a range. */
  range_ms: { cpu: number; gpu: number };
  /** Observations of the first range, whose speed is unknown. */
  first: { cpu: number; gpu: number };
  /** Observations of the smallest range; the sizes of all ranges after the first are multiples of it. */
  fewest: number;
  /** Time limit of a first answer: a GPU may compile shaders, and a worker load its program. */
  patience_ms: number;
  /** The same of later answers. */
  patience_at_work_ms: number;
}

/** ε, and the number of results that it is from. */
export interface Estimate {
  observations: number;
  epsilon: number;
}

/** What an audit counts. */
export interface Subject<P = AuditPlan, F = Found, A = void> {
  readonly plan: P;
  /** Planned results, of which the coordinator knows the exact number. */
  readonly total: number;
  readonly pace: Pace;
  /** What happens to the range of a broken worker, for display. */
  readonly recovery: string;
  /** Arguments of the coordinator's `open`. */
  readonly opens: readonly unknown[];
  /** What counters get beside the layout. */
  readonly shares: readonly unknown[];
  /** Called with what is known from the start. */
  begun?(layout: Uint8Array): void;
  /** Called with what the counts so far show. */
  evaluated?(coordinator: Client<CoordinatorApi<F>>, found: F): Promise<void> | undefined;
  /** Whether the answer says all that an evaluation of every count would. */
  readonly skipsLastEvaluation?: boolean;
  /** Called after the last count, before the workers end: the answer. */
  finished?(coordinator: Client<CoordinatorApi<F>>, elapsed_ms: number): Promise<A>;
  /** The estimate of what is found; none where nothing is. */
  estimate(found: F): Estimate | undefined;
}

/** Limits of the first range: observations, and normals of each world. */
const FIRST_RANGE = { cpu: 1024, gpu: 65_536 };
const FIRST_NORMALS = { cpu: 1e6, gpu: 4e8 };
const FEWEST = 16;

/** Simulations of the mechanism. A range is short enough to pause within 100 ms, and long compared with
 * the message and the layout, which take about 1 ms. */
export function simulations(plan: AuditPlan): Subject {
  const { steps, epochs } = plan.mechanism;
  const first = (kind: "cpu" | "gpu") =>
    Math.max(
      FEWEST,
      Math.round(Math.min(FIRST_RANGE[kind], FIRST_NORMALS[kind] / (steps * epochs))),
    );
  const pace = {
    range_ms: { cpu: 25, gpu: 200 },
    first: { cpu: first("cpu"), gpu: first("gpu") },
    fewest: FEWEST,
    patience_ms: 30_000,
    patience_at_work_ms: 10_000,
  };
  const estimate = ({ result }: Found) => result;
  return {
    plan,
    total: plan.observations,
    pace,
    recovery: "its observations are counted again",
    opens: [plan],
    shares: [],
    estimate,
  };
}
