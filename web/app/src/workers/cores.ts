import type { State } from "../state/fields";

/** A worker takes tens of megabytes. */
const MOST = 32;

/** Cores of this device, as far as the browser says. */
export function coresOf({ hardwareConcurrency }: { hardwareConcurrency?: number }): number {
  return Math.max(1, Math.min(MOST, hardwareConcurrency || 1));
}

/** CPU workers of an audit: the chosen number, else all cores but one. With a worker on each, the page
 * waits up to 0.1 s for a frame. */
export function workersOf({ workers }: Pick<State, "workers">, cores: number): number {
  return workers ?? Math.max(1, cores - 1);
}
