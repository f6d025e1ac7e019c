/** `<dpscope-value>`: one number within a sentence. */

import { css, html, LitElement, type PropertyDeclarations, type TemplateResult } from "lit";
import type { Figure } from "./calculator";
import { type Call, type Failure, failureOf } from "./calls";
import { attributeOf, inWords, propertyOf, read } from "./fields";
import { type Quantity, type QuantityName, quantities, settingsOfAll } from "./quantities";
import { whenSeen } from "./seen";

const style = css`
  :host { font-variant-numeric: tabular-nums; }
  :host([hidden]) { display: none; }
  bdi { white-space: nowrap; }
`;

/** The element; `call` calls the wasm bundle. */
export function valueElement(call: Call): CustomElementConstructor {
  return class extends LitElement {
    static override styles = style;

    static override properties: PropertyDeclarations = Object.fromEntries(
      ["quantity", ...settingsOfAll].map((name) => [
        propertyOf(name),
        { attribute: attributeOf(name) },
      ]),
    );

    #figure: Figure | undefined;
    #problem = "";
    #about = "";
    #isSeen = false;
    #isBusy = false;
    #isStale = true;
    #observer: { disconnect(): void } | undefined;

    #passed(name: string): unknown {
      return (this as unknown as Record<string, unknown>)[propertyOf(name)];
    }

    override connectedCallback(): void {
      super.connectedCallback();
      this.#observer = whenSeen(this, () => {
        this.#isSeen = true;
        void this.#work();
      });
    }

    override disconnectedCallback(): void {
      super.disconnectedCallback();
      this.#observer?.disconnect();
    }

    protected override willUpdate(changed: Map<string, unknown>): void {
      if (changed.size === 0) return;
      this.#isStale = true;
      this.#figure = undefined; // a number of other settings is worse than none
      void this.#work();
    }

    /** Computes the newest settings, one request at a time. */
    async #work(): Promise<void> {
      if (!this.#isSeen || this.#isBusy) return;
      this.#isBusy = true;
      await this.updateComplete;
      while (this.#isStale && this.isConnected) {
        this.#isStale = false;
        await this.#ask();
        this.requestUpdate();
      }
      this.#isBusy = false;
    }

    async #ask(): Promise<void> {
      const settings: Record<string, unknown> = {};
      let quantity: Quantity | undefined;
      try {
        quantity = quantityOf(this.#passed("quantity"));
        for (const [name, field] of Object.entries(quantity.fields)) {
          const { value, problem } = read(field, this.#passed(name));
          if (problem !== undefined) throw { kind: "input", field: name, message: problem };
          settings[name] = value;
        }
        const { figure, result } = await quantity.answer(call, settings);
        const version = await call("version");
        if (this.#isStale) return;
        const command = quantity.command(settings);
        this.#figure = figure;
        this.#problem = "";
        this.#about = `${figure.standing}; ${command} (dpscope ${version})`;
        this.#send("dpscope-result", { settings, result, command, version });
      } catch (thrown) {
        const failure: Failure = inWords(failureOf(thrown), quantity?.fields ?? {});
        this.#figure = undefined;
        this.#problem = failure.message;
        this.#send("dpscope-error", { settings, failure });
      }
    }

    #send(type: string, detail: object): void {
      const calculator = "value";
      const quantity = this.#passed("quantity");
      const init = { detail: { calculator, quantity, ...detail }, bubbles: true, composed: true };
      this.dispatchEvent(new CustomEvent(type, init));
    }

    /** The content of the element, until there is a number and where there is none. */
    protected override render(): TemplateResult {
      const figure = this.#figure;
      if (figure !== undefined) {
        return html`<bdi dir="ltr" part="value" title=${this.#about}>${figure.value}</bdi>`;
      }
      if (this.#problem === "") return html`<slot>…</slot>`;
      return html`<slot title=${this.#problem}>(no value: ${this.#problem})</slot>`;
    }
  };
}

function quantityOf(name: unknown): Quantity {
  const known = Object.keys(quantities) as QuantityName[];
  const found = known.find((one) => one === name);
  if (found !== undefined) return quantities[found];
  const message = `quantity must be one of ${known.join(", ")}`;
  throw { kind: "input", field: "quantity", message };
}
