import { Announcements } from "./announcements";
import type { App } from "./app";
import { AuditSession } from "./audit/session";
import { TABLE_TOGGLED } from "./charts/data-table";
import { layoutOf } from "./layout";
import { storedConclusion, storedLines, storedSweep, storedVersion } from "./numbers/stored";
import type { SeeSession } from "./see/session";
import type { Field, State } from "./state/fields";
import { FIELD_NAMES } from "./state/fields";
import { Store } from "./state/store";
import { StatementSession } from "./statement/session";
import type { CheckSession } from "./theory/check";
import { ComparisonSession } from "./theory/comparison";
import { TheorySession } from "./theory/session";
import { SweepSession } from "./theory/sweep";
import { titleOf } from "./views/shell";
import { summary } from "./views/summary";
import { accountingWorker, BUNDLES, studiesWorker, theoryWorker } from "./workers/spawn";

const WAIT_FOR_HISTORY_MS = 250;

/** Connects the state, the sessions and the views. */
export class Page implements App {
  readonly store: Store;
  readonly theory: TheorySession;
  readonly sweep: SweepSession;
  readonly audit: AuditSession;
  readonly comparison: ComparisonSession;
  see?: SeeSession;
  check?: CheckSession;
  readonly statement: StatementSession;
  readonly refused = new Map<Field, string>();
  readonly version = storedVersion;
  readonly hasViews = true;
  layout = layoutOf(1440);
  toast = "";
  spoken = "";
  readonly #announcements = new Announcements((words) => {
    this.spoken = words;
    this.redraw();
  });
  readonly #draw: (app: Page) => void;
  #watched: Element | undefined;
  #isPanelSeen = false;
  readonly #seen = new IntersectionObserver(([entry]) => {
    this.#isPanelSeen = entry?.isIntersecting === true;
    this.#calibrate();
  });
  #isDue = false;
  #historyTimer: ReturnType<typeof setTimeout> | undefined;
  #toastTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(draw: (app: Page) => void) {
    this.#draw = draw;
    this.store = new Store(location.hash);
    const redraw = () => this.redraw();
    const theoryChanged = () => {
      if (this.theory.hasNumbers) this.sweep.showSlow(this.state);
      this.#calibrate();
      this.redraw();
    };
    this.theory = new TheorySession(BUNDLES, theoryChanged, {
      lines: storedLines(),
      conclusion: storedConclusion(),
    });
    this.sweep = new SweepSession(
      { theory: theoryWorker, accounting: accountingWorker },
      theoryChanged,
      storedSweep(),
    );
    this.audit = new AuditSession(() => {
      const { state } = this.audit;
      if (state !== undefined) this.comparison.show(state);
      this.#concludeAudit();
      this.redraw();
    });
    this.comparison = new ComparisonSession(studiesWorker, redraw);
    this.statement = new StatementSession(studiesWorker, redraw);
  }

  get state(): State {
    return this.store.state;
  }

  start(): void {
    this.store.listen((state, before) => this.#changed(state, before));
    addEventListener("hashchange", () => {
      if (location.hash === this.store.hash) return;
      this.store.follow(location.hash);
      this.#drop();
    });
    addEventListener(TABLE_TOGGLED, () => this.redraw());
    addEventListener("submit", (event) => event.preventDefault()); // no form leaves the page
    this.#measure();
    new ResizeObserver(() => this.#measure()).observe(document.documentElement);
    this.redraw();
    this.#compute();
    this.#drop();
    for (const near of ["pointerover", "focusin"]) {
      addEventListener(near, () => this.#warm(), { once: true, passive: true });
    }
    void this.audit.findGpu().then(() => this.#calibrate());
  }

  change(part: Partial<State>): void {
    this.store.messages = [];
    this.store.change(part);
  }

  redraw(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      document.title = titleOf(this.state.view);
      this.#draw(this);
      this.#watch();
      this.#announcements.hear(summary(this));
    });
  }

  announce(message: string): void {
    this.toast = message;
    clearTimeout(this.#toastTimer);
    this.#toastTimer = setTimeout(() => {
      this.toast = "";
      this.redraw();
    }, 4000);
    this.redraw();
  }

  #changed(state: State, before: State): void {
    for (const name of FIELD_NAMES) if (state[name] !== before[name]) this.refused.delete(name);
    const isNewView = state.view !== before.view;
    clearTimeout(this.#historyTimer);
    if (isNewView) this.#remember();
    else this.#historyTimer = setTimeout(() => this.#remember(), WAIT_FOR_HISTORY_MS);
    this.#compute();
    if (isNewView && state.view === "see") this.see?.open();
    this.redraw();
  }

  /** Into the address, without a history entry for each step of a slider. */
  #remember(): void {
    if (location.hash !== this.store.hash) history.replaceState(null, "", this.store.hash);
  }

  #concludeAudit(): void {
    const { state, run } = this.audit;
    if (state === undefined || run?.phase !== "done" || run.found === undefined) return;
    void this.comparison.conclude(state, run.found.result, this.state.claim);
  }

  #compute(): void {
    const { state } = this;
    if (state.view === "check") this.check?.show(state);
    if (state.view === "see") this.see?.show(state);
    else if (this.see?.isPlaying) this.see.pause();
    if (state.view !== "explore") return;
    this.theory.show(state);
    this.sweep.show(state);
    this.#concludeAudit();
  }

  /** A link shows no numbers of another training, not even until its own are computed. */
  #drop(): void {
    this.theory.drop(this.state);
    this.sweep.drop(this.state);
  }

  #warm(): void {
    if (this.state.view === "explore") this.theory.warm();
  }

  /** Waits for the panel of the audit to be seen. */
  #watch(): void {
    const panel = document.querySelector(".panel.audit");
    if (panel === null || panel === this.#watched) return;
    this.#watched = panel;
    this.#seen.disconnect();
    this.#seen.observe(panel);
  }

  /** Measures the rate of audits once their panel is seen and nothing else computes. */
  #calibrate(): void {
    const isIdle = () => this.theory.hasNumbers && !this.theory.isRefining;
    if (!this.#isPanelSeen || this.state.view !== "explore" || !isIdle()) return;
    const idle = globalThis.requestIdleCallback ?? ((call: () => void) => setTimeout(call, 500));
    idle(() => isIdle() && this.audit.calibrate(this.state));
  }

  #measure(): void {
    const next = layoutOf(document.documentElement.clientWidth);
    if (next.content === this.layout.content && next.split === this.layout.split) return;
    this.layout = next;
    this.redraw();
  }
}
