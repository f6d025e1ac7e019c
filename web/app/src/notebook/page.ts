import { nothing, render } from "lit/html.js";
import type { Explored } from "../app";
import { TABLE_TOGGLED } from "../charts/data-table";
import { layoutOf } from "../layout";
import { type LineName, linesOf } from "../numbers/lines";
import { statement } from "../numbers/statement";
import { storedConclusion, storedLines, storedSweep, storedVersion } from "../numbers/stored";
import { consistent, FIELD_NAMES, type Field, initialState, type State } from "../state/fields";
import { TheorySession } from "../theory/session";
import { SweepSession } from "../theory/sweep";
import { comparison } from "../views/explore/explore";
import type { Bundles } from "../workers/spawn";
import { type Settings, settingsOf } from "./fields";

/** All lines of the comparison, with the settings that they are of. */
export interface Answer {
  settings: Settings;
  /** By the names of `dpscope compare --json`. */
  values: Record<string, object>;
  claimed: number | null;
  lower: number | null;
  upper: number | null;
}

/** The comparison of Explore outside of the app, in an element of its own. */
export class NotebookPage implements Explored {
  readonly refused = new Map<Field, string>();
  readonly version = storedVersion;
  readonly hasViews = false;
  readonly theory: TheorySession;
  readonly sweep: SweepSession;
  layout = layoutOf(900);
  state: State;
  readonly #root: HTMLElement;
  readonly #answered: (answer: Answer) => void;
  readonly #measured: ResizeObserver;
  #frame: number | undefined;
  #sent = "";

  constructor(
    root: HTMLElement,
    settings: Partial<State>,
    spawn: Bundles,
    answered: (answer: Answer) => void,
  ) {
    this.#root = root;
    this.#answered = answered;
    this.state = consistent({ ...initialState(), ...settings });
    const changed = () => {
      if (this.theory.hasNumbers) this.sweep.showSlow(this.state);
      this.#answer();
      this.redraw();
    };
    const stored = { lines: storedLines(), conclusion: storedConclusion() };
    this.theory = new TheorySession(spawn, changed, stored);
    this.sweep = new SweepSession(spawn, changed, storedSweep());
    this.theory.drop(this.state);
    this.sweep.drop(this.state);
    this.#measured = new ResizeObserver(([entry]) => {
      if (entry !== undefined) this.layout = layoutOf(entry.contentRect.width);
      this.redraw();
    });
    this.#measured.observe(root);
    root.addEventListener("submit", (event) => event.preventDefault());
    addEventListener(TABLE_TOGGLED, this.redraw);
    this.#compute();
  }

  change(part: Partial<State>): void {
    const entered = "steps" in part ? { dataset_size: undefined, ...part } : part;
    const before = this.state;
    this.state = consistent({ ...before, ...entered });
    for (const name of FIELD_NAMES)
      if (this.state[name] !== before[name]) this.refused.delete(name);
    this.#compute();
  }

  readonly redraw = (): void => {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      render(comparison(this, nothing, nothing), this.#root);
    });
  };

  /** Ends the workers. */
  close(): void {
    removeEventListener(TABLE_TOGGLED, this.redraw);
    this.#measured.disconnect();
    this.theory.close();
    this.sweep.close();
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
  }

  #compute(): void {
    this.theory.show(this.state);
    this.sweep.show(this.state);
    this.#answer();
    this.redraw();
  }

  /** Passes the values on once all of them are there. */
  #answer(): void {
    const { state, theory } = this;
    const names = linesOf(state.sampler);
    const { lines } = theory;
    const isWhole = names.every((name) => lines[name] !== undefined);
    if (!isWhole || theory.isStale || theory.isRefining) return;
    const settings = settingsOf(state);
    const values = Object.fromEntries(names.map((name) => [rowOf(name), recordOf(lines[name])]));
    const { claimed, least, most } = statement(theory);
    const [lower, upper] = [least?.epsilon ?? null, most?.epsilon ?? null];
    const answer = { settings, values, claimed: claimed?.epsilon ?? null, lower, upper };
    const key = JSON.stringify(answer);
    if (key === this.#sent) return;
    this.#sent = key;
    this.#answered(answer);
  }
}

function rowOf(name: LineName): string {
  return name.replaceAll("-", "_");
}

/** A value, or the reason why there is none. */
function recordOf(line: TheorySession["lines"][LineName]): object {
  return line !== undefined && "value" in line ? line.value : { reason: line?.reason ?? "" };
}
