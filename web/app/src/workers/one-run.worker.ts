/** Simulates one run, and audits its files. */

import init, { audit_one_run, one_run_null, one_run_simulated } from "@dpscope/wasm/one_run";
import { serve } from "../../../protocol/protocol";

const api = { audit_one_run, one_run_null, one_run_simulated };
export type OneRunApi = typeof api;

serve(init(), api);
