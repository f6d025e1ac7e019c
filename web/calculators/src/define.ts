/** Defines the elements. */

import type { Calculator } from "./calculator";
import { calculators } from "./calculators";
import type { Call } from "./calls";
import { elementOf } from "./element";
import { valueElement } from "./value";

/** Defines the elements where there are elements: on a server it does nothing. */
export function defineElements(call: Call): void {
  if (typeof globalThis.customElements === "undefined") return;
  // the first module on a page wins: its elements share its wasm
  const define = (tag: string, element: () => CustomElementConstructor) => {
    if (!customElements.get(tag)) customElements.define(tag, element());
  };
  for (const calculator of calculators) {
    const any = calculator as Calculator<object, unknown>;
    define(`dpscope-${calculator.name}`, () => elementOf(any, call));
  }
  define("dpscope-value", () => valueElement(call));
}
