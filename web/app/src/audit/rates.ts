import type { State } from "../state/fields";
import { workersOf } from "../workers/cores";
import type { AuditRun } from "./run";

export type Backend = "cpu" | "gpu";

const KEY = "dpscope-rates";
/** A shorter run measures its start rather than its rate. */
const SHORTEST_MS = 40;

/** Normals per second of earlier audits on this device. */
export class Rates {
  readonly #rates: Partial<Record<string, number>> = {};
  readonly #storage: () => Pick<Storage, "getItem" | "setItem">;
  readonly #cores: number;

  constructor(storage: () => Pick<Storage, "getItem" | "setItem">, cores: number) {
    this.#storage = storage;
    this.#cores = cores;
    try {
      const stored: unknown = JSON.parse(storage().getItem(KEY) ?? "{}");
      for (const [name, rate] of Object.entries(stored ?? {})) {
        if (typeof rate === "number" && rate > 0 && rate < 1e15) this.#rates[name] = rate;
      }
    } catch {
      // no storage, or another content: as if nothing was measured
    }
  }

  of(backend: Backend, state: Pick<State, "float_mode" | "workers">): number | undefined {
    return this.#rates[nameOf(backend, state.float_mode, workersOf(state, this.#cores))];
  }

  /** Remembers the rate of a complete run. */
  learn(
    run: Pick<
      AuditRun,
      "phase" | "backend" | "options" | "workers" | "elapsed_ms" | "total" | "plan"
    >,
  ): void {
    const { backend, elapsed_ms, total, plan, options } = run;
    if (run.phase !== "done" || backend === undefined || elapsed_ms < SHORTEST_MS) return;
    const { steps, epochs } = plan.mechanism;
    const rate = (1000 * total * steps * epochs) / elapsed_ms;
    const name = nameOf(backend, options.float_mode, run.workers);
    this.#rates[name] = Number(rate.toPrecision(3));
    try {
      this.#storage().setItem(KEY, JSON.stringify(this.#rates));
    } catch {
      // without storage the rates last for this visit
    }
  }
}

type AnyRun = Pick<AuditRun, "done" | "total" | "elapsed_ms" | "isOver">;

function nameOf(backend: Backend, float_mode: State["float_mode"], workers: number): string {
  return backend === "cpu" ? `cpu ${workers}` : `gpu ${float_mode}`;
}

/** 40 s, 3 min, 2 h: rounded up. */
export function duration(seconds: number): string {
  if (seconds <= 90) return `${Math.max(1, Math.ceil(seconds))} s`;
  return seconds <= 5400 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}

/** How long a run still takes; empty where that is not known. */
export function timeLeft({ done, total, elapsed_ms, isOver }: AnyRun): string {
  const seconds = (elapsed_ms * (total - done)) / done / 1000;
  return isOver || done === 0 || elapsed_ms < 1000 ? "" : `, about ${duration(seconds)} left`;
}
