/** How results of calculators are compared with those of the program. */

/** Where `found` is not `expected`: paths of numbers and words, equal bit for bit. */
export function unequal(found: unknown, expected: unknown, path = ""): string[] {
  if (typeof expected === "object" && expected !== null) {
    return Object.entries(expected).flatMap(([key, value]) =>
      unequal((found as Record<string, unknown> | undefined)?.[key], value, `${path}.${key}`),
    );
  }
  return found === expected ? [] : [`${path} is ${found}, not ${expected}`];
}

/** ε of what was accounted; other results as they are. */
export function plain(result: object): object {
  const entries = Object.entries(result).map(([name, value]) => [
    name,
    ["claimed", "lower", "upper"].includes(name) ? value.epsilon : value,
  ]);
  return Object.fromEntries(entries);
}
