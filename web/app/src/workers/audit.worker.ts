/** The coordinator of an audit: assigns observations, adds up counts and evaluates them. */

import init, { Audit, type AuditPlan } from "@dpscope/wasm/audits";
import { serve } from "../../../protocol/protocol";

let audit: Audit | undefined;

function open(): Audit {
  if (audit === undefined) throw new Error("no audit is open");
  return audit;
}

const api = {
  open: (plan: AuditPlan) => {
    audit?.free();
    audit = Audit.open(plan);
    return { layout: audit.layout(), ...audit.progress() };
  },
  next: (observations: number) => open().assign(observations),
  add: (counted: Uint8Array) => {
    open().add(counted);
    return open().progress();
  },
  release: (first: number, end: number) => open().release(first, end),
  evaluate: () => ({ result: open().result(), curve: open().curve() }),
  to_bytes: () => open().to_bytes(),
};
export type AuditApi = typeof api;

serve(init(), api);
