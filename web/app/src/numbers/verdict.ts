import type { CheckedTraining } from "@dpscope/wasm/studies";
import { verdicts } from "../../../numbers/words.json";

export const VERDICT: Readonly<Record<string, string>> = {
  ...verdicts,
  "holds-as-described": "holds as described",
};

/** The verdict of a check in a line. */
export function verdictOf(report: CheckedTraining | undefined): string {
  if (report === undefined) return "";
  const { epsilon, verdict } = report.claim;
  return verdict === undefined ? "" : `ε = ${epsilon}: ${VERDICT[verdict]}`;
}
