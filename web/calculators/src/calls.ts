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

/** What the bundle throws. */
export interface Failure {
  readonly kind: string;
  readonly field?: string;
  readonly message: string;
}

interface Request {
  readonly id: number;
  readonly name: Name;
  readonly values: readonly unknown[];
}

type Reply = { id: number; value: unknown } | { id: number; failure: Failure };

export const WORKER_NAME = "dpscope-calculators";

let loaded: Promise<unknown> | undefined;

/** Fetches and starts the wasm once; a failed start is tried again at the next call. */
function load(): Promise<unknown> {
  loaded ??= init().catch((error: unknown) => {
    loaded = undefined;
    throw { kind: "file", message: `The calculator's wasm file did not load: ${messageOf(error)}` };
  });
  return loaded;
}

async function answer({ name, values }: Request): Promise<unknown> {
  await load();
  return (calls[name] as (...values: readonly unknown[]) => unknown)(...values);
}

export function failureOf(error: unknown): Failure {
  const kind = (error as Partial<Failure> | undefined)?.kind;
  return { ...(error as Failure), kind: kind ?? "internal", message: messageOf(error) };
}

function messageOf(error: unknown): string {
  const message = (error as Partial<Failure> | undefined)?.message;
  return typeof message === "string" ? message : String(error);
}

/** The worker's side: answers what it is asked. */
export function serve(
  scope: Pick<DedicatedWorkerGlobalScope, "postMessage" | "addEventListener">,
): void {
  scope.addEventListener("message", async ({ data }: MessageEvent<Request>) => {
    const { id } = data;
    const reply: Reply = await answer(data).then(
      (value) => ({ id, value }),
      (error: unknown) => ({ id, failure: failureOf(error) }),
    );
    scope.postMessage(reply);
  });
  scope.postMessage("ready");
}

type Ask = (request: Request) => Promise<unknown>;

interface Asked {
  resolve(value: unknown): void;
  reject(failure: Failure): void;
}

const STOPPED: Failure = {
  kind: "internal",
  message: "The calculator stopped. Change a value to start it again.",
};

/** The page's side; rejects where no worker can be had. After `ended` the worker answers no more. */
function connect(worker: Worker, ended: () => void): Promise<Ask> {
  const waiting = new Map<number, Asked>();
  const ask: Ask = (request) =>
    new Promise((resolve, reject) => {
      waiting.set(request.id, { resolve, reject });
      worker.postMessage(request);
    });
  const end = () => {
    worker.terminate();
    ended();
    for (const asked of waiting.values()) asked.reject(STOPPED);
    waiting.clear();
  };
  return new Promise((resolve, reject) => {
    worker.addEventListener("error", () => {
      reject(STOPPED);
      end();
    });
    worker.addEventListener("message", ({ data }: MessageEvent<Reply | "ready">) => {
      if (data === "ready") return resolve(ask);
      const asked = waiting.get(data.id);
      waiting.delete(data.id);
      if (!("failure" in data)) return asked?.resolve(data.value);
      asked?.reject(data.failure);
      // after a trap its memory is not to be trusted
      if (data.failure.kind === "internal") end();
    });
  });
}

let connection: Promise<Ask> | undefined;

async function start(): Promise<Ask> {
  let isOpen = false;
  const ended = () => {
    if (isOpen) connection = undefined;
  };
  try {
    const worker = new Worker(new URL(import.meta.url), { type: "module", name: WORKER_NAME });
    const ask = await connect(worker, ended);
    isOpen = true;
    return ask;
  } catch {
    return answer;
  }
}

let count = 0;

/** Asks the page's one instance. */
export const call: Call = async (name, ...values) => {
  connection ??= start();
  const ask = await connection;
  count += 1;
  return ask({ id: count, name, values }) as never;
};
