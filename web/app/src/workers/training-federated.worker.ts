/** The coordinator of an audit of federated trainings: assigns trainings, joins and evaluates them. */

import init, { Command, FederatedTrainingAudit } from "@dpscope/wasm/training_canaries";
import { serve } from "../../../protocol/protocol";
import { repeatedTrainings } from "./coordinator";

serve(init(), repeatedTrainings(Command, FederatedTrainingAudit));
