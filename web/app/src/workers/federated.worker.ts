/** Audits the cosines of canary clients. */

import init, { audit_cosines } from "@dpscope/wasm/federated";
import { serve } from "../../../protocol/protocol";

const api = { audit_cosines };
export type FederatedApi = typeof api;

serve(init(), api);
