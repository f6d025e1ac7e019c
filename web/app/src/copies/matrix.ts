import type { MatrixQuestion } from "@dpscope/wasm/accounting";
import { commandLine, withParameters } from "../options/command";
import { bound_matrix, calibrate_matrix } from "../options/options.json";
import { MATRIX_QUESTION } from "../state/matrix";
import { inOrder } from "../state/records";

/** The command that answers the same question. */
export function matrixCommand({ epsilon, strategy, steps, ...asked }: MatrixQuestion): string {
  const { participation, epochs, separation, participations, groups, sampling_rate, ...options } =
    asked;
  const pattern = [epochs, separation, participations, groups, sampling_rate];
  const [command, known] =
    epsilon == null
      ? (["bound matrix", bound_matrix] as const)
      : (["calibrate matrix", calibrate_matrix] as const);
  return commandLine(
    command,
    known,
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
