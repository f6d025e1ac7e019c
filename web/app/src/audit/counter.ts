import { Client, type WorkerLike } from "../../../protocol/protocol";
import type { CountApi } from "../workers/count.worker";

export interface Range {
  first: number;
  end: number;
}

/** Work of one range: a worker ends only after the one it is at, so short enough to stop within
 * 100 ms, and long enough to be worth a message and a layout to be read, which take about 1 ms. */
const RANGE_MS = { cpu: 25, gpu: 200 };
/** Observations, and normals of each world, in a first range: its pace is not known yet. */
const FIRST_RANGE = { cpu: 1024, gpu: 65_536 };
const FIRST_NORMALS = { cpu: 1e6, gpu: 4e8 };
const FEWEST = 16;
/** A GPU may have shaders to compile, and a worker its program to load. */
const PATIENCE_MS = 30_000;
const PATIENCE_AT_WORK_MS = 10_000;

/** A worker that counts ranges, and how large a range it is given. */
export class Counter {
  readonly client: Client<CountApi>;
  readonly kind: "cpu" | "gpu";
  /** Observations of each world in the next range. */
  size: number;
  /** Ranges that it was given and has not answered. */
  questions = 0;
  #startedAt = 0;

  /** `length`: normals of an observation. */
  constructor(spawn: () => WorkerLike, kind: "cpu" | "gpu", length: number) {
    this.client = new Client(spawn, PATIENCE_MS);
    this.kind = kind;
    const first = Math.min(FIRST_RANGE[kind], FIRST_NORMALS[kind] / length);
    this.size = Math.max(FEWEST, Math.round(first));
  }

  async count({ first, end }: Range): Promise<Uint8Array> {
    const asked = performance.now();
    const counted = await this.client.request("count", [first, end]);
    const now = performance.now();
    // A question may have waited behind the one before it.
    const took = Math.max(1, now - Math.max(asked, this.#startedAt));
    this.#startedAt = now;
    if (this.kind === "cpu") this.client.timeout_ms = PATIENCE_AT_WORK_MS;
    const wanted = ((end - first) * RANGE_MS[this.kind]) / took;
    this.size = Math.max(
      FEWEST,
      Math.round(Math.min(4 * this.size, Math.max(this.size / 4, wanted))),
    );
    return counted;
  }
}
