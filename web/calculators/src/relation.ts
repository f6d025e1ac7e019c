/** `δ = 1e-5`, which no line break tears apart. */
export function relation(symbol: string, sign: "=" | "≤" | "≥" | "≈", value: string): string {
  return `${symbol}\u00a0${sign}\u00a0${value}`;
}
