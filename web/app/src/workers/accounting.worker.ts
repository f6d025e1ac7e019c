import init, {
  calibrate_subsets,
  matrix,
  subset_bound,
  subset_columns,
} from "@dpscope/wasm/accounting";
import { serve } from "../../../protocol/protocol";

const api = { calibrate_subsets, matrix, subset_bound, subset_columns };
export type AccountingApi = typeof api;

serve(init(), api);
