import type { State } from "../state/fields";
import { auditWorker, countWorker } from "../workers/spawn";
import { planOf } from "./plan";
import { AuditRun } from "./run";

/** The audit of the page, and its devices. */
export class AuditSession {
  run: AuditRun | undefined;
  /** The state that the run was started with. */
  state: State | undefined;
  hasGpu: boolean | undefined;
  readonly cores: number;
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
    this.cores = Math.max(1, Math.min(32, navigator.hardwareConcurrency || 1));
  }

  /** Looks once for a GPU, to show it before an audit starts. */
  async findGpu(): Promise<void> {
    if (this.hasGpu !== undefined) return;
    this.hasGpu = false;
    try {
      const adapter = await gpuOf(navigator)?.requestAdapter();
      this.hasGpu = adapter != null && adapter.info?.isFallbackAdapter !== true;
    } catch {
      // as if there were none
    }
    this.#changed();
  }

  start(state: State): void {
    this.run?.cancel();
    const { device, float_mode } = state;
    const crew = { coordinator: auditWorker, counter: countWorker, cores: this.cores };
    this.state = state;
    this.run = new AuditRun(planOf(state), { device, float_mode }, crew, this.#changed);
    void this.run.start();
    this.#changed();
  }
}

interface Gpu {
  requestAdapter(): Promise<{ info?: { isFallbackAdapter?: boolean } } | null>;
}

function gpuOf(navigator: Navigator): Gpu | undefined {
  return "gpu" in navigator ? (navigator.gpu as Gpu) : undefined;
}
