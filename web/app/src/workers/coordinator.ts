import type { AuditProgress, ObservationRange } from "@dpscope/wasm/audits";

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
