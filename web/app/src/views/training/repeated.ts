import { html, nothing, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";
import { chartWidthIn } from "../../layout";
import { count } from "../../numbers/counts";
import type { Kind } from "../../training/protocols";
import type { TrainingSession } from "../../training/session";
import { climb } from "../audit/climb";
import { soFar } from "./outcome";

/** Trainings with canaries, the same several times. */
interface Repeated extends Kind {
  question: { model: string; repeats?: number };
  found: { repeats: number; failed: number; epsilon: number | null; delta: number };
}

/** ε or the report, what the canaries show, and ε as trainings come in. */
export function repeatedOutcome<K extends Repeated>(
  app: App,
  session: TrainingSession<K>,
  {
    says,
    report,
    shown,
  }: {
    /** What the claim is. */
    says: string;
    report: () => unknown;
    shown: (found: K["found"], asked: K["question"], width: number) => TemplateResult;
  },
): TemplateResult | typeof nothing {
  const { answer, asked, run, claim } = session;
  if (run?.found === undefined || asked === undefined) return nothing;
  const { epsilon, delta, failed } = run.found;
  const width = chartWidthIn(app.layout.wide, 2);
  const total = asked.repeats ?? 1;
  const compared =
    claim === undefined ? [] : [{ words: says, colour: "poisson" as const, y: claim }];
  const soon = epsilon === null ? nothing : soFar(session, { epsilon, delta }, run.isOver);
  return html`${answer === undefined ? soon : report()}
    ${
      failed === 0
        ? nothing
        : html`<p class="note">${count(failed, "training")} diverged, and their canaries have no scores; a lower learning rate helps.</p>`
    }
    <div class="charts">
      <div>${shown(run.found, asked, width)}</div>
      ${total < 2 ? nothing : climb(width, { history: run.history, total }, compared, "trainings")}
    </div>`;
}
