/** The element of all calculators: inputs, lazy start, requests, events. */

import {
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type PropertyValues,
  type TemplateResult,
} from "lit";
import { hasEffect, numberText, typedText, type Value } from "../../fields/field";
import type { Answer, Calculator, Columns } from "./calculator";
import { type Call, type Failure, failureOf } from "./calls";
import { attributeOf, type Input, inWords, propertyOf, read } from "./fields";
import { whenSeen } from "./seen";
import { style } from "./style";
import { answerView, chartView, failureView, fieldView, footView } from "./view";

/** Minimum time between two announcements to screen readers. */
const QUIET_MS = 1200;

/** Attributes and properties are parsed when the element updates. */
const converter = {
  fromAttribute: (text: string | null) => text,
  toAttribute: numberText,
};

/** The element of one calculator; `call` calls the wasm bundle. */
export function elementOf<Settings extends object, Result>(
  calculator: Calculator<Settings, Result>,
  call: Call,
): CustomElementConstructor {
  const fields = Object.entries(calculator.fields);

  return class extends LitElement {
    static override styles = style;

    static override properties: PropertyDeclarations = Object.fromEntries(
      fields.map(([name]) => [
        propertyOf(name),
        { attribute: attributeOf(name), reflect: true, useDefault: true, converter },
      ]),
    );

    #problems = new Map<string, string>();
    /** Text being typed that is no value yet. */
    #drafts = new Map<string, string>();
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
      for (const [name, field] of fields) this.#set(name, field.initial);
    }

    #value(name: string, field: Input): Value {
      return (this as unknown as Record<string, Value>)[propertyOf(name)] ?? field.initial;
    }

    #set(name: string, value: Value): void {
      (this as unknown as Record<string, Value>)[propertyOf(name)] = value;
    }

    #settings(): Settings {
      const entries = fields.map(([name, field]) => [name, this.#value(name, field)]);
      return Object.fromEntries(entries) as Settings;
    }

    override connectedCallback(): void {
      super.connectedCallback();
      const seen = whenSeen(this, () => {
        this.#isVisible = true;
        void this.#work();
      });
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
      const moved = fields.filter(([name]) => changed.has(propertyOf(name)));
      for (const [name, field] of moved) {
        const before = changed.get(propertyOf(name)) as Value | undefined;
        const { value, problem } = read(field, this.#value(name, field), before);
        this.#set(name, value);
        if (problem === undefined) this.#problems.delete(name);
        else this.#problems.set(name, `${problem} ${numberText(value)} is used.`);
      }
      if (moved.length > 0) {
        this.#isStale = true;
        void this.#work();
      }
    }

    /** Computes the newest settings, one request at a time. */
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
        this.#send("dpscope-result", {
          settings,
          result: answer.result,
          command: calculator.command(settings),
          version: this.#version,
        });
      } catch (error) {
        if (this.#isStale) return;
        this.#answer = undefined;
        this.#failure = inWords(failureOf(error), calculator.fields);
        this.#announce(this.#failure.message);
        this.#send("dpscope-error", { settings, failure: this.#failure });
      }
    }

    #send(type: string, detail: object): void {
      const init = { bubbles: true, composed: true };
      const named = { calculator: calculator.name, ...detail };
      this.dispatchEvent(new CustomEvent(type, { detail: named, ...init }));
    }

    /** Curves, unless these settings already have theirs: the noise multiplier only moves the mark. */
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
        // the numbers stay without their chart, which the next change tries again
        if (isWanted()) this.#drawn = "";
      }
    }

    /** Announcements are rate-limited, and start once the reader has changed something. */
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

    /** Half a number is no error yet: the last value is used until there is another. */
    #typed(name: string, field: Input, text: string): void {
      this.#isTouched = true;
      this.#drafts.set(name, text);
      const { value, problem } = read(field, typedText(field, text), this.#value(name, field));
      if (problem === undefined) {
        this.#set(name, value);
        this.#problems.delete(name);
      } else {
        this.#problems.set(name, problem);
      }
      this.requestUpdate();
    }

    #committed(name: string, field: Input, text: string): void {
      this.#isTouched = true;
      this.#drafts.delete(name);
      this.#set(name, typedText(field, text));
    }

    async #copy(): Promise<void> {
      try {
        await navigator.clipboard.writeText(calculator.command(this.#settings()));
        this.#copied = "Copied";
      } catch {
        this.#copied = "Copy it under Method";
      }
      this.requestUpdate();
    }

    protected override render(): TemplateResult {
      const { title, about, columns } = calculator;
      const settings = this.#settings();
      const shown = fields.filter(([, field]) => hasEffect(field, settings));
      const inputs = shown.map(([name, field]) => ({
        id: attributeOf(name),
        field,
        value: this.#value(name, field),
        draft: this.#drafts.get(name),
        problem: this.#problems.get(name),
        typed: (text: string) => this.#typed(name, field, text),
        committed: (text: string) => this.#committed(name, field, text),
      }));
      const noiseMultiplier = (settings as { noise_multiplier?: number }).noise_multiplier ?? 1;
      return html`
        <div class="box" part="box" role="group" aria-label=${title} lang="en" dir="ltr">
          <div part="heading">
            <p class="title" part="title"><slot name="title" dir="auto">${title}</slot></p>
            <p class="about" part="about"><slot name="about" dir="auto">${about}</slot></p>
          </div>
          <div class="fields" part="fields">${inputs.map(fieldView)}</div>
          ${
            this.#failure === undefined
              ? answerView(this.#answer, this.#isBusy)
              : failureView(this.#failure)
          }
          ${columns ? chartView(this.#columns, noiseMultiplier, this.#width) : nothing}
          ${
            this.#failure === undefined
              ? footView(
                  this.#answer,
                  this.#version,
                  calculator.command(settings),
                  this.#copied,
                  () => void this.#copy(),
                )
              : nothing
          }
          <p class="heard" aria-live="polite">${this.#heard}</p>
        </div>
      `;
    }
  };
}
