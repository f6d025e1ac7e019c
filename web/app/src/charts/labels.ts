/** Heights for words that want to stand at `wanted`, all between `top` and `bottom` and at least
 * `gap` from each other where there is room. */
export function apart(
  wanted: readonly number[],
  top: number,
  bottom: number,
  gap: number,
): number[] {
  const order = wanted.map((_, index) => index);
  order.sort((one, other) => (wanted[one] ?? 0) - (wanted[other] ?? 0));
  const found = [...wanted];
  let least = top;
  for (const index of order) {
    found[index] = Math.max(found[index] ?? top, least);
    least = found[index] + gap;
  }
  let most = bottom;
  for (const index of order.reverse()) {
    found[index] = Math.min(found[index] ?? bottom, most);
    most = found[index] - gap;
  }
  return found;
}
