/** The one element behind all calculators: inputs, lazy start, questions, events. */

import {
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type PropertyValues,
  type TemplateResult,
} from "lit";
import type { Answer, Calculator, Columns } from "./calculator";
import { type Call, type Failure, failureOf } from "./calls";
import { type Field, numberText, propertyOf, read, settingOf, type Value } from "./fields";
import { style } from "./style";
import { answerView, chartView, failureView, fieldView, footView } from "./view";

/** Least time between two announcements to screen readers. */
const QUIET_MS = 1200;

/** An attribute's text is read when the element updates, as is what a property was set to. */
const converter = {
  fromAttribute: (text: string | null) => text,
  toAttribute: numberText,
};

/** The element of one calculator; `call` reaches the wasm bundle. */
export function elementOf<Settings extends object, Result>(
  calculator: Calculator<Settings, Result>,
  call: Call,
): CustomElementConstructor {
  const { fields } = calculator;

  return class extends LitElement {
    static override styles = style;

    static override properties: PropertyDeclarations = Object.fromEntries(
      fields.map((field) => [
        propertyOf(field),
        { attribute: field.name, reflect: true, useDefault: true, converter },
      ]),
    );

    #problems = new Map<Field, string>();
    /** What is being typed and is no value yet. */
    #drafts = new Map<Field, string>();
    #answer: Answer<Result> | undefined;
    #failure: Failure | undefined;
    #columns: Columns | undefined;
    #drawn = "";
    #width = 480;
    #version = "";
    #isVisible = false;
    #isBusy = false;
    #isStale = true;
    #isTouched = false;
    #heard = "";
    #lastHeard = 0;
    #announcement: ReturnType<typeof setTimeout> | undefined;
    #copied = "";
    #observers: { disconnect(): void }[] = [];

    constructor() {
      super();
      for (const field of fields) this.#set(field, field.initial);
    }

    #value(field: Field): Value {
      return (this as unknown as Record<string, Value>)[propertyOf(field)] ?? field.initial;
    }

    #set(field: Field, value: Value): void {
      (this as unknown as Record<string, Value>)[propertyOf(field)] = value;
    }

    #settings(): Settings {
      const entries = fields.map((field) => [settingOf(field), this.#value(field)]);
      return Object.fromEntries(entries) as Settings;
    }

    override connectedCallback(): void {
      super.connectedCallback();
      const seen = new IntersectionObserver(
        (entries) => {
          if (!entries.some((entry) => entry.isIntersecting)) return;
          seen.disconnect();
          this.#isVisible = true;
          void this.#work();
        },
        { rootMargin: "200px" },
      );
      seen.observe(this);
      const sized = new ResizeObserver(() => {
        const width = this.renderRoot.querySelector(".chart")?.clientWidth ?? 0;
        if (width === 0 || width === this.#width) return;
        this.#width = Math.max(240, width);
        this.requestUpdate();
      });
      sized.observe(this);
      this.#observers = [seen, sized];
    }

    override disconnectedCallback(): void {
      super.disconnectedCallback();
      for (const observer of this.#observers) observer.disconnect();
      clearTimeout(this.#announcement);
    }

    protected override willUpdate(changed: PropertyValues): void {
      const moved = fields.filter((field) => changed.has(propertyOf(field)));
      for (const field of moved) {
        const { value, problem } = read(
          field,
          this.#value(field),
          changed.get(propertyOf(field)) as Value | undefined,
        );
        this.#set(field, value);
        if (problem === undefined) this.#problems.delete(field);
        else this.#problems.set(field, `${problem} ${numberText(value)} is used.`);
      }
      if (moved.length > 0) {
        this.#isStale = true;
        void this.#work();
      }
    }

    /** Answers the newest settings; one question is open at a time. */
    async #work(): Promise<void> {
      if (!this.#isVisible || this.#isBusy) return;
      this.#isBusy = true;
      await this.updateComplete;
      while (this.#isStale && this.isConnected) {
        this.#isStale = false;
        await this.#ask(this.#settings());
        this.requestUpdate();
      }
      this.#isBusy = false;
      await this.#draw();
    }

    async #ask(settings: Settings): Promise<void> {
      try {
        const answer = await calculator.answer(call, settings);
        this.#version ||= await call("version");
        if (this.#isStale) return;
        this.#answer = answer;
        this.#failure = undefined;
        this.#announce(answer.sentences[0] ?? "");
        const detail = {
          calculator: calculator.name,
          settings,
          result: answer.result,
          command: calculator.command(settings),
          version: this.#version,
        };
        const event = new CustomEvent("dpscope-result", { detail, bubbles: true, composed: true });
        this.dispatchEvent(event);
      } catch (error) {
        this.#answer = undefined;
        this.#failure = failureOf(error);
        this.#announce(this.#failure.message);
      }
    }

    /** Curves, unless those of these settings stand there: the noise multiplier only moves the mark. */
    async #draw(): Promise<void> {
      if (!calculator.columns || this.#failure !== undefined) return;
      const settings = this.#settings();
      const key = JSON.stringify({ ...settings, noise_multiplier: undefined });
      if (key === this.#drawn) return;
      this.#drawn = key;
      const isWanted = () => this.#drawn === key && this.isConnected;
      const show = (columns: Columns) => {
        this.#columns = columns;
        this.requestUpdate();
      };
      try {
        await calculator.columns(call, settings, isWanted, show);
      } catch {
        // the figures stand without their chart, which the next change tries again
        if (isWanted()) this.#drawn = "";
      }
    }

    /** At most one announcement in a while, and none of what the page itself set. */
    #announce(text: string): void {
      if (!this.#isTouched) return;
      clearTimeout(this.#announcement);
      const wait = Math.max(0, this.#lastHeard + QUIET_MS - Date.now());
      this.#announcement = setTimeout(() => {
        this.#lastHeard = Date.now();
        this.#heard = text;
        this.requestUpdate();
      }, wait);
    }

    /** Half a number is no mistake yet: the last value stands until there is another. */
    #typed(field: Field, text: string): void {
      this.#isTouched = true;
      this.#drafts.set(field, text);
      const { value, problem } = read(field, text, this.#value(field));
      if (problem === undefined) {
        this.#set(field, value);
        this.#problems.delete(field);
      } else {
        this.#problems.set(field, problem);
      }
      this.requestUpdate();
    }

    #committed(field: Field, text: string): void {
      this.#isTouched = true;
      this.#drafts.delete(field);
      this.#set(field, text);
    }

    async #copy(): Promise<void> {
      try {
        await navigator.clipboard.writeText(calculator.command(this.#settings()));
        this.#copied = "Copied";
      } catch {
        this.#copied = "Copy it from Method";
      }
      this.requestUpdate();
    }

    protected override render(): TemplateResult {
      const { title, about, columns } = calculator;
      const settings = this.#settings();
      const inputs = fields.map((field) => ({
        field,
        value: this.#value(field),
        draft: this.#drafts.get(field),
        problem: this.#problems.get(field),
        typed: (text: string) => this.#typed(field, text),
        committed: (text: string) => this.#committed(field, text),
      }));
      const noiseMultiplier = (settings as { noise_multiplier?: number }).noise_multiplier ?? 1;
      return html`
        <section class="box" part="box" aria-label=${title}>
          <div part="heading">
            <p class="title" part="title"><slot name="title">${title}</slot></p>
            <p class="about" part="about"><slot name="about">${about}</slot></p>
          </div>
          <div class="fields" part="fields">${inputs.map(fieldView)}</div>
          ${
            this.#failure === undefined
              ? answerView(this.#answer, this.#isBusy)
              : failureView(this.#failure)
          }
          ${columns ? chartView(this.#columns, noiseMultiplier, this.#width) : nothing}
          ${footView(this.#answer, this.#version, calculator.command(settings), this.#copied, () => void this.#copy())}
          <p class="heard" aria-live="polite">${this.#heard}</p>
        </section>
      `;
    }
  };
}
