/** Limits of the draws that the bundle plans: normals of a single epoch and of many, and draws. */
const NORMALS = { one: 2e7, many: 1e7 };
const [FEWEST, MOST] = [1000, 200_000];

/** A request for the worst-case pair: `draws` epochs, 0 for the number that the bundle plans. */
export interface PairStep {
  name: "pair" | "pair_estimate";
  draws: number;
}

/** How many epochs the bundle draws for its estimate; none if they are too long. */
export function plannedDraws(steps: number, epochs: number): number | undefined {
  const affordable = (epochs > 1 ? NORMALS.many : NORMALS.one) / (steps + 1);
  if (affordable < FEWEST / 10) return undefined;
  return Math.min(MOST, Math.max(FEWEST, Math.floor(affordable)));
}

/** More and more draws. The last step leaves the number to the bundle, which plans as the command line
 * does, so that both agree; only there are many epochs drawn as whole runs. */
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
