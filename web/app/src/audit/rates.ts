import type { State } from "../state/fields";
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

  of(backend: Backend, { float_mode }: Pick<State, "float_mode">): number | undefined {
    return this.#rates[this.#name(backend, float_mode)];
  }

  /** Remembers the rate of a complete run. */
  learn(
    run: Pick<AuditRun, "phase" | "backend" | "options" | "elapsed_ms" | "total" | "plan">,
  ): void {
    const { backend, elapsed_ms, total, plan, options } = run;
    if (run.phase !== "done" || backend === undefined || elapsed_ms < SHORTEST_MS) return;
    const { steps, epochs } = plan.mechanism;
    const rate = (1000 * total * steps * epochs) / elapsed_ms;
    this.#rates[this.#name(backend, options.float_mode)] = Number(rate.toPrecision(3));
    try {
      this.#storage().setItem(KEY, JSON.stringify(this.#rates));
    } catch {
      // without storage the rates last for this visit
    }
  }

  #name(backend: Backend, float_mode: State["float_mode"]): string {
    return backend === "cpu" ? `cpu ${this.#cores}` : `gpu ${float_mode}`;
  }
}

/** 40 s, 3 min, 2 h: rounded up. */
export function duration(seconds: number): string {
  if (seconds <= 90) return `${Math.max(1, Math.ceil(seconds))} s`;
  return seconds <= 5400 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}
