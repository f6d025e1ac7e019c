/**
 * One wasm instance for all calculators of a page. It lives in a worker made of this same module, so
 * that a long computation holds no page up; where a page forbids workers, or the module came from
 * another origin, it lives in the page.
 */

import init, {
  bound,
  bound_columns,
  calibrate,
  counts,
  type Failure,
  plan,
  version,
} from "@dpscope/wasm/calculators";

export const calls = { bound, bound_columns, calibrate, counts, plan, version };
type Calls = typeof calls;
type Name = keyof Calls;

/** Calls the wasm bundle; the first call loads it. */
export type Call = <N extends Name>(
  name: N,
  ...values: Parameters<Calls[N]>
) => Promise<ReturnType<Calls[N]>>;

export type { Failure };

interface Request {
  readonly name: Name;
  readonly values: readonly unknown[];
}

type Reply = { value: unknown } | { failure: Failure };

export const WORKER_NAME = "dpscope-calculators";

/** Longest that one call may take: others wait for it. */
const LONGEST_MS = 10_000;

const STOPPED: Failure = {
  kind: "internal",
  message: "The calculator stopped. Change a value to start it again.",
};

const TOO_LONG: Failure = {
  kind: "limit",
  message: "This takes too long for a page. The command line has the time for it.",
};

export function failureOf(error: unknown): Failure {
  const kind = (error as Partial<Failure> | undefined)?.kind;
  return { ...(error as Failure), kind: kind ?? "internal", message: messageOf(error) };
}

function messageOf(error: unknown): string {
  const message = (error as Partial<Failure> | undefined)?.message;
  return typeof message === "string" ? message : String(error);
}

let loaded: Promise<unknown> | undefined;

/** Fetches and starts the wasm once; a failed start is tried again at the next call. */
function load(): Promise<unknown> {
  loaded ??= init().catch((error: unknown) => {
    loaded = undefined;
    throw { kind: "file", message: `The calculator's wasm file did not load: ${messageOf(error)}` };
  });
  return loaded;
}

function compute({ name, values }: Request): unknown {
  return (calls[name] as (...values: readonly unknown[]) => unknown)(...values);
}

/** The worker's side: says whether the wasm is there, then answers one question after the other. */
export async function serve(
  scope: Pick<DedicatedWorkerGlobalScope, "postMessage" | "addEventListener">,
): Promise<void> {
  const reply = async (found: () => unknown): Promise<void> => {
    const posted: Reply = await Promise.resolve()
      .then(found)
      .then(
        (value) => ({ value }),
        (error: unknown) => ({ failure: failureOf(error) }),
      );
    scope.postMessage(posted);
  };
  scope.addEventListener("message", ({ data }: MessageEvent<Request>) => {
    void reply(() => compute(data));
  });
  await reply(() => load().then(() => undefined));
}

/** The worker's next reply. */
async function replyOf(worker: Worker, longest_ms?: number): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await new Promise((resolve, reject) => {
      if (longest_ms !== undefined) timer = setTimeout(() => reject(TOO_LONG), longest_ms);
      worker.onerror = () => reject(STOPPED);
      worker.onmessage = ({ data }: MessageEvent<Reply>) => {
        if ("failure" in data) reject(data.failure);
        else resolve(data.value);
      };
    });
  } finally {
    clearTimeout(timer);
  }
}

type Ask = (request: Request) => Promise<unknown>;

let ask: Ask | undefined;

async function start(): Promise<Ask> {
  let worker: Worker | undefined;
  try {
    worker = new Worker(new URL(import.meta.url), { type: "module", name: WORKER_NAME });
    await replyOf(worker);
    return asking(worker);
  } catch (error) {
    worker?.terminate();
    if (failureOf(error).kind === "file") throw error;
    return (request) => load().then(() => compute(request));
  }
}

function asking(worker: Worker): Ask {
  return async (request) => {
    worker.postMessage(request);
    try {
      return await replyOf(worker, LONGEST_MS);
    } catch (error) {
      // what is still at work is ended; after a trap its memory is not to be trusted
      if (error === TOO_LONG || failureOf(error).kind === "internal") {
        worker.terminate();
        ask = undefined;
      }
      throw error;
    }
  };
}

let queue: Promise<unknown> = Promise.resolve();

/** Asks the page's one instance, when those who asked before have their answers. */
export const call: Call = (name, ...values) => {
  const answer = queue.then(async () => {
    ask ??= await start();
    return ask({ name, values });
  });
  queue = answer.catch(() => undefined);
  return answer as Promise<never>;
};
