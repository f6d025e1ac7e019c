import { ticks } from "d3-array";
import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import { type Plot, plot } from "../../charts/plot";
import type { Statement } from "../../numbers/statement";

/** One axis of ε: the claim, the range of the true value, and the gap between them. */
export function ruler(width: number, statement: Statement): TemplateResult | typeof nothing {
  const { claimed, least, most, claim: own } = statement;
  if (claimed === undefined) return nothing;
  const largest = Math.max(claimed.epsilon, least?.epsilon ?? 0, most?.epsilon ?? 0);
  // a claim far beyond the bounds would leave no room for them
  const isShown = own !== undefined && own.epsilon <= 3 * largest;
  const axis = {
    label: "",
    ends: [0, niceEnd(isShown ? Math.max(largest, own.epsilon) : largest)] as const,
  };
  const drawn = plot({ width, height: 112, left: 10, right: 14 }, { x: axis, y: axis });
  return html`<svg
    class="chart ruler"
    id="ruler"
    viewBox="0 0 ${width} ${isShown ? 122 : 104}"
    role="img"
    aria-label=${statement.sentence}
  >
    ${line(drawn, isShown ? 56 : 38)} ${truth(drawn, statement)} ${isShown ? ownClaim(drawn, own.epsilon) : nothing}
    ${claim(drawn, claimed.epsilon)}
  </svg>`;
}

const AXIS = 62;
/** Labels that are closer stand one above the other. */
const LABELS_APART = 100;

function niceEnd(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-6) * 1.08));
  const step = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value * 1.08);
  return (step ?? 10) * power;
}

function line({ x, left, width, right, axes }: Plot, labelAt: number): unknown {
  const places = ticks(...axes.x.ends, Math.max(3, Math.floor(width / 110)));
  return svg`<g class="axes">
    <line class="base" x1=${left} x2=${width - right} y1=${AXIS} y2=${AXIS}></line>
    ${places.map(
      (tick) => svg`<line class="base" x1=${x(tick)} x2=${x(tick)} y1=${AXIS} y2=${AXIS + 6}></line>
        <text x=${x(tick)} y=${AXIS + 22} text-anchor="middle">${Number(tick.toPrecision(6))}</text>`,
    )}
    <text class="axis-label" x=${width - right} y=${AXIS + labelAt} text-anchor="end">ε, what an attacker can learn →</text>
  </g>`;
}

function claim({ x }: Plot, epsilon: number): unknown {
  const at = x(epsilon);
  return svg`<g>
    <line class="mark poisson" x1=${at} x2=${at} y1=${AXIS - 26} y2=${AXIS}></line>
    <circle class="fill-poisson" cx=${at} cy=${AXIS} r="5"></circle>
    ${words(at, AXIS - 34, "claimed", "poisson")}
  </g>`;
}

function ownClaim({ x, width, right }: Plot, epsilon: number): unknown {
  const at = x(epsilon);
  const anchor = at < 48 ? "start" : at > width - right - 48 ? "end" : "middle";
  return svg`<g>
    <line class="mark claim" x1=${at} x2=${at} y1=${AXIS - 18} y2=${AXIS + 6}></line>
    <text class="fill-claim" x=${at} y=${AXIS + 39} text-anchor=${anchor}>your claim</text>
  </g>`;
}

function truth(drawn: Plot, { claimed, least, most }: Statement): unknown {
  const { x } = drawn;
  const claimedAt = x(claimed?.epsilon ?? 0);
  const [from, to] = [least?.epsilon, most?.epsilon];
  if (from === undefined && to === undefined) return nothing;
  const start = x(from ?? 0);
  const end = to === undefined ? drawn.width - drawn.right : x(to);
  const gap =
    from !== undefined && start > claimedAt
      ? svg`<rect class="gap" x=${claimedAt} y=${AXIS - 10} width=${start - claimedAt} height="10"></rect>`
      : nothing;
  const middle = Math.min(Math.max((start + end) / 2, 72), drawn.width - 72);
  const height = AXIS - (Math.abs(middle - claimedAt) < LABELS_APART ? 50 : 34);
  return svg`<g>
    ${gap}
    <rect class="truth" x=${start} y=${AXIS - 10} width=${Math.max(2, end - start)} height="10"></rect>
    ${from === undefined ? nothing : svg`<line class="mark attack" x1=${start} x2=${start} y1=${AXIS - 26} y2=${AXIS}></line>`}
    ${to === undefined ? nothing : svg`<line class="mark deterministic" x1=${end} x2=${end} y1=${AXIS - 26} y2=${AXIS}></line>`}
    ${words(middle, height, "between the bounds", "plain")}
  </g>`;
}

function words(x: number, y: number, text: string, colour: string): unknown {
  const anchor = x < 40 ? "start" : "middle";
  return svg`<text class="fill-${colour}" x=${anchor === "start" ? Math.max(x - 5, 2) : x} y=${y} text-anchor=${anchor}>${text}</text>`;
}
