import type { MatrixQuestion } from "@dpscope/wasm/accounting";
import { numberText } from "../../../fields/field";

/** The command that answers the same question; options at the program's defaults are left out. */
export function matrixCommand(asked: MatrixQuestion): string {
  const option = (flag: string, value: number | string | null | undefined, usual?: unknown) =>
    value === undefined || value === null || value === usual
      ? ""
      : `--${flag} ${numberText(value)}`;
  const parts = [
    asked.epsilon == null ? "dpscope bound matrix" : "dpscope calibrate matrix",
    option("epsilon", asked.epsilon),
    `--strategy ${asked.strategy ?? "all"}`,
    option("steps", asked.steps),
    `--participation ${participation(asked)}`,
    option("bands", asked.bands),
    option("buffers", asked.buffers, 3),
    option("objective", asked.objective, "mean"),
    option("noise-multiplier", asked.noise_multiplier),
    option("delta", asked.delta),
  ];
  return parts.filter((part) => part !== "").join(" ");
}

function participation(asked: MatrixQuestion): string {
  const numbers = [
    asked.epochs,
    asked.separation,
    asked.participations,
    asked.groups,
    asked.sampling_rate,
  ].flatMap((value) => (value === undefined || value === null ? [] : [numberText(value)]));
  return numbers.length === 0 ? asked.participation : `${asked.participation}:${numbers.join(",")}`;
}
