/**
 * `<dpscope-epsilon>`, `<dpscope-noise>`, `<dpscope-counts>`, `<dpscope-plan>`, `<dpscope-shuffle-gap>`:
 * importing this module defines them. On a server it defines nothing; in its own worker it computes.
 */

import type { Calculator } from "./calculator";
import { calculators } from "./calculators";
import { call, serveCalculators, WORKER_NAME } from "./calls";
import { elementOf } from "./element";

export type * from "./types";

const scope = globalThis as unknown as DedicatedWorkerGlobalScope;

if (scope.name === WORKER_NAME && typeof globalThis.document === "undefined") {
  serveCalculators(scope);
} else if (typeof globalThis.customElements !== "undefined") {
  for (const calculator of calculators) {
    const tag = `dpscope-${calculator.name}`;
    // the first module on a page wins: its elements share its wasm
    if (!customElements.get(tag))
      customElements.define(tag, elementOf(calculator as Calculator<unknown, unknown>, call));
  }
}
