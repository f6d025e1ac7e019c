import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import { rounded } from "../../../../numbers/rounded";
import { labelSize, middleWithin } from "../../charts/labels";

/** What is shown, what could have been, and what is accounted for or claimed. */
interface Reading {
  epsilon: number;
  ceiling: number;
  accounted_epsilon?: number;
  claimed_epsilon?: number;
}

const HEIGHT = 74;
const BAR = 34;
const THICK = 12;

/** ε on a scale that ends at what so many runs can show: a bar from 0 to the bound, a mark at what is
 * accounted for or claimed. */
export function epsilonScale(width: number, reading: Reading): TemplateResult {
  const { epsilon, ceiling } = reading;
  const promised = reading.accounted_epsilon ?? reading.claimed_epsilon;
  const verb = reading.accounted_epsilon === undefined ? "claimed" : "accounted";
  const most = 1.02 * Math.max(ceiling, 0.1);
  const at = (value: number) => (Math.min(value, most) / most) * width;
  const says = [
    `ε of at least ${rounded(epsilon, "lower", 2)} is shown; these runs can show at most ${rounded(ceiling, "lower", 2)}`,
    promised === undefined ? "" : `; ${verb} is at most ${rounded(promised, "upper", 2)}`,
  ].join("");
  return html`<svg
    class="chart epsilon-scale"
    viewBox="0 0 ${width} ${HEIGHT}"
    role="img"
    aria-label=${says}
  >
    ${svg`<rect class="scale-track" x="0" y=${BAR} width=${at(ceiling)} height=${THICK} rx="3"></rect>
    <rect class="scale-shown" x="0" y=${BAR} width=${Math.max(at(epsilon), 3)} height=${THICK} rx="3"></rect>
    <line class="scale-end" x1=${at(ceiling)} x2=${at(ceiling)} y1=${BAR - 4} y2=${BAR + THICK + 4}></line>
    <text x="0" y=${HEIGHT - 6}>0</text>
    <text x=${at(ceiling)} y=${HEIGHT - 6} text-anchor="end">at most ${rounded(ceiling, "lower", 2)} with this many runs</text>
    ${promised === undefined ? nothing : mark(promised)}`}
  </svg>`;

  function mark(promised: number): unknown {
    const isBeyond = promised > most;
    const x = at(promised);
    const words = `${verb} ≤ ${rounded(promised, "upper", 2)}${isBeyond ? ", beyond the scale" : ""}`;
    const middle = middleWithin(x, labelSize(words, 600).width, 0, width);
    return svg`<line class="scale-accounted" x1=${x} x2=${x} y1=${BAR - 10} y2=${BAR + THICK + 6}></line>
      <text class="scale-accounted-name" x=${middle} y=${BAR - 16} text-anchor="middle">${words}</text>`;
  }
}
