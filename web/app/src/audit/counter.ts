import type { Failure, WorkerLike } from "../workers/calls";
import { Remote } from "../workers/remote";

export interface Range {
  first: number;
  end: number;
}

/** Work of one range: short enough to stop soon, long enough to be worth a message. */
const RANGE_MS = { cpu: 50, gpu: 200 };
const FIRST_RANGE = { cpu: 1024, gpu: 65_536 };
const PATIENCE_MS = 30_000;

/** A worker that counts ranges, and how large a range it is given. */
export class Counter {
  readonly remote: Remote;
  readonly kind: "cpu" | "gpu";
  /** Observations of each world in the next range. */
  size: number;
  /** Ranges that it was given and has not answered. */
  questions = 0;
  #startedAt = 0;

  constructor(worker: WorkerLike, kind: "cpu" | "gpu") {
    this.remote = new Remote(worker, PATIENCE_MS);
    this.kind = kind;
    this.size = FIRST_RANGE[kind];
  }

  async count({ first, end }: Range): Promise<Uint8Array> {
    const asked = performance.now();
    const counted = await this.remote.ask<Uint8Array>("count", [first, end]);
    const now = performance.now();
    // A question may have waited behind the one before it.
    const took = Math.max(1, now - Math.max(asked, this.#startedAt));
    this.#startedAt = now;
    const wanted = ((end - first) * RANGE_MS[this.kind]) / took;
    this.size = Math.max(16, Math.round(Math.min(4 * this.size, Math.max(this.size / 4, wanted))));
    return counted;
  }
}

export function messageOf(failure: unknown): string {
  return (failure as Partial<Failure>).message ?? String(failure);
}
