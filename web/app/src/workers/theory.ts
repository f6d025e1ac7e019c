import init, {
  bound,
  bound_columns,
  calibrate,
  conclusion,
  counts,
} from "@dpscope/wasm/calculators";

export const api = { bound, bound_columns, calibrate, conclusion, counts };
export type TheoryApi = typeof api;

export { init };
