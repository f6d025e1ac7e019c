/** Audits canary clients. */

import init, { audit_federated } from "@dpscope/wasm/federated";
import { serve } from "../../../protocol/protocol";

const api = { audit_federated };
export type FederatedApi = typeof api;

serve(init(), api);
