import type { Accounted } from "@dpscope/wasm/calculators";

const METHODS: Record<Accounted["method"], string> = {
  analytic: "closed Gaussian formula",
  "privacy-loss-distribution": "privacy loss distribution",
  "max-slice": "largest output of each epoch",
  sum: "sum of the outputs of each epoch",
  "importance-sampling": "importance sampling",
  "plug-in": "simulated distribution of one epoch, composed",
};

/** A method of the accountants, in words. */
export function methodInWords(method: Accounted["method"]): string {
  return METHODS[method];
}
