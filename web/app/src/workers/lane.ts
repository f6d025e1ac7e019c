import { type Answer, type Call, crashed, type Failure, noWorker, type WorkerLike } from "./calls";

/** Calls made one after the other, answers told as they come. */
export interface Job {
  calls: readonly Call[];
  /** `false` leaves out the rest. */
  answered(index: number, answer: { value: unknown } | { failure: Failure }): boolean | undefined;
}

/** An answer that takes longer comes from the command line, which has the time. */
const LONGEST_MS = 20_000;

/** Does the latest job: one that comes while another runs waits for it, and ends it once it has run
 * for `patience_ms`. A job that never began is forgotten when a newer one comes. A call fails that
 * has no answer within `longest_ms`. */
export class Lane {
  readonly #spawn: () => WorkerLike;
  readonly #patience: number;
  readonly #longest: number;
  #worker: WorkerLike | undefined;
  #current: { job: Job; index: number; id: number } | undefined;
  #next: Job | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #limit: ReturnType<typeof setTimeout> | undefined;
  #id = 0;
  #startedAt = 0;

  constructor(spawn: () => WorkerLike, patience_ms: number, longest_ms = LONGEST_MS) {
    this.#spawn = spawn;
    this.#patience = patience_ms;
    this.#longest = longest_ms;
  }

  get isBusy(): boolean {
    return this.#current !== undefined;
  }

  run(job: Job): void {
    if (this.#current === undefined) {
      this.#start(job);
      return;
    }
    this.#next = job;
    const left = this.#patience - (performance.now() - this.#startedAt);
    this.#timer ??= setTimeout(() => this.#cut(), Math.max(0, left));
  }

  /** Loads the worker before the first job comes. */
  warm(): void {
    try {
      this.#worker ??= this.#opened();
    } catch {
      // the first job says so
    }
  }

  /** Ends what runs and forgets what waits. */
  stop(): void {
    this.#next = undefined;
    if (this.#current !== undefined) this.#cut();
  }

  #start(job: Job): void {
    this.#current = { job, index: 0, id: 0 };
    this.#startedAt = performance.now();
    this.#ask();
  }

  #ask(): void {
    const current = this.#current;
    if (current === undefined) return;
    const call = current.job.calls[current.index];
    if (call === undefined) {
      this.#finish();
      return;
    }
    current.id = ++this.#id;
    clearTimeout(this.#limit);
    this.#limit = setTimeout(() => this.#tooLong(), this.#longest);
    try {
      this.#worker ??= this.#opened();
      this.#worker.postMessage({ id: current.id, call });
    } catch (thrown) {
      this.#fail({ kind: "internal", message: noWorker(thrown) });
    }
  }

  #opened(): WorkerLike {
    const worker = this.#spawn();
    worker.onmessage = (event: MessageEvent<Answer>) => {
      if (worker === this.#worker) this.#got(event.data);
    };
    worker.onerror = (event) => {
      if (worker === this.#worker) this.#fail({ kind: "internal", message: crashed(event) });
    };
    return worker;
  }

  #got(answer: Answer): void {
    const current = this.#current;
    if (current === undefined || answer.id !== current.id) return;
    const goesOn = current.job.answered(current.index, answer);
    if (current !== this.#current) return;
    current.index += 1;
    if (goesOn === false) this.#finish();
    else this.#ask();
  }

  #tooLong(): void {
    const seconds = Math.round(this.#longest / 1000);
    const message = `Not done within ${seconds} seconds in this browser. The command line has the time.`;
    this.#fail({ kind: "stopped", message });
  }

  /** The worker is given up, and the job with it. */
  #fail(failure: Failure): void {
    const current = this.#current;
    this.#worker?.terminate();
    this.#worker = undefined;
    if (current === undefined) return;
    current.job.answered(current.index, { failure });
    if (current === this.#current) this.#finish();
  }

  #cut(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#finish();
  }

  #finish(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#limit);
    this.#timer = undefined;
    this.#current = undefined;
    const next = this.#next;
    this.#next = undefined;
    if (next !== undefined) this.#start(next);
  }
}
