/** Measures how long something works, without the sleep of its tab. */
export class Stopwatch {
  readonly #page: Pick<Document, "addEventListener" | "removeEventListener"> | undefined;
  #before_ms = 0;
  #since: number | undefined;

  constructor(page = globalThis.document) {
    this.#page = page;
  }

  start(): void {
    if (this.#since !== undefined) return;
    this.#since = performance.now();
    this.#page?.addEventListener("freeze", this.#sleep);
    this.#page?.addEventListener("resume", this.#wake);
  }

  stop(): void {
    this.#sleep();
    this.#page?.removeEventListener("freeze", this.#sleep);
    this.#page?.removeEventListener("resume", this.#wake);
  }

  get elapsed_ms(): number {
    return this.#before_ms + (this.#since === undefined ? 0 : performance.now() - this.#since);
  }

  readonly #sleep = (): void => {
    this.#before_ms = this.elapsed_ms;
    this.#since = undefined;
  };

  readonly #wake = (): void => {
    this.#since ??= performance.now();
  };
}
