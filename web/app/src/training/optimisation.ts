import type { CanaryOptimizationQuestion, CanaryStep } from "@dpscope/wasm/training_canaries";
import { Client, failureOf, type WorkerLike } from "../../../protocol/protocol";
import type { SentCanaries, SentFiles } from "../workers/sent-files";
import type { OptimiserApi } from "../workers/training-optimiser.worker";

/** A step of some seconds on a slow device, and the time to load the program. */
const PATIENCE_MS = 120_000;

/** Canaries as they are drawn. */
export interface Pictured {
  features: number;
  range: readonly number[];
  start: Float32Array;
  now: Float32Array;
}

/** Canaries that a worker moves along metagradients. */
export class CanaryOptimisation {
  phase: "running" | "done" | "cancelled" | "failed" | undefined;
  asked: CanaryOptimizationQuestion | undefined;
  /** The data that it was started with. */
  files: SentFiles | undefined;
  steps: CanaryStep[] = [];
  pictured: Pictured | undefined;
  failure: string | undefined;
  /** The canaries of the last optimisation that was completed, and their file. */
  canaries: SentCanaries | undefined;
  file: Uint8Array | undefined;
  /** Completed optimisations so far. */
  completed = 0;
  readonly #spawn: () => WorkerLike;
  readonly #changed: () => void;
  #client: Client<OptimiserApi> | undefined;

  constructor(spawn: () => WorkerLike, changed: () => void) {
    this.#spawn = spawn;
    this.#changed = changed;
  }

  async start(asked: CanaryOptimizationQuestion, files: SentFiles | undefined): Promise<void> {
    this.#client?.close();
    const client = new Client<OptimiserApi>(this.#spawn, PATIENCE_MS);
    this.#client = client;
    [this.asked, this.files, this.phase, this.steps] = [asked, files, "running", []];
    [this.failure, this.pictured] = [undefined, undefined];
    this.#changed();
    try {
      const { features, range, shown } = await client.request("open", [asked, files]);
      let isFinished = false;
      this.pictured = { features, range: [...range], start: shown, now: shown };
      while (!isFinished && client === this.#client) {
        const { step, shown: now } = await client.request("step", []);
        if (client !== this.#client) return;
        this.pictured = { ...this.pictured, now };
        this.steps = [...this.steps, step];
        isFinished = step.is_finished;
        this.#changed();
      }
      const { canaries, file } = await client.request("result", []);
      if (client !== this.#client) return;
      [this.canaries, this.file, this.phase] = [canaries, file, "done"];
      this.completed += 1;
    } catch (thrown) {
      if (client !== this.#client) return;
      [this.failure, this.phase] = [failureOf(thrown).message, "failed"];
    }
    client.close();
    this.#client = undefined;
    this.#changed();
  }

  /** Ends the worker; the canaries are those of the optimisation before, if any. */
  cancel(): void {
    if (this.phase !== "running") return;
    this.#client?.close();
    this.#client = undefined;
    this.phase = "cancelled";
    this.#changed();
  }
}
