/** Audits files of scores. */

import init, { audit_scores, describe_file } from "@dpscope/wasm/studies";
import { answering } from "./answering";

answering(init(), { audit_scores, describe_file });
