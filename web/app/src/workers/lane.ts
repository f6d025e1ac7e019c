import {
  type Api,
  Client,
  type Failure,
  failureOf,
  type Outcome,
  type Result,
  type WorkerLike,
} from "../../../protocol/protocol";

/** A request of a job; the outcome of a job that was ended never arrives. */
export type Ask<A extends Api> = <N extends keyof A & string>(
  name: N,
  ...args: Parameters<A[N]>
) => Promise<Outcome<Result<A, N>>>;

/** Requests made one after the other. */
export type Job<A extends Api> = (ask: Ask<A>) => Promise<void>;

const LONGEST_MS = 20_000;

/** Runs the latest job. A job that comes while another runs waits for it, and ends it once that has
 * run for `patience_ms`; of the jobs that wait only the newest is run. */
export class Lane<A extends Api> {
  readonly #spawn: () => WorkerLike;
  readonly #patience: number;
  readonly #longest: number;
  #client: Client<A> | undefined;
  #next: Job<A> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #startedAt = 0;
  isBusy = false;

  constructor(spawn: () => WorkerLike, patience_ms: number, longest_ms = LONGEST_MS) {
    this.#spawn = spawn;
    this.#patience = patience_ms;
    this.#longest = longest_ms;
  }

  run(job: Job<A>): void {
    if (!this.isBusy) {
      void this.#start(job);
      return;
    }
    this.#next = job;
    const left = this.#patience - (performance.now() - this.#startedAt);
    this.#timer ??= setTimeout(() => this.#cut(), Math.max(0, left));
  }

  /** Loads the worker before the first job. */
  warm(): Client<A> {
    if (this.#client === undefined || (!this.isBusy && this.#client.broken !== undefined)) {
      this.#client = new Client<A>(this.#spawn, this.#longest);
    }
    return this.#client;
  }

  /** Why its worker responds no more. */
  get broken(): Failure | undefined {
    return this.#client?.broken;
  }

  /** A request beside the jobs; its outcome never arrives if a job ends the worker. */
  readonly ask: Ask<A> = (name, ...args) => this.#ask(this.warm(), name, args);

  /** Ends the job that runs and drops the one that waits. */
  stop(): void {
    this.#next = undefined;
    if (this.isBusy) this.#cut();
  }

  /** Ends the worker for good. */
  close(): void {
    this.stop();
    this.#client?.close();
  }

  async #start(job: Job<A>): Promise<void> {
    const client = this.warm();
    this.isBusy = true;
    this.#startedAt = performance.now();
    try {
      await job((name, ...args) => this.#ask(client, name, args));
    } finally {
      if (client === this.#client) this.#finish();
    }
  }

  async #ask<N extends keyof A & string>(
    client: Client<A>,
    name: N,
    args: Parameters<A[N]>,
  ): Promise<Outcome<Result<A, N>>> {
    const outcome = await client.request(name, args).then(
      (value) => ({ value }),
      (thrown) => ({ failure: failureOf(thrown) }),
    );
    return client === this.#client ? outcome : new Promise(() => undefined);
  }

  #cut(): void {
    this.#client?.close();
    this.#client = undefined;
    this.#finish();
  }

  #finish(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.isBusy = false;
    const next = this.#next;
    this.#next = undefined;
    if (next !== undefined) void this.#start(next);
  }
}
