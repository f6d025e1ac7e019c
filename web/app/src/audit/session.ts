import { initialState, type State } from "../state/fields";
import { coresOf, workersOf } from "../workers/cores";
import { auditWorker, countWorker } from "../workers/spawn";
import { planOf } from "./plan";
import { type Backend, Rates } from "./rates";
import { AuditRun } from "./run";
import { simulations } from "./subject";

/** Observations of 100 steps that take some tenths of a second. */
const CALIBRATION = { cpu: 2e5, gpu: 4e6 };

/** The audit of the page, and its devices. */
export class AuditSession {
  run: AuditRun | undefined;
  /** The state that the run was started with. */
  state: State | undefined;
  hasGpu: boolean | undefined;
  readonly cores: number;
  readonly rates: Rates;
  /** A short run that measures the rate. */
  #calibration: AuditRun | undefined;
  readonly #calibrated = new Set<string>();
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
    this.cores = coresOf(navigator);
    this.rates = new Rates(() => localStorage, this.cores);
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
    this.#calibration?.cancel();
    this.state = state;
    const run = this.#runOf(state, () => {
      if (run.phase === "done") this.rates.learn(run);
      this.#changed();
    });
    this.run = run;
    void run.start();
    this.#changed();
  }

  /** What an audit of this state would run on; none until it is known. */
  backendOf({ device }: Pick<State, "device">): Backend | undefined {
    if (device !== "auto") return device;
    return this.hasGpu === undefined ? undefined : this.hasGpu ? "gpu" : "cpu";
  }

  /** Seconds that an audit of this state takes, where this device's rate is known. */
  secondsOf(state: State): number | undefined {
    const backend = this.backendOf(state);
    const rate = backend === undefined ? undefined : this.rates.of(backend, state);
    const { observations, steps, epochs } = state;
    return rate === undefined ? undefined : (observations * steps * epochs) / rate;
  }

  /** Measures the rate of this device once, unless it is known or an audit runs. */
  calibrate(state: State): void {
    const backend = this.backendOf(state);
    const name = backend === "gpu" ? backend : `${backend} ${state.workers}`;
    if (backend === undefined || this.#calibrated.has(name)) return;
    if (this.rates.of(backend, state) !== undefined || this.run?.isOver === false) return;
    // at the same time, each would be measured under the load of the other
    this.#calibration?.cancel();
    this.#calibrated.add(name);
    const { device, float_mode, workers } = state;
    const usual = {
      ...initialState(),
      device,
      float_mode,
      workers,
      observations: CALIBRATION[backend],
    };
    const run = this.#runOf(usual, () => {
      if (run.phase === "cancelled") this.#calibrated.delete(name);
      if (run.phase !== "done") return;
      this.rates.learn(run);
      this.#changed();
    });
    this.#calibration = run;
    void run.start();
  }

  #runOf(state: State, changed: () => void): AuditRun {
    const { device, float_mode } = state;
    const workers = workersOf(state, this.cores);
    const crew = { coordinator: auditWorker, counter: countWorker, workers };
    return new AuditRun(simulations(planOf(state)), { device, float_mode }, crew, changed);
  }
}

interface Gpu {
  requestAdapter(): Promise<{ info?: { isFallbackAdapter?: boolean } } | null>;
}

function gpuOf(navigator: Navigator): Gpu | undefined {
  return "gpu" in navigator ? (navigator.gpu as Gpu) : undefined;
}
