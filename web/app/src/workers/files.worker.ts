/** Runs commands of the program on files in memory. */

import init, { ask, Command } from "@dpscope/wasm/files";
import { serve } from "../../../protocol/protocol";
import { received, type SentCommand } from "./sent-files";

const api = { ask: (command: SentCommand) => ask(received(Command, command)) };
export type FilesApi = typeof api;

serve(init(), api);
