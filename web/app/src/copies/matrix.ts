import type { MatrixQuestion } from "@dpscope/wasm/accounting";
import { commandLine, withParameters } from "../options/command";
import { MATRIX_QUESTION } from "../state/matrix";
import { inOrder } from "../state/records";

/** The command that answers the same question. */
export function matrixCommand({ epsilon, strategy, steps, ...asked }: MatrixQuestion): string {
  const { participation, epochs, separation, participations, groups, sampling_rate, ...options } =
    asked;
  const pattern = [epochs, separation, participations, groups, sampling_rate];
  return commandLine(
    epsilon == null ? "bound matrix" : "calibrate matrix",
    {
      epsilon,
      strategy: strategy ?? "all",
      steps,
      participation: withParameters(participation, pattern),
      ...inOrder(options, MATRIX_QUESTION),
    },
    ["delta"],
  );
}
