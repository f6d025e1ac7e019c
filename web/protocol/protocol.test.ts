import { expect, test, vi } from "vitest";
import { FakeWorker, NO_RESPONSE } from "./fake-worker";
import { Client, failureOf, type Request, serve } from "./protocol";

const api = {
  double: (value: number) => 2 * value,
  refuse: () => {
    throw { kind: "input", field: "steps", message: "too many" };
  },
  trap: () => {
    throw new WebAssembly.RuntimeError("unreachable");
  },
};

/** A client whose worker serves the functions above. */
function connected(ready: Promise<unknown> = Promise.resolve()) {
  const worker = new FakeWorker();
  const scope = {
    postMessage: (response: never) => worker.respond(response),
    onmessage: null as ((event: MessageEvent) => unknown) | null,
  };
  serve(ready, api, scope as never);
  worker.postMessage = (data: unknown) => void scope.onmessage?.({ data } as MessageEvent<Request>);
  return { worker, client: new Client<typeof api>(() => worker) };
}

test("a request resolves to its value", async () => {
  const { client } = connected();
  const values = await Promise.all([client.request("double", [2]), client.request("double", [3])]);
  expect(values).toEqual([4, 6]);
});

test("a failure rejects its request and leaves the worker running", async () => {
  const { client, worker } = connected();
  const failure = { kind: "input", field: "steps", message: "too many" };
  await expect(client.request("refuse", [])).rejects.toEqual(failure);
  expect(await client.request("double", [2])).toBe(4);
  expect(worker.isTerminated).toBe(false);
});

test("a trap terminates the worker and fails later requests", async () => {
  const { client, worker } = connected();
  await expect(client.request("trap", [])).rejects.toMatchObject({ kind: "internal" });
  expect(worker.isTerminated).toBe(true);
  await expect(client.request("double", [2])).rejects.toMatchObject({ message: "unreachable" });
});

test("a module that does not load fails every request with the reason", async () => {
  const { client } = connected(Promise.reject(new Error("404")));
  await expect(client.request("double", [2])).rejects.toMatchObject({
    kind: "file",
    message: expect.stringMatching(/404.*Reload the page; in a notebook, run the cell again\./),
  });
});

test("closing fails pending requests at once", async () => {
  const worker = new FakeWorker(() => NO_RESPONSE);
  const client = new Client<typeof api>(() => worker);
  const pending = client.request("double", [2]);
  client.close();
  await expect(pending).rejects.toMatchObject({ kind: "stopped" });
  expect(worker.isTerminated).toBe(true);
});

test("a worker that does not respond in time is terminated", async () => {
  vi.useFakeTimers();
  const worker = new FakeWorker(() => NO_RESPONSE);
  const pending = new Client<typeof api>(() => worker, 3000).request("double", [2]);
  vi.advanceTimersByTime(2999);
  expect(worker.isTerminated).toBe(false);
  vi.advanceTimersByTime(1);
  await expect(pending).rejects.toMatchObject({ kind: "limit" });
  vi.useRealTimers();
});

test("a worker of a tab that slept has its time again", async () => {
  vi.useFakeTimers();
  const worker = new FakeWorker(() => NO_RESPONSE);
  const pending = new Client<typeof api>(() => worker, 3000).request("double", [2]);
  const wake = performance.now() + 3_600_000;
  vi.spyOn(performance, "now").mockReturnValue(wake);
  vi.advanceTimersByTime(3000);
  expect(worker.isTerminated).toBe(false);
  worker.respond({ id: 1, value: 4 });
  expect(await pending).toBe(4);
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("anything thrown becomes a failure", () => {
  expect(failureOf(new Error("a"))).toEqual({ kind: "internal", message: "a" });
  expect(failureOf({ kind: "nonsense", message: "a" })).toEqual({ kind: "internal", message: "a" });
  for (const thrown of [undefined, null, 7]) {
    expect(failureOf(thrown)).toEqual({ kind: "internal", message: String(thrown) });
  }
});
