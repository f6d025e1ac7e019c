import { expect, test } from "vitest";
import { binned, placeOf } from "./bins";

test("guesses alternate between the ends of the ranking and cover it", () => {
  expect([0, 1, 2, 3].map((guess) => placeOf(guess, 10))).toEqual([0, 9, 1, 8]);
  for (const canaries of [1, 2, 7, 10]) {
    const places = Array.from({ length: canaries }, (_, guess) => placeOf(guess, canaries));
    expect(new Set(places).size).toBe(canaries);
    expect(Math.max(...places)).toBe(canaries - 1);
  }
});

test("each canary is in one bin, and guesses are at the ends", () => {
  const ranking = Uint8Array.from({ length: 101 }, (_, guess) => (guess % 3 === 0 ? 1 : 0));
  const bins = binned(ranking, 20, 25);
  const sum = (of: (bin: (typeof bins)[number]) => number) =>
    bins.reduce((total, bin) => total + of(bin), 0);
  expect(sum((bin) => bin.guessedCorrect + bin.guessedWrong)).toBe(20);
  expect(sum((bin) => bin.correct + bin.wrong)).toBe(81);
  expect(sum((bin) => bin.correct + bin.guessedCorrect)).toBe(34);
  const middle = bins[12];
  expect((middle?.guessedCorrect ?? 1) + (middle?.guessedWrong ?? 1)).toBe(0);
  expect(binned(ranking, 0, 1000)).toHaveLength(101);
});
