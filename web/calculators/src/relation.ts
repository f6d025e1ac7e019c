/** `δ = 1e-5`, without line breaks. */
export function relation(symbol: string, sign: "=" | "≤" | "≥" | "≈", value: string): string {
  return `${symbol}\u00a0${sign}\u00a0${value}`;
}
