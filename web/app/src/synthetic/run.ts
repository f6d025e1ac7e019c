import type { PateGanAnswer, PateGanQuestion, PateGanSoFar } from "@dpscope/wasm/synth";
import { Client, failureOf, type WorkerLike } from "../../../protocol/protocol";
import type { PateGanApi } from "../workers/pategan.worker";
import type { PateGanCountApi } from "../workers/pategan-count.worker";

export type Phase = "opening" | "running" | "done" | "cancelled" | "failed";

export interface Crew {
  coordinator(): WorkerLike;
  counter(): WorkerLike;
  /** Workers that train. */
  cores: number;
}

/** Runs that are trained at once. */
const LANES = 8;
/** About the time of a range. */
const RANGE_MS = 60;
const EVALUATE_MS = 400;
/** The audit fails after this many broken workers. */
const MOST_CRASHES = 8;
const PATIENCE_MS = 120_000;

interface Worker {
  client: Client<PateGanCountApi>;
  /** Runs of the next range. */
  size: number;
}

/** One audit of PATE-GAN: assigns runs to workers, and those of a broken worker to a new one. */
export class PateGanRun {
  readonly asked: PateGanQuestion;
  phase: Phase = "opening";
  /** Runs of both worlds. */
  done = 0;
  total: number;
  soFar: PateGanSoFar | undefined;
  answer: PateGanAnswer | undefined;
  failure: string | undefined;
  /** Errors that the run recovered from. */
  readonly notes: string[] = [];
  readonly #crew: Crew;
  readonly #changed: () => void;
  readonly #coordinator: Client<PateGanApi>;
  #workers: Worker[] = [];
  #layout = new Uint8Array();
  #crashes = 0;
  #startedAt = 0;
  #endedAt = 0;
  #evaluateAt = 0;
  #isEvaluating = false;

  constructor(asked: PateGanQuestion, crew: Crew, changed: () => void) {
    this.asked = asked;
    this.total = 2 * asked.runs;
    this.#crew = crew;
    this.#changed = changed;
    this.#coordinator = new Client(crew.coordinator);
  }

  get isOver(): boolean {
    return this.phase === "done" || this.phase === "cancelled" || this.phase === "failed";
  }

  get elapsed_ms(): number {
    return (this.isOver ? this.#endedAt : performance.now()) - this.#startedAt;
  }

  async start(): Promise<void> {
    this.#startedAt = performance.now();
    try {
      const { layout, total } = await this.#coordinator.request("open", [this.asked]);
      this.#layout = layout as Uint8Array<ArrayBuffer>;
      this.total = total;
      if (this.isOver) return;
      this.phase = "running";
      const most = Math.ceil(this.asked.runs / LANES);
      for (let core = 0; core < Math.min(this.#crew.cores, most); core += 1) void this.#employ();
    } catch (failure) {
      this.#fail(failure);
    }
  }

  /** Terminates the workers at once, in the middle of a range. */
  cancel(): void {
    if (!this.isOver) this.#end("cancelled");
  }

  /** A new worker, with two ranges at a time, so that it never waits for a message. */
  async #employ(): Promise<void> {
    const client = new Client<PateGanCountApi>(this.#crew.counter, PATIENCE_MS);
    const worker = { client, size: LANES };
    this.#workers.push(worker);
    try {
      await client.request("prepare", [this.#layout]);
    } catch (failure) {
      this.#replace(worker, failure);
      return;
    }
    void this.#work(worker);
    void this.#work(worker);
  }

  async #work(worker: Worker): Promise<void> {
    while (this.phase === "running" && worker.client.broken === undefined) {
      const range = await this.#next(worker.size);
      if (range === undefined) return;
      const { first, end } = range;
      const startedAt = performance.now();
      let evidence: Uint8Array;
      try {
        evidence = await worker.client.request("count", [first, end]);
      } catch (failure) {
        if (this.isOver) return;
        await this.#coordinator.request("release", [first, end]).catch(() => undefined);
        this.#replace(worker, failure);
        return;
      }
      // half of the time it waited behind another range
      const took = Math.max(1, (performance.now() - startedAt) / 2);
      worker.size = sizeOf(worker.size, end - first, took);
      await this.#add(evidence);
    }
  }

  async #next(runs: number): Promise<{ first: number; end: number } | undefined> {
    try {
      return await this.#coordinator.request("next", [runs]);
    } catch (failure) {
      this.#fail(failure);
      return undefined;
    }
  }

  async #add(evidence: Uint8Array): Promise<void> {
    try {
      const { done } = await this.#coordinator.request("add", [evidence], [evidence.buffer]);
      this.done = done;
      if (done === this.total) await this.#finish();
      else this.#evaluate();
    } catch (failure) {
      this.#fail(failure);
    }
  }

  #replace(worker: Worker, failure: unknown): void {
    if (this.isOver || !this.#workers.includes(worker)) return;
    this.#workers = this.#workers.filter((other) => other !== worker);
    worker.client.close();
    this.#crashes += 1;
    if (this.#crashes > MOST_CRASHES) {
      this.#fail(failure);
      return;
    }
    this.notes.push(`A worker failed (${failureOf(failure).message}); its runs are trained again.`);
    void this.#employ();
  }

  /** Evaluates the runs so far now and then: the attack must not keep the workers waiting. */
  #evaluate(): void {
    this.#changed();
    const startedAt = performance.now();
    if (this.#isEvaluating || startedAt < this.#evaluateAt) return;
    this.#isEvaluating = true;
    this.#coordinator.request("so_far", []).then(
      (soFar) => {
        const now = performance.now();
        this.#evaluateAt = now + Math.max(EVALUATE_MS, 4 * (now - startedAt));
        this.#isEvaluating = false;
        this.soFar = soFar;
        this.#changed();
      },
      (failure) => this.#fail(failure),
    );
  }

  async #finish(): Promise<void> {
    const answer = await this.#coordinator.request("report", [this.elapsed_ms]);
    if (this.isOver) return;
    this.answer = answer;
    this.#end("done");
  }

  #fail(failure: unknown): void {
    if (this.isOver) return;
    this.failure = failureOf(failure).message;
    this.#end("failed");
  }

  #end(phase: Phase): void {
    this.#endedAt = performance.now();
    this.phase = phase;
    this.#coordinator.close();
    for (const { client } of this.#workers) client.close();
    this.#workers = [];
    this.#changed();
  }
}

/** Whole groups of lanes that take about the time of a range. */
function sizeOf(before: number, runs: number, took_ms: number): number {
  const ideal = (runs * RANGE_MS) / took_ms;
  const near = Math.min(2 * before, Math.max(before / 2, ideal));
  return Math.max(LANES, LANES * Math.round(near / LANES));
}
