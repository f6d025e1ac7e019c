import type { MatrixQuestion } from "@dpscope/wasm/accounting";
import type { Field, State } from "../state/fields";

/** The question of a state about its strategy; about all of them where none is named. */
export function questionOf(state: State, strategy?: State["matrix_strategy"]): MatrixQuestion {
  const { matrix_steps: steps, matrix_participation: participation, delta } = state;
  const isBanded = strategy?.startsWith("banded") !== false;
  const isOptimised = strategy !== "identity" && strategy !== "tree";
  return {
    ...(strategy === undefined ? {} : { strategy }),
    steps,
    participation,
    ...participants(state),
    ...(isBanded && state.matrix_bands !== undefined ? { bands: state.matrix_bands } : {}),
    ...(strategy === undefined || strategy === "blt" ? { buffers: state.matrix_buffers } : {}),
    ...(isOptimised && strategy !== "banded-square-root"
      ? { objective: state.matrix_objective }
      : {}),
    ...(state.matrix_goal === "noise"
      ? { noise_multiplier: state.matrix_noise }
      : { epsilon: state.matrix_epsilon }),
    delta,
  };
}

/** The same question about every strategy, at one ε. */
export function comparisonOf(state: State, epsilon: number): MatrixQuestion {
  return questionOf({ ...state, matrix_goal: "epsilon", matrix_epsilon: epsilon });
}

function participants(state: State): Partial<MatrixQuestion> {
  switch (state.matrix_participation) {
    case "single":
      return {};
    case "epochs":
    case "shuffled":
      return { epochs: state.matrix_epochs };
    case "min-separation":
      return {
        separation: state.matrix_separation,
        ...(state.matrix_participations === undefined
          ? {}
          : { participations: state.matrix_participations }),
      };
    default:
      return { groups: state.matrix_groups, sampling_rate: state.matrix_rate };
  }
}

/** The input of the view for a field of the question. */
export const INPUT_OF: Readonly<Record<string, Field>> = {
  steps: "matrix_steps",
  epochs: "matrix_epochs",
  separation: "matrix_separation",
  participations: "matrix_participations",
  groups: "matrix_groups",
  sampling_rate: "matrix_rate",
  bands: "matrix_bands",
  buffers: "matrix_buffers",
  noise_multiplier: "matrix_noise",
  epsilon: "matrix_epsilon",
  delta: "delta",
};
