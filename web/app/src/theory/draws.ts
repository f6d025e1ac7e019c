/** Normals, and draws, that the bundle plans by itself: of one epoch alone, and of one epoch where
 * there are many. */
const NORMALS = { one: 2e7, many: 1e7 };
const [FEWEST, MOST] = [1000, 200_000];

/** A question about the exact pair: `draws` epochs, 0 for as many as the bundle plans. */
export interface PairStep {
  name: "pair" | "pair_estimate";
  draws: number;
}

/** How many epochs the bundle draws for its estimate; none where they are too long for it. */
export function plannedDraws(steps: number, epochs: number): number | undefined {
  const affordable = (epochs > 1 ? NORMALS.many : NORMALS.one) / (steps + 1);
  if (affordable < FEWEST / 10) return undefined;
  return Math.min(MOST, Math.max(FEWEST, Math.floor(affordable)));
}

/** More and more draws. The last leaves their number to the bundle: it plans as the command line
 * does, so that both show the same figures, and only there many epochs are drawn as whole runs. */
export function pairSteps(steps: number, epochs: number): PairStep[] {
  const planned = plannedDraws(steps, epochs) ?? 0;
  const name = epochs > 1 ? "pair_estimate" : "pair";
  const all: PairStep[] = planned > FEWEST ? [{ name, draws: FEWEST }] : [];
  for (const parts of [64, 16, 4]) {
    const draws = Math.floor(planned / parts);
    if (draws >= 2 * FEWEST) all.push({ name, draws });
  }
  return [...all, { name: "pair", draws: 0 }];
}
