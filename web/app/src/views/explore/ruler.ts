import { ticks } from "d3-array";
import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import { labelSize, middleWithin } from "../../charts/labels";
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
  const line = Math.max(16, labelSize("", 600).height);
  const titleAt = AXIS + 22 + (isShown ? 2 : 1) * line;
  return html`<svg
    class="chart ruler"
    id="ruler"
    viewBox="0 0 ${width} ${Math.ceil(titleAt + 4)}"
    role="img"
    aria-label=${statement.sentence}
  >
    ${base(drawn, titleAt)} ${truth(drawn, statement)}
    ${isShown ? ownClaim(drawn, own.epsilon, AXIS + 22 + line) : nothing} ${claim(drawn, claimed.epsilon)}
  </svg>`;
}

const AXIS = 62;
/** Least distance of labels side by side. */
const GAP = 10;
/** Baseline of labels above the axis. */
const LABELS = AXIS - 34;
const CLAIMED = "claimed";
const BETWEEN = "between the bounds";

function niceEnd(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-6) * 1.08));
  const step = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value * 1.08);
  return (step ?? 10) * power;
}

function base({ x, left, width, right, axes }: Plot, titleAt: number): unknown {
  const places = ticks(...axes.x.ends, Math.max(3, Math.floor(width / 110)));
  return svg`<g class="axes">
    <line class="base" x1=${left} x2=${width - right} y1=${AXIS} y2=${AXIS}></line>
    ${places.map(
      (tick) => svg`<line class="base" x1=${x(tick)} x2=${x(tick)} y1=${AXIS} y2=${AXIS + 6}></line>
        <text x=${x(tick)} y=${AXIS + 22} text-anchor="middle">${Number(tick.toPrecision(6))}</text>`,
    )}
    <text class="axis-label" x=${width - right} y=${titleAt} text-anchor="end">ε, what an attacker can learn →</text>
  </g>`;
}

function claim(drawn: Plot, epsilon: number): unknown {
  const at = drawn.x(epsilon);
  return svg`<g>
    <line class="mark poisson" x1=${at} x2=${at} y1=${AXIS - 26} y2=${AXIS}></line>
    <circle class="fill-poisson" cx=${at} cy=${AXIS} r="5"></circle>
    ${words(middleOf(drawn, at, CLAIMED), LABELS, CLAIMED, "poisson")}
  </g>`;
}

function ownClaim(drawn: Plot, epsilon: number, y: number): unknown {
  const at = drawn.x(epsilon);
  return svg`<g>
    <line class="mark claim" x1=${at} x2=${at} y1=${AXIS - 18} y2=${AXIS + 6}></line>
    ${words(middleOf(drawn, at, "your claim"), y, "your claim", "claim")}
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
  const middle = middleOf(drawn, (start + end) / 2, BETWEEN);
  const [size, other] = [labelSize(BETWEEN, 600), labelSize(CLAIMED, 600)];
  const distance = Math.abs(middle - middleOf(drawn, claimedAt, CLAIMED));
  const isApart = distance >= (size.width + other.width) / 2 + GAP;
  return svg`<g>
    ${gap}
    <rect class="truth" x=${start} y=${AXIS - 10} width=${Math.max(2, end - start)} height="10"></rect>
    ${from === undefined ? nothing : svg`<line class="mark attack" x1=${start} x2=${start} y1=${AXIS - 26} y2=${AXIS}></line>`}
    ${to === undefined ? nothing : svg`<line class="mark deterministic" x1=${end} x2=${end} y1=${AXIS - 26} y2=${AXIS}></line>`}
    ${words(middle, isApart ? LABELS : LABELS - size.height, BETWEEN, "plain")}
  </g>`;
}

/** The middle of a label at a place of the axis, inside the drawing. */
function middleOf({ width }: Plot, place: number, text: string): number {
  return middleWithin(place, labelSize(text, 600).width, 2, width - 2);
}

function words(x: number, y: number, text: string, colour: string): unknown {
  return svg`<text class="fill-${colour}" x=${x} y=${y} text-anchor="middle">${text}</text>`;
}
