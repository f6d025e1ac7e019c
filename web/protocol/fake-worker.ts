import { failureOf, type Request, type Response, type WorkerLike } from "./protocol";

export const NO_RESPONSE = Symbol("no response");

/** A worker for tests. */
export class FakeWorker implements WorkerLike {
  onmessage: ((event: MessageEvent) => void) | null = null;
  onerror: ((event: ErrorEvent) => void) | null = null;
  isTerminated = false;
  readonly requests: Request[] = [];
  readonly #compute: (request: Request) => unknown;

  /** Responds with what `compute` returns or throws, unless that is `NO_RESPONSE`. */
  constructor(compute: (request: Request) => unknown = () => NO_RESPONSE) {
    this.#compute = compute;
  }

  postMessage(message: unknown): void {
    const request = message as Request;
    this.requests.push(request);
    queueMicrotask(() => {
      try {
        const value = this.#compute(request);
        if (value !== NO_RESPONSE) this.respond({ id: request.id, value });
      } catch (thrown) {
        this.respond({ id: request.id, failure: failureOf(thrown) });
      }
    });
  }

  respond(response: Response): void {
    if (!this.isTerminated) this.onmessage?.({ data: response } as MessageEvent);
  }

  crash(message: string): void {
    this.onerror?.({ message } as ErrorEvent);
  }

  terminate(): void {
    this.isTerminated = true;
  }
}
