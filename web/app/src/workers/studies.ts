import init, {
  audit_conclusion,
  check,
  check_statement,
  curve,
  epoch,
  one_run_null,
  one_run_simulated,
  pair,
  pair_estimate,
  scores,
  training_statement,
} from "@dpscope/wasm/studies";

export const api = {
  audit_conclusion,
  check,
  check_statement,
  curve,
  epoch,
  one_run_null,
  one_run_simulated,
  pair,
  pair_estimate,
  scores,
  training_statement,
};
export type StudiesApi = typeof api;

export { init };
