import { html, svg, type TemplateResult } from "lit/html.js";
import { grouped } from "../../../../numbers/rounded";
import { type Bin, binned } from "../../one-run/bins";

const HEIGHT = 76;
const BASE = 56;

/** Correct and wrong guesses along the ranking by score, the guessed ends highlighted. */
export function strip(
  width: number,
  id: string,
  ranking: ArrayLike<number>,
  guesses: number,
): TemplateResult {
  const bins = binned(ranking, guesses, Math.floor(width / 4));
  const step = width / bins.length;
  const most = Math.max(
    ...bins.map((bin) => bin.correct + bin.wrong + bin.guessedCorrect + bin.guessedWrong),
  );
  const height = (count: number) => (BASE * count) / most;
  /** One part of each bin, above the parts below it. */
  const part = (of: (bin: Bin) => number, below: (bin: Bin) => number) =>
    bins
      .map((bin, index) => {
        const tall = height(of(bin));
        if (tall === 0) return "";
        const top = BASE - height(below(bin)) - tall;
        const [x, wide] = [index * step, Math.max(0.6, step - (step > 2 ? 0.6 : 0))];
        return `M${x.toFixed(1)} ${top.toFixed(1)}h${wide.toFixed(1)}v${tall.toFixed(1)}h-${wide.toFixed(1)}z`;
      })
      .join("");
  const guessed = {
    x1: (Math.ceil(guesses / 2) / ranking.length) * width,
    x2: width - (Math.floor(guesses / 2) / ranking.length) * width,
  };
  const correct = bins.reduce((total, bin) => total + bin.guessedCorrect, 0);
  const says = `${grouped(correct)} of ${grouped(guesses)} guesses are correct, of ${grouped(ranking.length)} canaries.`;
  return html`<figure class="ranking">
    <svg class="chart" id=${id} viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-label=${says}>
      ${svg`<path class="guess right made" d=${part(
        (bin) => bin.guessedCorrect,
        () => 0,
      )}></path>
      <path class="guess wrong made" d=${part(
        (bin) => bin.guessedWrong,
        (bin) => bin.guessedCorrect,
      )}></path>
      <path class="guess right" d=${part(
        (bin) => bin.correct,
        (bin) => bin.guessedCorrect + bin.guessedWrong,
      )}></path>
      <path class="guess wrong" d=${part(
        (bin) => bin.wrong,
        (bin) => bin.guessedCorrect + bin.guessedWrong + bin.correct,
      )}></path>
      <line class="end" x1="0" x2=${guessed.x1} y1=${BASE + 3} y2=${BASE + 3}></line>
      <line class="end" x1=${guessed.x2} x2=${width} y1=${BASE + 3} y2=${BASE + 3}></line>
      <text x="0" y=${HEIGHT - 2}>guessed included</text>
      <text x=${width} y=${HEIGHT - 2} text-anchor="end">guessed not included</text>`}
    </svg>
    <figcaption>
      <ul class="legend">
        <li><span class="dash right"></span>correct</li>
        <li><span class="dash wrong"></span>wrong</li>
        <li>canaries from the largest to the smallest score; the pale ones are not guessed</li>
      </ul>
    </figcaption>
  </figure>`;
}
