/** Runs commands of the program on files in memory. */

import init, { ask } from "@dpscope/wasm/files";
import { serve } from "../../../protocol/protocol";

const api = { ask };
export type FilesApi = typeof api;

serve(init(), api);
