import { type Answer, crashed, type Failure, type WorkerLike } from "./calls";

interface Waiting {
  resolve(value: unknown): void;
  reject(failure: Failure): void;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** Questions to a worker, each a promise. Once it breaks, every question fails. */
export class Remote {
  readonly #worker: WorkerLike;
  /** An answer that takes longer means that the worker is gone, which browsers do not always tell. */
  patience_ms: number | undefined;
  readonly #waiting = new Map<number, Waiting>();
  #id = 0;
  #broken: Failure | undefined;

  constructor(worker: WorkerLike, patience_ms?: number) {
    this.#worker = worker;
    this.patience_ms = patience_ms;
    worker.onmessage = (event: MessageEvent<Answer>) => this.#got(event.data);
    worker.onerror = (event) => this.#break(crashed(event));
    worker.onmessageerror = () => this.#break("the worker sent what cannot be read");
  }

  /** Why it answers no more, where that is so. */
  get broken(): Failure | undefined {
    return this.#broken;
  }

  ask<T>(name: string, args: readonly unknown[], transfer: Transferable[] = []): Promise<T> {
    const broken = this.#broken;
    if (broken !== undefined) return Promise.reject(broken);
    const id = ++this.#id;
    return new Promise<T>((resolve, reject) => {
      const timer =
        this.patience_ms === undefined
          ? undefined
          : setTimeout(() => this.#break("the worker does not answer"), this.patience_ms);
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject, timer });
      this.#worker.postMessage({ id, call: { name, args } }, transfer);
    });
  }

  close(): void {
    this.#break("stopped", "stopped");
  }

  #got(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    if (waiting === undefined) return;
    this.#waiting.delete(answer.id);
    clearTimeout(waiting.timer);
    if ("failure" in answer) waiting.reject(answer.failure);
    else waiting.resolve(answer.value);
  }

  #break(message: string, kind: Failure["kind"] = "internal"): void {
    if (this.#broken !== undefined) return;
    this.#broken = { kind, message };
    this.#worker.terminate();
    for (const waiting of this.#waiting.values()) {
      clearTimeout(waiting.timer);
      waiting.reject(this.#broken);
    }
    this.#waiting.clear();
  }
}
