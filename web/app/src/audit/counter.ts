import { Client, type WorkerLike } from "../../../protocol/protocol";
import type { CountApi } from "../workers/count.worker";

export interface Range {
  first: number;
  end: number;
}

/** Target time of a range: short enough to pause within 100 ms, and long compared with the message
 * and the layout, which take about 1 ms. */
const RANGE_MS = { cpu: 25, gpu: 200 };
/** Limits of the first range, whose speed is unknown: observations, and normals of each world. */
const FIRST_RANGE = { cpu: 1024, gpu: 65_536 };
const FIRST_NORMALS = { cpu: 1e6, gpu: 4e8 };
const FEWEST = 16;
/** Time limits; at first a GPU may compile shaders, and a worker load its program. */
const PATIENCE_MS = 30_000;
const PATIENCE_AT_WORK_MS = 10_000;

/** A worker that counts ranges, and the size of its next range. */
export class Counter {
  readonly client: Client<CountApi>;
  readonly kind: "cpu" | "gpu";
  /** Observations of each world in the next range. */
  size: number;
  /** Ranges that are assigned and not counted yet. */
  assigned = 0;
  #startedAt = 0;

  /** `length`: normals of an observation. */
  constructor(spawn: () => WorkerLike, kind: "cpu" | "gpu", length: number) {
    this.client = new Client(spawn, PATIENCE_MS);
    this.kind = kind;
    const first = Math.min(FIRST_RANGE[kind], FIRST_NORMALS[kind] / length);
    this.size = Math.max(FEWEST, Math.round(first));
  }

  async count({ first, end }: Range): Promise<Uint8Array> {
    const requestedAt = performance.now();
    const counted = await this.client.request("count", [first, end]);
    const now = performance.now();
    // A range may have waited behind the one before it.
    const took = Math.max(1, now - Math.max(requestedAt, this.#startedAt));
    this.#startedAt = now;
    if (this.kind === "cpu") this.client.timeout_ms = PATIENCE_AT_WORK_MS;
    const ideal = ((end - first) * RANGE_MS[this.kind]) / took;
    this.size = Math.max(
      FEWEST,
      Math.round(Math.min(4 * this.size, Math.max(this.size / 4, ideal))),
    );
    return counted;
  }
}
