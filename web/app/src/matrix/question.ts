import type { MatrixQuestion } from "@dpscope/wasm/accounting";
import type { Field, State } from "../state/fields";
import { MATRIX_QUESTION } from "../state/matrix";
import { inputsOf, recordOf } from "../state/records";

/** The question of a state about its strategy; about all of them where none is named. */
export function questionOf(state: State, strategy?: State["matrix_strategy"]): MatrixQuestion {
  return {
    ...recordOf({ ...state, matrix_strategy: strategy }, MATRIX_QUESTION),
    delta: state.delta,
  };
}

/** The same question about every strategy, at one ε. */
export function comparisonOf(state: State, epsilon: number): MatrixQuestion {
  return questionOf({ ...state, matrix_goal: "epsilon", matrix_epsilon: epsilon });
}

/** The input of the view for a field of the question. */
export const INPUT_OF: Readonly<Record<string, Field>> = {
  ...inputsOf(MATRIX_QUESTION),
  delta: "delta",
};
