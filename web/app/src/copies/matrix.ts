import type { MatrixQuestion } from "@dpscope/wasm/accounting";
import { commandLine, withParameters } from "../options/command";

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
      ...options,
    },
    ["delta"],
  );
}
