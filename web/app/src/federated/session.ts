import type { NoisySumSimulation, RunsAboveTruth, SimulatedSum } from "@dpscope/wasm/one_shot";
import type { WorkerLike } from "../../../protocol/protocol";
import { added } from "../numbers/counts";
import { FEDERATED } from "../state/federated";
import type { State } from "../state/fields";
import { recordOf, statisticsOf } from "../state/records";
import { Lane } from "../workers/lane";
import type { OneShotApi } from "../workers/one-shot.worker";

/** About the time of one request of runs. */
const PART_MS = 200;
const LARGEST_PART = 250;

/** A simulated noisy sum, and runs of it that are counted. */
export class FederatedSession {
  sum: SimulatedSum | undefined;
  failure: string | undefined;
  isStale = true;
  /** Counts over all runs so far. */
  above: RunsAboveTruth | undefined;
  /** Runs that are being counted, those that are done with them. */
  planned = 0;
  #asked: NoisySumSimulation | undefined;
  #key = "";
  readonly #sums: Lane<OneShotApi>;
  readonly #counts: Lane<OneShotApi>;
  readonly #changed: () => void;

  constructor(spawn: () => WorkerLike, changed: () => void) {
    this.#sums = new Lane(spawn, 500);
    this.#counts = new Lane(spawn, 0);
    this.#changed = changed;
  }

  get isCounting(): boolean {
    return this.planned > (this.above?.runs ?? 0);
  }

  show(state: State): void {
    const asked = simulationOf(state);
    const key = JSON.stringify(asked);
    if (key === this.#key) return;
    this.#key = key;
    this.#asked = asked;
    this.isStale = true;
    this.above = undefined;
    this.stop();
    this.#sums.run(async (ask) => {
      const outcome = await ask("simulated", asked);
      this.failure = "failure" in outcome ? outcome.failure.message : undefined;
      this.sum = "value" in outcome ? outcome.value : undefined;
      this.isStale = key !== this.#key;
      this.#changed();
    });
  }

  /** Counts so many more runs, in parts of about the same time. */
  count(runs: number): void {
    const asked = this.#asked;
    if (asked === undefined || this.isCounting) return;
    this.planned = (this.above?.runs ?? 0) + runs;
    this.#counts.run(async (ask) => {
      let part = 4;
      while (this.isCounting) {
        const first = this.above?.runs ?? 0;
        const started = performance.now();
        // run 0 is the one of the picture
        const outcome = await ask("runs", asked, first + 1, Math.min(part, this.planned - first));
        if ("failure" in outcome) {
          this.failure = outcome.failure.message;
          this.planned = first;
        } else this.above = sum(this.above, outcome.value);
        const share = PART_MS / Math.max(1, performance.now() - started);
        part = Math.max(1, Math.min(LARGEST_PART, Math.round(part * Math.min(4, share))));
        this.#changed();
      }
    });
    this.#changed();
  }

  stop(): void {
    this.planned = this.above?.runs ?? 0;
    this.#counts.stop();
    this.#changed();
  }
}

function simulationOf(state: State): NoisySumSimulation {
  return { ...recordOf(state, FEDERATED), ...statisticsOf(state) };
}

function sum(before: RunsAboveTruth | undefined, more: RunsAboveTruth): RunsAboveTruth {
  if (before === undefined) return more;
  return {
    runs: before.runs + more.runs,
    with_leak: added(before.with_leak, more.with_leak),
    without_leak: added(before.without_leak, more.without_leak),
  };
}
