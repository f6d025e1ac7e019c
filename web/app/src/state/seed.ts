/** A seed for independent draws, below 2⁵³ as every seed. */
export function seedAfter(seed: string, places: number): string {
  return String((BigInt(seed) + BigInt(places)) % 2n ** 53n);
}

/** A seed from the browser's entropy, below 2⁵³. */
export function freshSeed(): string {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return String((high >>> 11) * 2 ** 32 + low);
}
