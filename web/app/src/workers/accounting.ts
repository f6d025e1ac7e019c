import init, {
  calibrate_subsets,
  matrix,
  subset_bound,
  subset_columns,
} from "@dpscope/wasm/accounting";

export const api = { calibrate_subsets, matrix, subset_bound, subset_columns };
export type AccountingApi = typeof api;

export { init };
