import { rounded } from "../../../numbers/rounded";
import type { App } from "../app";
import { statement } from "../numbers/statement";
import { verdictOf } from "../numbers/verdict";

/** The result of the screen in a sentence or two, for screen readers; empty until it is complete. */
export function summary(app: App): string {
  switch (app.state.view) {
    case "explore":
      return app.theory.isStale ? "" : theorySummary(app);
    case "check":
      return app.check?.isStale === false ? verdictOf(app.check.report) : "";
    default:
      return "";
  }
}

function theorySummary(app: App): string {
  const { sentence, claim } = statement(app.theory);
  return [sentence, claim?.sentence ?? "", auditSummary(app)].join(" ").trim();
}

function auditSummary({ audit: { run } }: App): string {
  if (run?.phase === "failed") return "The audit failed.";
  if (run?.phase !== "done") return "";
  return `The audit is complete: ε at least ${rounded(run.found?.result.epsilon ?? 0, "lower", 2)}.`;
}
