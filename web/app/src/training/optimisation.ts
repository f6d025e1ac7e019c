import type { CanaryStep } from "@dpscope/wasm/training_canaries";
import { Client, type WorkerLike } from "../../../protocol/protocol";
import { type DataNames, optimizationWords } from "../copies/trained";
import { freshSeed } from "../state/seed";
import { OPTIMISATION } from "../state/training";
import type { SentCanaries, SentFiles } from "../workers/sent-files";
import type { OptimiserApi } from "../workers/training-optimiser.worker";
import { refusalOf, sentCommand } from "./command";
import type { CanaryOptimizationQuestion } from "./question";
import { SavedWork, type Storage } from "./saved";

/** On a slow device a step of LeNet-5 takes some minutes, and one of the MLP with its usual steps of
 * training some seconds. */
const PATIENCE_MS = { mlp: 120_000, lenet: 1_200_000 };
const USUAL_STEPS = 150;
const SAVE_MS = 1000;
const NAME = "dpscope-training-optimisation";

/** Canaries as they are drawn. */
export interface Pictured {
  features: number;
  range: readonly number[];
  start: Float32Array;
  now: Float32Array;
}

/** What is shown of an optimisation. */
export interface Course {
  asked: CanaryOptimizationQuestion;
  names: DataNames;
  steps: CanaryStep[];
  pictured: Pictured | undefined;
}

/** An optimisation that can be continued. */
interface Interrupted extends Course {
  state: Uint8Array;
  /** The data set that it was started with. */
  files: SentFiles | undefined;
}

interface Saved {
  /** Of the page that wrote it. */
  version: string;
  completed: (Course & { canaries: SentCanaries }) | undefined;
  interrupted: Interrupted | undefined;
  /** Those of the interrupted one, which has none here. */
  files: SentFiles | undefined;
}

interface Surroundings {
  spawn(): WorkerLike;
  storage: Storage;
  version: string;
  changed(): void;
}

/** Canaries that a worker moves along metagradients. */
export class CanaryOptimisation {
  phase: "running" | "done" | "cancelled" | "interrupted" | "failed" | undefined;
  course: Course | undefined;
  failure: string | undefined;
  /** What the last step took. */
  step_ms: number | undefined;
  /** Why a reload loses the canaries. */
  unsaved: string | undefined;
  readonly #around: Surroundings;
  readonly #storage: SavedWork<Saved>;
  #client: Client<OptimiserApi> | undefined;
  #completed: Saved["completed"];
  #interrupted: Interrupted | undefined;
  #savedAt = Number.NEGATIVE_INFINITY;

  constructor(around: Surroundings) {
    this.#around = around;
    this.#storage = new SavedWork(around.storage, NAME);
    void this.#storage.load(around.version).then((saved) => {
      if (saved === undefined || this.phase !== undefined) return;
      const { completed, interrupted, files } = saved;
      this.#completed = completed;
      this.#interrupted = interrupted && { ...interrupted, files };
      this.course = interrupted ?? completed;
      this.phase = interrupted === undefined ? "done" : "interrupted";
      around.changed();
    });
  }

  /** The canaries of the last optimisation that was completed. */
  get canaries(): SentCanaries | undefined {
    return this.#completed?.canaries;
  }

  /** Steps after which it can be continued, if it was ended before its last one. */
  get continuesAfter(): number | undefined {
    return this.phase === "running" ? undefined : this.#interrupted?.steps.at(-1)?.metasteps;
  }

  start(asked: CanaryOptimizationQuestion, files: SentFiles | undefined): Promise<void> {
    const names = { data: files?.data?.name, labels: files?.labels?.name };
    this.#savedAt = Number.NEGATIVE_INFINITY;
    return this.#run({ asked, names, steps: [], pictured: undefined }, files, undefined);
  }

  /** Continues after the last step that was saved. */
  async resume(): Promise<void> {
    const interrupted = this.#interrupted;
    if (interrupted === undefined) return;
    const { state, files, ...course } = interrupted;
    await this.#run(course, files, state);
  }

  /** Ends the worker; the canaries are those of the optimisation before, if any. */
  cancel(): void {
    if (this.phase !== "running") return;
    this.#client?.close();
    this.#client = undefined;
    this.phase = "cancelled";
    this.#around.changed();
  }

  async #run(
    course: Course,
    files: SentFiles | undefined,
    saved: Uint8Array | undefined,
  ): Promise<void> {
    this.#client?.close();
    const client = new Client<OptimiserApi>(this.#around.spawn, patienceOf(course.asked));
    this.#client = client;
    [this.course, this.phase, this.failure] = [course, "running", undefined];
    this.step_ms = undefined;
    this.#around.changed();
    try {
      const command = sentCommand(optimizationWords(course.asked, course.names), files);
      const { features, range, shown } = await client.request("open", [command, saved]);
      const start = course.pictured?.start ?? shown;
      let pictured: Pictured = { features, range: [...range], start, now: shown };
      let { steps } = course;
      let isFinished = false;
      while (!isFinished && client === this.#client) {
        const startedAt = performance.now();
        const { step, shown: now } = await client.request("step", []);
        if (client !== this.#client) return;
        this.step_ms = performance.now() - startedAt;
        [pictured, steps] = [{ ...pictured, now }, [...steps, step]];
        this.course = { ...course, pictured, steps };
        isFinished = step.is_finished;
        if (!isFinished) await this.#keep(client, this.course, files);
        this.#around.changed();
      }
      const file = await client.request("file", []);
      if (client !== this.#client) return;
      const canaries = { file, count: course.asked.canaries, id: freshSeed() };
      this.#completed = { ...course, pictured, steps, canaries };
      [this.#interrupted, this.phase] = [undefined, "done"];
      this.#save();
    } catch (thrown) {
      if (client !== this.#client) return;
      [this.failure, this.phase] = [refusalOf(thrown, OPTIMISATION), "failed"];
    }
    client.close();
    this.#client = undefined;
    this.#around.changed();
  }

  /** Keeps the steps so far for the next visit, unless that was done just before. */
  async #keep(
    client: Client<OptimiserApi>,
    course: Course,
    files: SentFiles | undefined,
  ): Promise<void> {
    if (performance.now() - this.#savedAt < SAVE_MS) return;
    const state = await client.request("to_bytes", []);
    if (client !== this.#client) return;
    this.#interrupted = { ...course, state, files };
    this.#save();
  }

  #save(): void {
    this.#savedAt = performance.now();
    const { version, changed } = this.#around;
    const [completed, interrupted] = [this.#completed, this.#interrupted];
    // SavedWork writes files apart
    const stored = interrupted && { ...interrupted, files: undefined };
    const work = { version, completed, interrupted: stored, files: interrupted?.files };
    void this.#storage.save(work).then((problem) => {
      if (problem === this.unsaved) return;
      this.unsaved = problem;
      changed();
    });
  }
}

function patienceOf({ model, steps = USUAL_STEPS }: CanaryOptimizationQuestion): number {
  if (model === "lenet") return PATIENCE_MS.lenet;
  const scaled = PATIENCE_MS.mlp * Math.max(1, steps / USUAL_STEPS);
  return Math.min(scaled, PATIENCE_MS.lenet);
}
