/** Normals that a worker draws in about half a second. */
const NORMALS = 6e7;

/** How many draws of the exact pair are made, one number after the other; the last is the planned
 * one. 0 leaves the number to the bundle, which knows what many epochs cost. */
export function pairDraws(steps: number, epochs: number): number[] {
  if (epochs > 1) return [0];
  const most = Math.min(2 ** 19, Math.max(2000, NORMALS / steps));
  const planned = 2 ** Math.round(Math.log2(most));
  const draws = [planned];
  for (let next = planned / 4; next >= 1000 && draws.length < 5; next /= 4) draws.unshift(next);
  return draws;
}
