/** Audits files of scores. */

import init, { audit_scores, describe_file } from "@dpscope/wasm/files";
import { serve } from "../../../protocol/protocol";

const api = { audit_scores, describe_file };
export type ScoresApi = typeof api;

serve(init(), api);
