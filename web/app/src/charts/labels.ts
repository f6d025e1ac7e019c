/** Heights of labels near their `ideal` ones, between `top` and `bottom` and at least `gap` apart
 * where there is room. */
export function apart(
  ideal: readonly number[],
  top: number,
  bottom: number,
  gap: number,
): number[] {
  const order = ideal.map((_, index) => index);
  order.sort((one, other) => (ideal[one] ?? 0) - (ideal[other] ?? 0));
  const found = [...ideal];
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
