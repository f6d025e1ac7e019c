/**
 * `<dpscope-epsilon>`, `<dpscope-noise>`, `<dpscope-counts>`, `<dpscope-one-run>`, `<dpscope-one-shot>`,
 * `<dpscope-pate>`, `<dpscope-matrix>`, `<dpscope-plan>`, `<dpscope-shuffle-gap>` and `<dpscope-value>`: importing this module defines them. On a server it defines nothing; in its own worker it computes.
 */

import type { Calculator } from "./calculator";
import { calculators } from "./calculators";
import { call, serveCalculators, WORKER_NAME } from "./calls";
import { elementOf } from "./element";
import { valueElement } from "./value";

export type * from "./types";

const scope = globalThis as unknown as DedicatedWorkerGlobalScope;

if (scope.name === WORKER_NAME && typeof globalThis.document === "undefined") {
  serveCalculators(scope);
} else if (typeof globalThis.customElements !== "undefined") {
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
