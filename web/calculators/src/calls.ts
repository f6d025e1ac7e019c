/**
 * One instance of the wasm bundles for all calculators of a page. It runs in a worker, so that a long
 * computation does not block the page; where a page forbids workers, or the files came from another
 * origin, it runs in the page.
 */

import { Client, type Failure, failureOf, type Result } from "../../protocol/protocol";
import type { api, Sources } from "./dpscope-compute";

export type { Failure };
export { failureOf };

type CalculatorApi = typeof api;
type Name = Exclude<keyof CalculatorApi, "load">;

/** Calls the wasm bundle; the first call loads it. */
export type Call = <N extends Name>(
  name: N,
  ...args: Parameters<CalculatorApi[N]>
) => Promise<Result<CalculatorApi, N>>;

/** Where `dpscope-compute` and its modules are: files of their own, or inside of this one. */
export interface Parts {
  sources(): Sources;
  worker(): Promise<{ readonly address: string; readonly type: WorkerType }>;
  /** `dpscope-compute`, to run in the page. */
  imported(): Promise<{ readonly api: CalculatorApi }>;
}

export const WORKER_NAME = "dpscope-calculators";

/** Longest that one call may take: others wait for it. */
const LONGEST_MS = 10_000;

interface ScriptPolicy {
  createScriptURL(address: string): string;
}

declare const trustedTypes:
  | { createPolicy(name: string, rules: ScriptPolicy): ScriptPolicy }
  | undefined;

let policy: ScriptPolicy | undefined;

/** Where a page requires Trusted Types, the address of a worker comes from a policy. */
function trusted(address: string): string {
  if (typeof trustedTypes === "undefined") return address;
  policy ??= trustedTypes.createPolicy("dpscope", { createScriptURL: (address) => address });
  return policy.createScriptURL(address);
}

/** Calls of a page, through what `parts` names. */
export function callsOf(parts: Parts): Call {
  let host: Client<CalculatorApi> | CalculatorApi | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  /** Connects to the worker, or falls back to the page. */
  async function connect(): Promise<Client<CalculatorApi> | CalculatorApi> {
    const { address, type } = await parts.worker();
    const client = new Client<CalculatorApi>(
      () => new Worker(trusted(address), { type, name: WORKER_NAME }),
    );
    try {
      await client.request("load", [parts.sources()]);
      client.timeout_ms = LONGEST_MS;
      return client;
    } catch (failure) {
      client.close();
      if (failureOf(failure).kind === "file") throw failure;
    }
    const { api } = await parts.imported();
    await api.load(parts.sources());
    return api;
  }

  /** Calls the one instance, after earlier calls have their answers. */
  return <N extends Name>(name: N, ...args: Parameters<CalculatorApi[N]>) => {
    const answer = queue.then(async (): Promise<Result<CalculatorApi, N>> => {
      if (host === undefined || (host instanceof Client && host.broken !== undefined))
        host = await connect();
      if (host instanceof Client) return host.request(name, args);
      return (host[name] as (...args: readonly unknown[]) => never)(...args);
    });
    queue = answer.catch(() => undefined);
    return answer;
  };
}
