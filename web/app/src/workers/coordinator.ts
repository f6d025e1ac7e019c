import type { AuditProgress, ObservationRange } from "@dpscope/wasm/audits";
import { type CommandOf, received, type SentCommand } from "./sent-files";

/** What a bundle has of an audit whose ranges are computed by counters. */
interface Audited {
  free(): void;
  layout(): Uint8Array;
  progress(): AuditProgress;
  assign(most: number): ObservationRange | undefined;
  add(counted: Uint8Array): void;
  release(first: number, end: number): void;
}

/** The audit of a coordinator's worker, and the calls that every protocol has. */
export class Coordinator<A extends Audited> {
  #audit: A | undefined;

  get audit(): A {
    if (this.#audit === undefined) throw new Error("no audit is open");
    return this.#audit;
  }

  /** In place of the audit before. */
  open(create: () => A): { layout: Uint8Array } & AuditProgress {
    this.#audit?.free();
    this.#audit = undefined;
    this.#audit = create();
    return { layout: this.#audit.layout(), ...this.#audit.progress() };
  }

  readonly api = {
    next: (most: number) => this.audit.assign(most),
    add: (counted: Uint8Array) => {
      this.audit.add(counted);
      return this.audit.progress();
    },
    release: (first: number, end: number) => this.audit.release(first, end),
  };
}

/** What a bundle has of an audit of repeated trainings. */
interface Repeated<F, R> extends Audited {
  so_far(): F;
  report(claim: number | undefined, elapsed_ms: number): R;
  to_bytes(): Uint8Array;
}

/** The calls of a coordinator of repeated trainings. */
export function repeatedTrainings<C, F, R, A extends Repeated<F, R>>(
  Command: CommandOf<C>,
  bundle: { planned(command: C): A; from_bytes(bytes: Uint8Array): A },
) {
  const coordinator = new Coordinator<A>();
  return {
    ...coordinator.api,
    /** Anew, or from saved units of the same command. */
    open: (command: SentCommand, saved?: Uint8Array) =>
      coordinator.open(() =>
        saved === undefined ? bundle.planned(received(Command, command)) : bundle.from_bytes(saved),
      ),
    evaluate: () => coordinator.audit.so_far(),
    report: (claim: number | undefined, elapsed_ms: number) =>
      coordinator.audit.report(claim, elapsed_ms),
    to_bytes: () => coordinator.audit.to_bytes(),
  };
}
