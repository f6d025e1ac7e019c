import type { PateGanQuestion } from "@dpscope/wasm/synth";
import type { State } from "../state/fields";
import { recordOf, statisticsOf } from "../state/records";
import { PATEGAN } from "../state/synthetic";

/** The audit of a state. */
export function questionOf(state: State): PateGanQuestion {
  return { ...recordOf(state, PATEGAN), ...statisticsOf(state) };
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
