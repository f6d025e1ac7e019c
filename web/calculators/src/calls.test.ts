import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Call } from "./calls";

const glue = vi.hoisted(() => ({
  default: vi.fn<() => Promise<unknown>>(),
  version: vi.fn<() => string>(),
  counts: vi.fn<(counts: unknown, delta: number, significance: number) => unknown>(),
  bound: vi.fn(),
  bound_columns: vi.fn(),
  calibrate: vi.fn(),
  conclusion: vi.fn(),
  plan: vi.fn(),
}));
vi.mock("@dpscope/wasm/calculators", () => glue);

type Scope = { postMessage(data: unknown): void; onmessage?: (event: { data: unknown }) => void };

/** A worker in this thread: what is posted to it arrives at `serveCalculators`, unless it is broken. */
class LocalWorker {
  static made: LocalWorker[] = [];
  static isBroken = false;
  isTerminated = false;
  onmessage: Scope["onmessage"];
  onerror: ((event: { message: string }) => void) | undefined;
  readonly #scope: Scope = {
    postMessage: (data) => {
      if (!this.isTerminated) this.onmessage?.({ data });
    },
  };
  readonly #served: Promise<void> | undefined;

  constructor() {
    LocalWorker.made.push(this);
    if (LocalWorker.isBroken) {
      queueMicrotask(() => this.onerror?.({ message: "" }));
      return;
    }
    this.#served = Promise.all([
      import("../../protocol/protocol"),
      import("./dpscope-compute"),
    ]).then(([{ serve }, { api }]) => serve(Promise.resolve(), api, this.#scope as never));
  }

  postMessage(data: unknown): void {
    void this.#served?.then(() => this.#scope.onmessage?.({ data }));
  }

  terminate(): void {
    this.isTerminated = true;
  }
}

beforeEach(() => {
  vi.resetModules();
  vi.resetAllMocks();
  glue.default.mockResolvedValue(undefined);
  glue.version.mockReturnValue("1.2.3");
  LocalWorker.made = [];
  LocalWorker.isBroken = false;
  vi.stubGlobal("Worker", LocalWorker);
});

afterEach(() => {
  vi.useRealTimers();
});

const fresh = async () => {
  const { callsOf } = await import("./calls");
  return callsOf((await import("./files")).files);
};

test("many calls share one worker and one wasm instance", async () => {
  const call = await fresh();
  const answers = await Promise.all(Array.from({ length: 5 }, () => call("version")));
  expect(answers).toEqual(Array(5).fill("1.2.3"));
  expect(LocalWorker.made).toHaveLength(1);
  expect(glue.default).toHaveBeenCalledTimes(1);
});

test("without workers the page computes, and no second worker is tried", async () => {
  LocalWorker.isBroken = true;
  const call = await fresh();
  expect(await call("version")).toBe("1.2.3");
  expect(await call("version")).toBe("1.2.3");
  expect(LocalWorker.made).toHaveLength(1);
  vi.resetModules();
  vi.stubGlobal(
    "Worker",
    class {
      constructor() {
        throw new DOMException("another origin", "SecurityError");
      }
    },
  );
  expect(await (await fresh())("version")).toBe("1.2.3");
});

test("under Trusted Types the address of a worker comes from one policy", async () => {
  const addresses: unknown[] = [];
  const createPolicy = vi.fn((_name: string, rules: { createScriptURL(a: string): string }) => ({
    createScriptURL: (address: string) => ({ trusted: rules.createScriptURL(address) }),
  }));
  vi.stubGlobal("trustedTypes", { createPolicy });
  vi.stubGlobal(
    "Worker",
    class {
      constructor(address: unknown) {
        addresses.push(address);
        throw new DOMException("another origin", "SecurityError");
      }
    },
  );
  expect(await (await fresh())("version")).toBe("1.2.3");
  vi.unstubAllGlobals();
  expect(createPolicy).toHaveBeenCalledTimes(1);
  expect(addresses).toEqual([{ trusted: expect.stringContaining("dpscope-compute.js") }]);
});

test("a failure of the bundle reaches the caller unchanged", async () => {
  const failure = { kind: "input", field: "false_positives", message: "too many" };
  glue.counts.mockImplementation(() => {
    throw failure;
  });
  const call = await fresh();
  await expect(call("counts", {} as never, 1e-5, 0.05)).rejects.toEqual(failure);
  expect(await call("version")).toBe("1.2.3");
  expect(LocalWorker.made).toHaveLength(1);
});

test("after a trap the next call starts another instance", async () => {
  const call = await fresh();
  glue.counts.mockImplementation(() => {
    throw new WebAssembly.RuntimeError("unreachable");
  });
  await expect(call("counts", {} as never, 1e-5, 0.05)).rejects.toMatchObject({ kind: "internal" });
  expect(LocalWorker.made[0]?.isTerminated).toBe(true);
  expect(await call("version")).toBe("1.2.3");
  expect(LocalWorker.made).toHaveLength(2);
});

/** Calls a worker that does not respond; resolves when it has the request. */
async function askedInVain(call: Call): Promise<{ open: Promise<unknown>; worker: LocalWorker }> {
  await call("version");
  const worker = LocalWorker.made[0] as LocalWorker;
  const asked = new Promise<void>((resolve) => {
    worker.postMessage = () => resolve();
  });
  const open = call("version");
  open.catch(() => undefined);
  await asked;
  return { open, worker };
}

test("a worker that dies fails its open call, and the next call starts another", async () => {
  const call = await fresh();
  const { open, worker } = await askedInVain(call);
  worker.onerror?.({ message: "out of memory" });
  await expect(open).rejects.toMatchObject({ kind: "internal" });
  expect(await call("version")).toBe("1.2.3");
  expect(LocalWorker.made).toHaveLength(2);
});

test("a call that takes too long is ended, and the calls behind it are answered", async () => {
  vi.useFakeTimers();
  const call = await fresh();
  const { open, worker } = await askedInVain(call);
  const behind = call("version");
  vi.advanceTimersByTime(9_999);
  expect(worker.isTerminated).toBe(false);
  vi.advanceTimersByTime(1);
  await expect(open).rejects.toMatchObject({ kind: "limit" });
  expect(worker.isTerminated).toBe(true);
  expect(await behind).toBe("1.2.3");
  expect(LocalWorker.made).toHaveLength(2);
});

test("a failed load of the wasm file is retried", async () => {
  const call = await fresh();
  glue.default.mockRejectedValueOnce(new Error("404"));
  await expect(call("version")).rejects.toMatchObject({
    kind: "file",
    message: expect.stringContaining("404"),
  });
  expect(await call("version")).toBe("1.2.3");
});
