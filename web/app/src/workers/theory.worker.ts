import init, {
  bound,
  bound_columns,
  calibrate,
  conclusion,
  counts,
} from "@dpscope/wasm/calculators";
import { serve } from "../../../protocol/protocol";

const api = { bound, bound_columns, calibrate, conclusion, counts };
export type TheoryApi = typeof api;

serve(init(), api);
