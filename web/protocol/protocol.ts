/**
 * Requests to a worker and its responses. A request ends in a value or a typed failure; a worker that
 * crashes, hangs or traps is terminated, and fails all of its requests. Hand-written, as Comlink has
 * neither timeouts nor failures for a worker that is gone.
 */

import type { Failure } from "@dpscope/wasm/calculators";

export type { Failure };

/** The functions of a worker. */
export type Api = Record<string, (...args: never[]) => unknown>;

export type Result<A extends Api, N extends keyof A> = Awaited<ReturnType<A[N]>>;

export interface Request {
  id: number;
  name: string;
  args: readonly unknown[];
}

export type Outcome<T = unknown> = { value: T } | { failure: Failure };

/** After a fatal failure, for example a trap, the memory of the worker is not to be trusted. */
export type Response = { id: number; isFatal?: boolean } & Outcome;

/** The part of a Worker that is used here, so that tests run without one. */
export interface WorkerLike {
  postMessage(message: unknown, transfer?: Transferable[]): void;
  terminate(): void;
  onmessage: ((event: MessageEvent) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  onmessageerror?: ((event: MessageEvent) => void) | null;
}

type Scope = Pick<DedicatedWorkerGlobalScope, "postMessage" | "onmessage">;

const KINDS = ["input", "limit", "stopped", "device", "file", "internal"];

/** Anything that was thrown, as a failure. */
export function failureOf(thrown: unknown): Failure {
  const { kind, field, message } = (thrown ?? {}) as Partial<Failure>;
  return {
    kind: kind !== undefined && KINDS.includes(kind) ? kind : "internal",
    ...(typeof field === "string" ? { field } : {}),
    message: typeof message === "string" ? message : String(thrown),
  };
}

const AGAIN = "Reload the page; in a notebook, run the cell again.";

/** The failure of a page whose WebAssembly module did not load. */
export function notLoaded(thrown: unknown): Failure {
  const { message } = failureOf(thrown);
  return {
    kind: "file",
    message: `The WebAssembly module could not be loaded (${message}). ${AGAIN} A page opened from disk cannot load it: use a web server such as \`dpscope serve\`.`,
  };
}

/** The worker's side: responds to requests in order once `ready` is, or fails them all. */
export function serve(ready: Promise<unknown>, api: Api, scope: Scope = self as never): void {
  const loading = ready.then(() => undefined, notLoaded);
  scope.onmessage = async ({ data }: MessageEvent<Request>) => {
    const { id, name, args } = data;
    let response: Response;
    try {
      const failure = await loading;
      const call = api[name] as (...args: readonly unknown[]) => unknown;
      response =
        failure === undefined ? { id, value: await call(...args) } : { id, failure, isFatal: true };
    } catch (thrown) {
      const isFatal = (thrown as Partial<Failure> | undefined)?.kind === undefined;
      response = { id, failure: failureOf(thrown), isFatal };
    }
    scope.postMessage(response);
  };
}

/** A timer that ends so much later was of a tab that slept. */
const LATE_MS = 1000;

interface Pending {
  resolve(value: unknown): void;
  reject(failure: Failure): void;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** The page's side: one worker, from its start to its end. */
export class Client<A extends Api> {
  /** Why it responds no more. */
  broken: Failure | undefined;
  /** A worker that takes longer is terminated: browsers do not always report that one is gone. */
  timeout_ms: number;
  #worker: WorkerLike | undefined;
  readonly #pending = new Map<number, Pending>();
  #id = 0;

  constructor(spawn: () => WorkerLike, timeout_ms = Number.POSITIVE_INFINITY) {
    this.timeout_ms = timeout_ms;
    const fail = (message: string) => this.close({ kind: "internal", message });
    try {
      this.#worker = spawn();
      this.#worker.onmessage = (event) => this.#receive(event.data);
      this.#worker.onerror = ({ message }) => fail(message || notLoaded("missing script").message);
      this.#worker.onmessageerror = () => fail("The response of the worker cannot be read.");
    } catch (thrown) {
      fail(`The browser cannot start a worker (${failureOf(thrown).message}). ${AGAIN}`);
    }
  }

  /** Rejects with a failure. */
  request<N extends keyof A & string>(
    name: N,
    args: Parameters<A[N]>,
    transfer: Transferable[] = [],
  ): Promise<Result<A, N>> {
    if (this.broken !== undefined) return Promise.reject(this.broken);
    return new Promise((resolve, reject) => {
      const id = ++this.#id;
      this.#worker?.postMessage({ id, name, args } satisfies Request, transfer);
      const pending = { resolve: resolve as Pending["resolve"], reject, timer: undefined };
      this.#pending.set(id, pending);
      if (Number.isFinite(this.timeout_ms)) this.#limit(pending, this.timeout_ms);
    });
  }

  /** Terminates a worker that takes longer. */
  #limit(pending: Pending, timeout_ms: number): void {
    const end = performance.now() + timeout_ms;
    pending.timer = setTimeout(() => {
      // after the sleep of a tab, timers end before responses arrive
      const isLate = performance.now() - end > LATE_MS;
      if (isLate) this.#limit(pending, timeout_ms);
      else this.close(timedOut(timeout_ms));
    }, timeout_ms);
  }

  /** Terminates the worker at once, in the middle of what it computes. */
  close(failure: Failure = { kind: "stopped", message: "Stopped." }): void {
    if (this.broken !== undefined) return;
    this.broken = failure;
    this.#worker?.terminate();
    for (const { reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(failure);
    }
    this.#pending.clear();
  }

  #receive(response: Response): void {
    const { id, isFatal } = response;
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    if ("value" in response) {
      pending.resolve(response.value);
      return;
    }
    pending.reject(response.failure);
    if (isFatal) this.close(response.failure);
  }
}

function timedOut(timeout_ms: number): Failure {
  const seconds = Math.round(timeout_ms / 1000);
  const message = `No result within ${seconds} seconds in this browser. The command line has no time limit.`;
  return { kind: "limit", message };
}
