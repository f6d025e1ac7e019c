import type { AuditPlan } from "@dpscope/wasm/audits";
import { Client, failureOf, type WorkerLike } from "../../../protocol/protocol";
import { Counter } from "./counter";
import type { Backend } from "./rates";
import { Stopwatch } from "./stopwatch";
import type { CoordinatorApi, Estimate, Found, Range, Subject } from "./subject";

export type Phase = "opening" | "running" | "paused" | "done" | "cancelled" | "failed";

export interface Crew {
  coordinator(): WorkerLike;
  counter(): WorkerLike;
  /** CPU workers. */
  workers: number;
}

export interface Options {
  /** `gpu` accepts a software adapter too. */
  device: "auto" | "gpu" | "cpu";
  float_mode: "exact" | "fast";
}

/** The audit fails after this many broken workers. */
const MOST_CRASHES = 8;
const EVALUATE_MS = 250;

/** One audit: assigns ranges to workers, and those of a broken worker to a new one. No count is lost,
 * and none is added twice: the coordinator rejects both. */
export class AuditRun<P = AuditPlan, F = Found, A = void> {
  phase: Phase = "opening";
  readonly subject: Subject<P, F, A>;
  readonly options: Options;
  done = 0;
  total: number;
  /** What the counts so far show. */
  found: F | undefined;
  /** What the coordinator says of all counts. */
  answer: A | undefined;
  /** ε as observations were added. */
  readonly history: Estimate[] = [];
  /** The device that counts, for display. */
  device = "";
  /** Its kind; none until a device was opened. */
  backend: Backend | undefined;
  /** Errors that the run recovered from. */
  readonly notes: string[] = [];
  failure: string | undefined;
  readonly #crew: Crew;
  readonly #changed: () => void;
  readonly #coordinator: Client<CoordinatorApi<F>>;
  #counters: Counter[] = [];
  /** Includes those that are opening or have failed. */
  readonly #all: Counter[] = [];
  #layout: Uint8Array = new Uint8Array();
  #crashes = 0;
  /** When the next evaluation may start. */
  #evaluateAt = Number.NEGATIVE_INFINITY;
  /** The evaluation under way. */
  #evaluation: Promise<void> | undefined;
  readonly #clock = new Stopwatch();

  constructor(subject: Subject<P, F, A>, options: Options, crew: Crew, changed: () => void) {
    this.subject = subject;
    this.options = options;
    this.total = subject.total;
    this.#crew = crew;
    this.#changed = changed;
    this.#coordinator = new Client(crew.coordinator);
  }

  /** CPU workers, where no GPU counts. */
  get workers(): number {
    return this.#crew.workers;
  }

  get plan(): P {
    return this.subject.plan;
  }

  get isOver(): boolean {
    return this.phase === "done" || this.phase === "cancelled" || this.phase === "failed";
  }

