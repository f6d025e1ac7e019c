import { Client, type WorkerLike } from "../../../protocol/protocol";
import type { CounterApi, Pace, Range } from "./subject";

/** A worker that counts ranges, and the size of its next range. */
export class Counter {
  readonly client: Client<CounterApi>;
  readonly kind: "cpu" | "gpu";
  /** Observations of each world in the next range. */
  size: number;
  /** Ranges that are assigned and not counted yet. */
  assigned = 0;
  readonly #pace: Pace;
  #startedAt = 0;

  constructor(spawn: () => WorkerLike, kind: "cpu" | "gpu", pace: Pace) {
    this.client = new Client(spawn, pace.patience_ms);
    this.kind = kind;
    this.size = pace.first[kind];
    this.#pace = pace;
  }

  async count({ first, end }: Range): Promise<Uint8Array> {
    const requestedAt = performance.now();
    const counted = await this.client.request("count", [first, end]);
    const now = performance.now();
    // A range may have waited behind the one before it.
    const took = Math.max(1, now - Math.max(requestedAt, this.#startedAt));
    this.#startedAt = now;
    const { range_ms, fewest, patience_at_work_ms } = this.#pace;
    if (this.kind === "cpu") this.client.timeout_ms = patience_at_work_ms;
    const ideal = ((end - first) * range_ms[this.kind]) / took;
    const near = Math.min(4 * this.size, Math.max(this.size / 4, ideal));
    this.size = fewest * Math.max(1, Math.round(near / fewest));
    return counted;
  }
}
