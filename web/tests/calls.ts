/** What tests of bundles do without workers. */

/** The failure that a call throws. */
export function thrown(call: () => unknown): unknown {
  try {
    call();
  } catch (failure) {
    return failure;
  }
  return undefined;
}

interface Assigner {
  assign(size: number): { first: number; end: number } | undefined;
}

/** What is left, in ranges of so many runs of each world. */
export function assigned(audit: Assigner, size: number): { first: number; end: number }[] {
  const ranges = [];
  for (let range = audit.assign(size); range !== undefined; range = audit.assign(size)) {
    ranges.push(range);
  }
  return ranges;
}
