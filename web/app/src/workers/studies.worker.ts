import init, {
  audit_conclusion,
  check,
  curve,
  epoch,
  pair,
  pair_estimate,
  scores,
} from "@dpscope/wasm/studies";
import { serve } from "../../../protocol/protocol";

const api = { audit_conclusion, check, curve, epoch, pair, pair_estimate, scores };
export type StudiesApi = typeof api;

serve(init(), api);
