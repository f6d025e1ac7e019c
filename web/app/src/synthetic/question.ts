import type { PateGanQuestion } from "@dpscope/wasm/synth";
import type { State } from "../state/fields";

/** The audit of a state. */
export function questionOf(state: State): PateGanQuestion {
  const { delta, significance, seed } = state;
  return {
    faults: state.syn_faults,
    teachers: state.syn_teachers,
    gamma: state.syn_gamma,
    batch_size: state.syn_batch,
    ...(state.syn_stop === "epsilon"
      ? { epsilon: state.syn_epsilon }
      : { iterations: state.syn_iterations }),
    runs: state.syn_runs,
    delta,
    significance,
    seed,
  };
}

export function namesOf(faults: string): string[] {
  return faults.split(",").filter((name) => name !== "");
}

/** The set with a switch turned. */
export function turned(faults: string, name: string): string {
  const names = namesOf(faults);
  return (names.includes(name) ? names.filter((other) => other !== name) : [...names, name]).join(
    ",",
  );
}