  async start(): Promise<void> {
    try {
      const asked = [...this.subject.opens] as never[];
      const { layout, done, total } = await this.#coordinator.request("open", asked);
      this.#layout = layout;
      this.done = done;
      this.total = total;
      this.subject.begun?.(layout);
      if (this.options.device === "cpu" || !(await this.#hasGpu())) await this.#useCpu();
      if (this.phase === "opening") this.#go();
      if (this.done === this.total) await this.#finish();
    } catch (failure) {
      this.#fail(failure);
    }
  }

  pause(): void {
    if (this.phase !== "running") return;
    this.#clock.stop();
    this.phase = "paused";
    this.#changed();
  }

  resume(): void {
    if (this.phase === "paused") this.#go();
  }

  /** Terminates the workers at once, in the middle of a range. */
  cancel(): void {
    if (this.isOver) return;
    this.#end("cancelled");
  }

  /** The counts so far, as a file for `dpscope resume`. */
  checkpoint(): Promise<Uint8Array> {
    return this.#coordinator.request("to_bytes", []);
  }

  #go(): void {
    this.phase = "running";
    this.#clock.start();
    for (const counter of this.#counters) {
      const { broken } = counter.client;
      if (broken === undefined) this.#employ(counter);
      else this.#replace(counter, broken).catch((failure) => this.#fail(failure));
    }
    this.#changed();
  }

  /** Two ranges at a time, so that none waits for a message. */
  #employ(counter: Counter): void {
    while (counter.assigned < 2) {
      counter.assigned += 1;
      void this.#work(counter).finally(() => {
        counter.assigned -= 1;
      });
    }
  }

  async #work(counter: Counter): Promise<void> {
    while (this.phase === "running" && counter.client.broken === undefined) {
      let range: Range | undefined;
      try {
        range = await this.#coordinator.request("next", [counter.size]);
        if (range === undefined) return;
        const counted = await counter.count(range);
        const { done } = await this.#coordinator.request("add", [counted], [counted.buffer]);
        this.done = done;
        if (done === this.total) await this.#finish();
        else this.#evaluate();
      } catch (failure) {
        await this.#broken(counter, range, failure);
        return;
      }
    }
  }

  async #broken(counter: Counter, range: Range | undefined, failure: unknown): Promise<void> {
    if (this.isOver) return;
    try {
      if (range === undefined) throw failure;
      await this.#coordinator.request("release", [range.first, range.end]);
      if (this.#counters.includes(counter)) await this.#replace(counter, failure);
      else this.#wake();
    } catch (error) {
      this.#fail(error);
    }
  }

  async #replace(counter: Counter, failure: unknown): Promise<void> {
    this.#counters = this.#counters.filter((other) => other !== counter);
    counter.client.close();
    this.#crashed(failure);
    const what = counter.kind === "gpu" ? "The GPU" : "A worker";
    this.notes.push(`${what} failed (${failureOf(failure).message}); ${this.subject.recovery}.`);
    if (counter.kind === "gpu") await this.#useCpu();
    else {
      const opened = await this.#reopened(); // others may have been replaced meanwhile
      this.#counters.push(opened);
    }
    this.#wake();
  }

  #crashed(failure: unknown): void {
    this.#crashes += 1;
    if (this.#crashes > MOST_CRASHES) throw failure;
  }

  async #reopened(): Promise<Counter> {
    for (;;) {
      try {
        return await this.#opened("cpu");
      } catch (failure) {
        if (this.isOver) throw failure;
        this.#crashed(failure);
      }
    }
  }

  /** Assigns released ranges again. */
  #wake(): void {
    if (this.phase === "running") for (const counter of this.#counters) this.#employ(counter);
    this.#changed();
  }

  async #opened(kind: "cpu" | "gpu"): Promise<Counter> {
    if (this.isOver) throw new Error("the audit is over");
    const { pace, shares } = this.subject;
    const counter = new Counter(this.#crew.counter, kind, pace);
    this.#all.push(counter);
    await counter.client.request("prepare", [this.#layout, ...shares] as never[]);
    return counter;
  }

  async #hasGpu(): Promise<boolean> {
    const counter = await this.#opened("gpu");
    try {
      const name = await counter.client.request("open_gpu", [
        this.options.float_mode,
        this.options.device === "gpu",
      ]);
      this.#counters = [counter];
      this.backend = "gpu";
      this.device = name.startsWith("gpu") ? "WebGPU" : `WebGPU: ${name}`;
      return true;
    } catch (failure) {
      counter.client.close();
      if (this.options.device === "gpu")
        this.notes.push(`WebGPU is not available: ${failureOf(failure).message}.`);
      return false;
    }
  }

  async #useCpu(): Promise<void> {
    const { workers } = this.#crew;
    const opening = Array.from({ length: workers }, () => this.#opened("cpu"));
    this.#counters = await Promise.all(opening);
    this.backend = "cpu";
    this.device = `CPU: ${workers} ${workers === 1 ? "worker" : "workers"}`;
  }

  /** Evaluates the counts so far, a few times per second: a slow evaluation must not keep the workers
   * waiting. */
  #evaluate(): void {
    const startedAt = performance.now();
    if (this.#evaluation !== undefined || startedAt < this.#evaluateAt) return;
    this.#evaluation = this.#evaluateNow()
      .catch((failure) => this.#fail(failure))
      .finally(() => {
        const took = performance.now() - startedAt;
        this.#evaluateAt = startedAt + Math.max(EVALUATE_MS, 5 * took);
        this.#evaluation = undefined;
      });
  }

  async #evaluateNow(): Promise<void> {
    const found = await this.#coordinator.request("evaluate", []);
    await this.subject.evaluated?.(this.#coordinator, found);
    this.found = found;
    const estimate = this.subject.estimate(found);
    if (
      estimate !== undefined &&
      (this.history.at(-1)?.observations ?? 0) < estimate.observations
    ) {
      const { observations, epsilon } = estimate;
      this.history.push({ observations, epsilon });
    }
    this.#changed();
  }

  async #finish(): Promise<void> {
    await this.#evaluation; // an older one must not end later
    if (this.isOver) return;
    if (this.subject.skipsLastEvaluation !== true) await this.#evaluateNow();
    this.answer = await this.subject.finished?.(this.#coordinator, this.elapsed_ms);
    this.#end("done");
  }

  #fail(failure: unknown): void {
    if (this.isOver) return;
    this.failure = failureOf(failure).message;
    this.#end("failed");
  }

  #end(phase: Phase): void {
    this.#clock.stop();
    this.phase = phase;
    this.#coordinator.close();
    for (const counter of this.#all) counter.client.close();
    this.#counters = [];
    this.#changed();
  }

  /** Time spent counting so far. */
  get elapsed_ms(): number {
    return this.#clock.elapsed_ms;
  }
}
