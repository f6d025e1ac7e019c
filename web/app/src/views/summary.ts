import { rounded } from "../../../numbers/rounded";
import type { App } from "../app";
import { counted } from "../numbers/counts";
import { statement } from "../numbers/statement";

/** The figures of the screen in a sentence or two, for screen readers. */
export function summary(app: App): string {
  if (app.state.view !== "explore" || app.theory.isStale) return "";
  return `${statement(app.theory).sentence} ${auditSummary(app)}`.trim();
}

/** A running audit is announced every tenth. */
function auditSummary(app: App): string {
  const { run } = app.audit;
  if (run === undefined) return "";
  if (run.phase === "failed") return "The audit failed.";
  if (run.phase !== "done") {
    const tenths = Math.floor((10 * run.done) / run.total);
    return `Audit ${run.phase}: ${10 * tenths} % of ${counted(run.total)} observations.`;
  }
  const epsilon = run.result?.epsilon ?? 0;
  return `The audit is complete: ε at least ${rounded(epsilon, "lower", 2)}.`;
}
