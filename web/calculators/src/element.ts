/** The one element behind all calculators: inputs, result, lazy start, event. */

import { LitElement, type PropertyDeclarations, type PropertyValues, type TemplateResult, html, nothing } from "lit";
import { live } from "lit/directives/live.js";
import type { Answer, Calculator, Columns } from "./calculator";
import { type Call, failureOf } from "./calls";
import { CURVES, HEIGHT, chart } from "./chart";
import { type Field, type NumberField, type Value, numberText, propertyOf, read, settingOf } from "./fields";
import { outward } from "./numbers";
import { style } from "./style";

/** Least time between two announcements to screen readers. */
const QUIET_MS = 1200;

const SLIDER_STEPS = 200;

/** The element of one calculator; `call` reaches the wasm bundle. */
export function elementOf<Settings, Result>(calculator: Calculator<Settings, Result>, call: Call): CustomElementConstructor {
  const { fields } = calculator;

  return class extends LitElement {
    static override styles = style;

    static override properties: PropertyDeclarations = Object.fromEntries(
      fields.map((field) => [
        propertyOf(field),
        { attribute: field.name, reflect: true, useDefault: true, converter: { fromAttribute: (text: string | null) => text, toAttribute: numberText } },
      ]),
    );

    #problems = new Map<Field, string>();
    /** What is being typed and is no value yet. */
    #drafts = new Map<Field, string>();
    #answer: Answer<Result> | undefined;
    #failure: string | undefined;
    #columns: Columns | undefined;
    #version = "";
    #isBusy = false;
    #isVisible = false;
    #isStale = true;
    #drawn = "";
    #width = 480;
    #heard = "";
    #announcement: ReturnType<typeof setTimeout> | undefined;
    #lastHeard = 0;
    #isTouched = false;
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
      return Object.fromEntries(fields.map((field) => [settingOf(field), this.#value(field)])) as Settings;
    }

    override connectedCallback(): void {
      super.connectedCallback();
      const seen = new IntersectionObserver((entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        seen.disconnect();
        this.#isVisible = true;
        void this.#work();
      }, { rootMargin: "200px" });
      seen.observe(this);
      const sized = new ResizeObserver(([entry]) => {
        const width = Math.round(entry?.contentRect.width ?? 0) - 40;
        if (width <= 0 || width === this.#width || !calculator.columns) return;
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
        const { value, message } = read(field, this.#value(field));
        if (message === undefined) this.#problems.delete(field);
        else this.#problems.set(field, message);
        this.#set(field, value);
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
      this.requestUpdate();
      await this.#draw();
    }

    async #ask(settings: Settings): Promise<void> {
      try {
        const answer = await calculator.answer(call, settings);
        this.#version ||= await call("version");
        if (this.#isStale) return;
        this.#answer = answer;
        this.#failure = undefined;
        this.#copied = "";
        this.#announce(answer.sentences[0] ?? "");
        const detail = {
          calculator: calculator.name, settings, result: answer.result, command: calculator.command(settings), version: this.#version,
        };
        this.dispatchEvent(new CustomEvent("dpscope-result", { detail, bubbles: true, composed: true }));
      } catch (error) {
        this.#answer = undefined;
        this.#failure = failureOf(error).message;
        this.#announce(this.#failure);
      }
    }

    /** Curves, unless those of the same settings stand there: the noise multiplier only moves the mark. */
    async #draw(): Promise<void> {
      if (!calculator.columns || this.#failure !== undefined) return;
      const settings = this.#settings();
      const { noise_multiplier: _, ...rest } = settings as Record<string, unknown>;
      const key = JSON.stringify(rest);
      if (key === this.#drawn) return;
      this.#drawn = key;
      const isWanted = () => this.#drawn === key && this.isConnected;
      const show = (columns: Columns) => {
        this.#columns = columns;
        this.requestUpdate();
      };
      await calculator.columns(call, settings, isWanted, show).catch(() => {
        if (isWanted()) this.#drawn = "";
      });
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

    #typed(field: Field, text: string): void {
      this.#isTouched = true;
      const { value, message } = read(field, text, this.#value(field));
      this.#drafts.set(field, text);
      if (message === undefined) {
        this.#problems.delete(field);
        this.#set(field, value);
      } else {
        this.#problems.set(field, message);
      }
      this.requestUpdate();
    }

    /** What was typed is done: the nearest value stands, and the message stays. */
    #committed(field: Field): void {
      const draft = this.#drafts.get(field);
      this.#drafts.delete(field);
      if (draft === undefined) return;
      const { value, message } = read(field, draft, this.#value(field));
      if (message !== undefined) {
        this.#set(field, value);
        void this.updateComplete.then(() => {
          this.#problems.set(field, message);
          this.requestUpdate();
        });
      }
      this.requestUpdate();
    }

    async #copy(): Promise<void> {
      try {
        await navigator.clipboard.writeText(calculator.command(this.#settings()));
        this.#copied = "Copied";
      } catch {
        this.#copied = "Copy it from “How”";
      }
      this.requestUpdate();
    }

    protected override render(): TemplateResult {
      return html`
        <section class="box" part="box" aria-label=${calculator.title}>
          <div part="heading">
            <p class="title" part="title"><slot name="title">${calculator.title}</slot></p>
            <p class="about" part="about"><slot name="about">${calculator.about}</slot></p>
          </div>
          <div class="fields" part="fields">${fields.map((field) => this.#field(field))}</div>
          ${this.#result()}
          ${calculator.columns ? this.#chart() : nothing}
          ${this.#foot()}
          <p class="heard" aria-live="polite">${this.#heard}</p>
        </section>`;
    }

    #field(field: Field): TemplateResult {
      const { name, label, symbol, help } = field;
      const problem = this.#problems.get(field);
      const symbolText = symbol ? html` <i>${symbol}</i>` : nothing;
      const slides = field.kind === "number" && field.slider !== undefined;
      return html`
        <div class=${slides ? "field slides" : "field"} part="field">
          <label for=${name} title=${help} part="label">${label}${symbolText}</label>
          ${slides ? this.#slider(field) : nothing}
          ${field.kind === "choice"
            ? html`<select id=${name} part="input" .value=${live(this.#value(field))} @change=${(event: Event) => this.#typed(field, (event.target as HTMLSelectElement).value)}>
                ${field.options.map(([value, words]) => html`<option value=${value} ?selected=${value === this.#value(field)}>${words}</option>`)}
              </select>`
            : html`<input id=${name} part="input" type="text" inputmode="decimal" autocomplete="off" spellcheck="false" maxlength="32"
                aria-invalid=${problem === undefined ? "false" : "true"} aria-describedby=${problem === undefined ? nothing : `${name}-problem`}
                .value=${live(this.#drafts.get(field) ?? numberText(this.#value(field)))}
                @input=${(event: Event) => this.#typed(field, (event.target as HTMLInputElement).value)}
                @change=${() => this.#committed(field)} />`}
          ${problem === undefined ? nothing : html`<p class="problem" part="problem" id=${`${name}-problem`}>${problem}</p>`}
        </div>`;
    }

    #slider(field: NumberField): TemplateResult {
      const [least, most] = field.slider ?? [field.least, field.most];
      const value = Number(this.#value(field));
      const position = Math.round((SLIDER_STEPS * Math.log(value / least)) / Math.log(most / least));
      const moved = (event: Event) => {
        const at = Number((event.target as HTMLInputElement).value) / SLIDER_STEPS;
        this.#typed(field, numberText(Number((least * (most / least) ** at).toPrecision(3))));
        this.#drafts.delete(field);
      };
      return html`<input type="range" part="slider" min="0" max=${SLIDER_STEPS} step="1" aria-label=${`${field.label}, slider`}
        aria-valuetext=${numberText(value)} .value=${live(String(Math.max(0, Math.min(SLIDER_STEPS, position))))} @input=${moved} />`;
    }

    #result(): TemplateResult {
      const answer = this.#answer;
      if (this.#failure !== undefined) {
        return html`<div class="result" part="result"><p class="problem" part="problem" role="alert">${this.#failure}</p><slot></slot></div>`;
      }
      if (!answer) return html`<div class="result" part="result" aria-busy="true"><p class="about">Loading …</p></div>`;
      return html`
        <div class="result" part="result" aria-busy=${this.#isBusy ? "true" : "false"}>
          <dl class="figures" part="figures">
            ${answer.figures.map(({ role, label, value, standing }) => html`
              <div class=${`figure ${role}`} part=${`figure figure-${role}`}>
                <dt>${label}</dt>
                <dd class="value" part="value">${value}</dd>
                <dd class="standing" part="standing">${standing}</dd>
              </div>`)}
          </dl>
          ${answer.sentences.map((sentence) => html`<p part="sentence">${sentence}</p>`)}
          ${answer.table ? html`<details><summary>What more observations can show</summary>${table(answer.table.head, answer.table.rows)}</details>` : nothing}
        </div>`;
    }

    #chart(): TemplateResult | typeof nothing {
      const columns = this.#columns;
      const key = ([name, words]: (typeof CURVES)[number]) =>
        html`<li><svg viewBox="0 0 26 8" aria-hidden="true"><path class=${name} d="M0 4H26"></path></svg>${words}</li>`;
      const label = "ε against the noise multiplier: what Poisson accounting claims, and the lower and upper bounds of shuffled batches";
      return html`
        <div class="chart" part="chart">
          <ul class="legend" part="legend">${CURVES.map(key)}</ul>
          <svg role="img" aria-label=${label} viewBox=${`0 0 ${this.#width} ${HEIGHT}`}>
            ${columns ? chart(columns, Number((this.#settings() as Record<string, unknown>)["noise_multiplier"]), this.#width) : nothing}
          </svg>
          ${columns ? html`<details><summary>Data of the chart</summary>${table(["σ", ...CURVES.map(([, words]) => words)], rowsOf(columns))}</details>` : nothing}
        </div>`;
    }

    #foot(): TemplateResult {
      const command = calculator.command(this.#settings());
      const methods = this.#answer?.figures.filter(({ method }) => method !== undefined) ?? [];
      return html`
        <div class="foot" part="foot">
          <span>dpscope ${this.#version}</span>
          <span>${this.#copied} <button type="button" part="button" @click=${() => this.#copy()}>Copy CLI command</button></span>
          <details class="how" part="how"><summary>How</summary>
            <dl>${methods.map(({ label, method, standing }) => html`<div><dt>${label}</dt><dd>${standing}; ${method}</dd></div>`)}</dl>
            <code part="command">${command}</code>
          </details>
        </div>`;
    }
  };
}

function rowsOf({ noiseMultipliers, ...columns }: Columns): string[][] {
  const sides = { upper: "upper", lower: "lower", claimed: "upper" } as const;
  return Array.from(noiseMultipliers, (noise, index) => [
    numberText(noise),
    ...CURVES.map(([key]) => {
      const value = columns[key][index] ?? Number.NaN;
      return Number.isNaN(value) ? "–" : outward(value, sides[key]);
    }),
  ]);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): TemplateResult {
  return html`<div class="wide" tabindex="0" role="region" aria-label="Table"><table part="table">
    <thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}
