/** The coordinator of an audit: assigns observations, adds up counts and evaluates them. */

import init, { Audit, type AuditPlan } from "@dpscope/wasm/audits";
import { serve } from "../../../protocol/protocol";
import { Coordinator } from "./coordinator";

const coordinator = new Coordinator<Audit>();

serve(init(), {
  ...coordinator.api,
  open: (plan: AuditPlan) => coordinator.open(() => Audit.open(plan)),
  evaluate: () => ({ result: coordinator.audit.result(), curve: coordinator.audit.curve() }),
  to_bytes: () => coordinator.audit.to_bytes(),
});
