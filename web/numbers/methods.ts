import type { Accounted } from "@dpscope/wasm/calculators";
import { methods } from "./words.json";

/** A method of the accountants, in words. */
export function methodInWords(method: Accounted["method"]): string {
  return methods[method];
}
