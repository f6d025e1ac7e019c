import type {
  OneRunOptions,
  RankedNull,
  RankedRun,
  RecordedRun,
  RunSimulation,
} from "@dpscope/wasm/one_run";
import type { WorkerLike } from "../../../protocol/protocol";
import { type DroppedFile, DroppedFiles } from "../files/dropped";
import type { State } from "../state/fields";
import { Lane } from "../workers/lane";
import type { OneRunApi } from "../workers/one-run.worker";
import { missing, type RunRole, roleOf } from "./files";

const LONGEST_MS = 120_000;
/** Runs of one step of the animation, and the time between steps. */
const RUNS_OF_STEP = 5;
const STEP_MS = 120;

/** A simulated run, runs in which nothing leaks, and the audit of the reader's files. */
export class OneRunSession {
  run: RankedRun | undefined;
  failure: string | undefined;
  isStale = true;
  /** Counts over all runs so far, and the ranking of the last one. */
  nothing: RankedNull | undefined;
  isPlaying = false;
  readonly files = new DroppedFiles<RunRole>(roleOf, (role) => role === "scores");
  found: RecordedRun | undefined;
  foundFailure: string | undefined;
  isBusy = false;
  #state: State | undefined;
  #key = "";
  #nullKey = "";
  #auditKey = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #runs: Lane<OneRunApi>;
  readonly #nulls: Lane<OneRunApi>;
  readonly #audits: Lane<OneRunApi>;
  readonly #changed: () => void;
  readonly #isOpen: () => boolean;

  constructor(spawn: () => WorkerLike, changed: () => void, isOpen: () => boolean) {
    this.#runs = new Lane(spawn, 500);
    this.#nulls = new Lane(spawn, 500);
    this.#audits = new Lane(spawn, 0, LONGEST_MS);
    this.#changed = changed;
    this.#isOpen = isOpen;
  }

  show(state: State): void {
    const asked = simulationOf(state);
    const [key, nullKey] = [JSON.stringify(asked), JSON.stringify({ ...asked, mu: 0 })];
    const auditKey = JSON.stringify(optionsOf(state, true));
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
    if (auditKey !== this.#auditKey) {
      this.#auditKey = auditKey;
      this.#audit();
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

  async add(files: Iterable<File>): Promise<void> {
    await this.files.add(files);
    this.#audit();
  }

  remove(file: DroppedFile<RunRole>): void {
    this.files.remove(file);
    this.#audit();
  }

  /** What is missing before an audit can start. */
  get waitsFor(): string | undefined {
    return missing(new Set(this.files.usable.map((file) => file.role)));
  }

  /** Whether scores of canaries that were not included stand in place of coins. */
  get hasNull(): boolean {
    return ["null_scores", "pool_scores"].some(
      (role) => this.files.namesOf(role as RunRole).length > 0,
    );
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

  #audit(): void {
    this.found = undefined;
    this.foundFailure = undefined;
    const files = this.files.usable;
    const state = this.#state;
    this.isBusy = state !== undefined && this.waitsFor === undefined;
    this.#changed();
    if (state === undefined || !this.isBusy) {
      this.#audits.stop();
      return;
    }
    this.#audits.run(async (ask) => {
      const outcome = await ask(
        "audit_one_run",
        files.map((file) => file.role),
        files.map((file) => file.name),
        files.map((file) => file.bytes),
        optionsOf(state, this.hasNull),
      );
      if ("failure" in outcome) this.foundFailure = outcome.failure.message;
      else this.found = outcome.value;
      this.isBusy = false;
      this.#changed();
    });
  }
}

function simulationOf(state: State): RunSimulation {
  const { delta, significance, seed } = state;
  return {
    canaries: state.run_canaries,
    guesses: state.run_guesses,
    mu: state.run_mu,
    delta,
    significance,
    seed,
  };
}

function optionsOf(state: State, hasNull: boolean): OneRunOptions {
  const { delta, significance, run_claim } = state;
  return {
    delta,
    significance,
    pairs: state.run_game === "pairs",
    lower: state.run_higher === "other",
    ...(state.run_rule === "fixed" ? { guesses: state.run_guesses } : {}),
    ...(run_claim === undefined ? {} : { claim: run_claim }),
    ...(hasNull && state.run_number === "poisson" ? { mean: state.run_mean } : {}),
    ...(hasNull && state.run_number === "bernoulli"
      ? { slots: state.run_slots, inclusion: state.run_inclusion }
      : {}),
  };
}

function sum(before: RankedNull | undefined, more: RankedNull): RankedNull {
  return {
    runs: (before?.runs ?? 0) + more.runs,
    fixed: (before?.fixed ?? 0) + more.fixed,
    walk: (before?.walk ?? 0) + more.walk,
    largest: (before?.largest ?? 0) + more.largest,
    ranking: more.ranking,
  };
}
