import type { Failure } from "@dpscope/wasm/calculators";

export type { Failure };

/** What a page asks of a worker, and what comes back. */
export interface Call {
  name: string;
  args: readonly unknown[];
}

export interface Question {
  id: number;
  call: Call;
}

export type Answer = { id: number; value: unknown } | { id: number; failure: Failure };

const KINDS = ["input", "limit", "stopped", "device", "file", "internal"];

/** Whatever was thrown, as a failure. */
export function asFailure(thrown: unknown): Failure {
  if (typeof thrown === "object" && thrown !== null && "message" in thrown) {
    const { message } = thrown;
    const kind = "kind" in thrown ? String(thrown.kind) : "internal";
    const field = "field" in thrown && typeof thrown.field === "string" ? thrown.field : undefined;
    return {
      kind: (KINDS.includes(kind) ? kind : "internal") as Failure["kind"],
      ...(field === undefined ? {} : { field }),
      message: String(message),
    };
  }
  return { kind: "internal", message: String(thrown) };
}

export function isFailure(thrown: unknown): thrown is Failure {
  return typeof thrown === "object" && thrown !== null && "kind" in thrown && "message" in thrown;
}

const RELOAD =
  "Reload the page. A file on the disk cannot start it: `dpscope serve` opens it as it must be.";

/** A worker whose program did not come. */
export function notLoaded(why: unknown): Failure {
  const message = `What computes here could not be loaded (${asFailure(why).message}). ${RELOAD}`;
  return { kind: "internal", message };
}

/** What a worker's error event says. */
export function crashed({ message }: ErrorEvent): string {
  return message || notLoaded("no file").message;
}

/** A browser that starts no workers. */
export function noWorker(thrown: unknown): string {
  return `The browser starts no workers (${asFailure(thrown).message}). ${RELOAD}`;
}

/** The part of a Worker that is used here, so that logic runs in tests without one. */
export interface WorkerLike {
  postMessage(message: unknown, transfer?: Transferable[]): void;
  terminate(): void;
  onmessage: ((event: MessageEvent) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  onmessageerror?: ((event: MessageEvent) => void) | null;
}
