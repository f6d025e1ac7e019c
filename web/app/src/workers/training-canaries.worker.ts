/** The coordinator of an audit of models with many canaries: assigns models, joins and evaluates them. */

import init, { CanaryAudit, Command } from "@dpscope/wasm/training_canaries";
import { serve } from "../../../protocol/protocol";
import { repeatedTrainings } from "./coordinator";

serve(init(), repeatedTrainings(Command, CanaryAudit));
