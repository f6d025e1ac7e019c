import type { AuditSession } from "./audit/session";
import type { Layout } from "./layout";
import type { SeeSession } from "./see/session";
import type { Field, State } from "./state/fields";
import type { Store } from "./state/store";
import type { StatementSession } from "./statement/session";
import type { CheckSession } from "./theory/check";
import type { ComparisonSession } from "./theory/comparison";
import type { TheorySession } from "./theory/session";
import type { SweepSession } from "./theory/sweep";

/** What the comparison of Explore reads and calls, in the app and in a notebook. */
export interface Explored {
  readonly state: State;
  readonly theory: Pick<TheorySession, "lines" | "conclusion" | "isStale" | "isRefining">;
  readonly sweep: Pick<SweepSession, "sweep" | "isStale">;
  /** Why typed text was refused, by field. */
  readonly refused: Map<Field, string>;
  readonly layout: Layout;
  readonly version: string;
  /** Whether there are other views to link to. */
  readonly hasViews: boolean;
  change(part: Partial<State>): void;
  /** Renders before the next frame. */
  redraw(): void;
}

/** What views read and call. */
export interface App extends Explored {
  readonly store: Pick<Store, "messages" | "hash">;
  readonly audit: Pick<
    AuditSession,
    "run" | "state" | "hasGpu" | "cores" | "start" | "backendOf" | "secondsOf"
  >;
  readonly comparison: Pick<ComparisonSession, "curves" | "conclusion" | "failure">;
  /** Sessions of views that have been shown. */
  see?: SeeSession;
  check?: CheckSession;
  readonly statement: StatementSession;
  /** The last short message. */
  readonly toast: string;
  /** What screen readers hear of the figures. */
  readonly spoken: string;
  /** Shows a short message, to screen readers too. */
  announce(message: string): void;
}
