/** Normals, and draws, that the bundle plans for one epoch. */
const NORMALS = 2e7;
const MOST = 200_000;

/** How many draws of the exact pair are made, one number after the other. The last, 0, leaves the
 * number to the bundle: it plans as the command line does, so that both show the same figure. */
export function pairDraws(steps: number, epochs: number): number[] {
  const draws = [0];
  if (epochs > 1) return draws;
  const planned = Math.min(MOST, NORMALS / steps);
  for (let next = planned / 4; next >= 1000 && draws.length < 5; next /= 4) {
    draws.unshift(Math.floor(next));
  }
  return draws;
}
