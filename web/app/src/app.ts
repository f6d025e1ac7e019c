import type { AuditSession } from "./audit/session";
import type { Field, State } from "./state/fields";
import type { Store } from "./state/store";
import type { BesideSession } from "./theory/beside";
import type { TheorySession } from "./theory/session";
import type { SweepSession } from "./theory/sweep";

/** What every view sees. */
export interface App {
  readonly store: Store;
  readonly state: State;
  readonly theory: Pick<TheorySession, "lines" | "isStale" | "isRefining">;
  readonly sweep: Pick<SweepSession, "sweep">;
  readonly audit: Pick<AuditSession, "run" | "state" | "hasGpu" | "cores" | "start">;
  readonly beside: Pick<BesideSession, "curves">;
  /** What was typed into a field and is not allowed. */
  readonly refused: Map<Field, string>;
  /** Width for charts, in CSS pixels. */
  readonly width: number;
  readonly version: string;
  change(part: Partial<State>): void;
  /** Draws anew before the next frame. */
  redraw(): void;
  /** Tells a short message to all, screen readers included. */
  tell(message: string): void;
}
