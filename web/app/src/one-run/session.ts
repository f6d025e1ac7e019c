import type { RankedNull, RankedRun, RunSimulation } from "@dpscope/wasm/studies";
import type { WorkerLike } from "../../../protocol/protocol";
import { added } from "../numbers/counts";
import type { State } from "../state/fields";
import { RUN } from "../state/one-run";
import { recordOf, statisticsOf } from "../state/records";
import { Lane } from "../workers/lane";
import type { StudiesApi } from "../workers/studies";

/** Runs of one step of the animation, and the time between steps. */
const RUNS_OF_STEP = 5;
const STEP_MS = 120;

/** A simulated run, and runs in which nothing leaks. */
export class OneRunSession {
  run: RankedRun | undefined;
  failure: string | undefined;
  isStale = true;
  /** Counts over all runs so far, and the ranking of the last one. */
  nothing: RankedNull | undefined;
  isPlaying = false;
  #state: State | undefined;
  #key = "";
  #nullKey = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #runs: Lane<StudiesApi>;
  readonly #nulls: Lane<StudiesApi>;
  readonly #changed: () => void;
  readonly #isOpen: () => boolean;

  constructor(spawn: () => WorkerLike, changed: () => void, isOpen: () => boolean) {
    this.#runs = new Lane(spawn, 500);
    this.#nulls = new Lane(spawn, 500);
    this.#changed = changed;
    this.#isOpen = isOpen;
  }

  show(state: State): void {
    const asked = simulationOf(state);
    const [key, nullKey] = [JSON.stringify(asked), JSON.stringify({ ...asked, mu: 0 })];
    this.#state = state;
    if (nullKey !== this.#nullKey) {
      this.#nullKey = nullKey;
      this.#nulls.stop();
      this.nothing = undefined;
      this.#next();
    }
    if (key !== this.#key) {
      this.#key = key;
      this.#simulate(asked);
    }
  }

  play(): void {
    this.isPlaying = true;
    this.redrawCoins(RUNS_OF_STEP);
    this.#changed();
  }

  pause(): void {
    this.isPlaying = false;
    clearTimeout(this.#timer);
    this.#changed();
  }

  /** Draws the coins of runs in which nothing leaks anew. */
  redrawCoins(runs: number): void {
    const state = this.#state;
    if (state === undefined || this.#nulls.isBusy) return;
    const before = this.nothing;
    this.#nulls.run(async (ask) => {
      const outcome = await ask("one_run_null", simulationOf(state), before?.runs ?? 0, runs);
      if ("failure" in outcome) {
        this.failure = outcome.failure.message;
        this.isPlaying = false;
      } else this.nothing = sum(before, outcome.value);
      this.#changed();
      this.#next();
    });
  }

  #simulate(asked: RunSimulation): void {
    this.isStale = true;
    this.#runs.run(async (ask) => {
      const outcome = await ask("one_run_simulated", asked);
      this.failure = "failure" in outcome ? outcome.failure.message : undefined;
      if ("value" in outcome) this.run = outcome.value;
      this.isStale = JSON.stringify(asked) !== this.#key;
      this.#changed();
    });
  }

  #next(): void {
    clearTimeout(this.#timer);
    if (this.isPlaying && !this.#isOpen()) this.isPlaying = false;
    if (this.isPlaying) this.#timer = setTimeout(() => this.redrawCoins(RUNS_OF_STEP), STEP_MS);
  }
}

function simulationOf(state: State): RunSimulation {
  return { ...recordOf(state, RUN), ...statisticsOf(state) };
}

function sum(before: RankedNull | undefined, { ranking, ...more }: RankedNull): RankedNull {
  if (before === undefined) return { ...more, ranking };
  const { ranking: _, ...counts } = before;
  return { ...added(counts, more), ranking };
}
