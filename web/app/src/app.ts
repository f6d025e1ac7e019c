import type { AuditSession } from "./audit/session";
import type { Layout } from "./layout";
import type { ScoresSession } from "./scores/session";
import type { SeeSession } from "./see/session";
import type { Field, State } from "./state/fields";
import type { Store } from "./state/store";
import type { BesideSession } from "./theory/beside";
import type { CheckSession } from "./theory/check";
import type { TheorySession } from "./theory/session";
import type { SweepSession } from "./theory/sweep";

/** What every view sees. */
export interface App {
  readonly store: Pick<Store, "messages" | "hash">;
  readonly state: State;
  readonly theory: Pick<TheorySession, "lines" | "isStale" | "isRefining">;
  readonly sweep: Pick<SweepSession, "sweep" | "isStale">;
  readonly audit: Pick<AuditSession, "run" | "state" | "hasGpu" | "cores" | "start">;
  readonly beside: Pick<BesideSession, "curves">;
  readonly see: SeeSession;
  readonly scores: Pick<
    ScoresSession,
    "files" | "found" | "failure" | "isBusy" | "give" | "forget"
  >;
  readonly check: Pick<CheckSession, "report" | "failure" | "fieldFailure" | "isStale">;
  /** What was typed into a field and is not allowed. */
  readonly refused: Map<Field, string>;
  readonly layout: Layout;
  readonly version: string;
  /** What was told last. */
  readonly toast: string;
  /** What screen readers are told of the figures. */
  readonly spoken: string;
  change(part: Partial<State>): void;
  /** Draws anew before the next frame. */
  redraw(): void;
  /** Tells a short message to all, screen readers included. */
  tell(message: string): void;
}
