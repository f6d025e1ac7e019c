/** A stretch of the ranking by score. */
export interface Bin {
  correct: number;
  wrong: number;
  /** Those among the guessed canaries. */
  guessedCorrect: number;
  guessedWrong: number;
}

/** The place by falling score of a guess, most confident first: the largest score is guessed first,
 * then the smallest, the second largest and so on. */
export function placeOf(guess: number, canaries: number): number {
  return guess % 2 === 0 ? guess / 2 : canaries - (guess + 1) / 2;
}

/** Correct and wrong guesses along the ranking, of which the first `guesses` are made. */
export function binned(ranking: ArrayLike<number>, guesses: number, most: number): Bin[] {
  const canaries = ranking.length;
  const count = Math.max(1, Math.min(most, canaries));
  const bins = Array.from({ length: count }, () => ({
    correct: 0,
    wrong: 0,
    guessedCorrect: 0,
    guessedWrong: 0,
  }));
  for (let guess = 0; guess < canaries; guess += 1) {
    const bin = bins[Math.floor((placeOf(guess, canaries) * count) / canaries)];
    if (bin === undefined) continue;
    const isMade = guess < guesses;
    if (ranking[guess] === 1) {
      if (isMade) bin.guessedCorrect += 1;
      else bin.correct += 1;
    } else if (isMade) bin.guessedWrong += 1;
    else bin.wrong += 1;
  }
  return bins;
}
