import { css } from "lit";

/** Font and colours are inherited from the page, and lines mixed from its text colour. */
export const style = css`
  :host {
    --line: var(--dpscope-line, color-mix(in srgb, currentcolor 24%, transparent));
    --faint: color-mix(in srgb, currentcolor 78%, transparent);
    --accent: var(--dpscope-accent, color-mix(in oklab, #0072b2 72%, currentcolor));
    --claim: var(--dpscope-claim, color-mix(in oklab, #e69f00 88%, currentcolor));
    --lower: var(--dpscope-lower, color-mix(in oklab, #cc79a7 82%, currentcolor));
    --upper: var(--dpscope-upper, color-mix(in oklab, #009e73 82%, currentcolor));
    --radius: var(--dpscope-radius, 0.4em);
    --gap: var(--dpscope-gap, 0.8em);
    display: block;
    margin-block: 1.25em;
    container-type: inline-size;
    font-size: var(--dpscope-font-size, 0.9375em);
    line-height: 1.45;
    text-align: start;
    text-transform: none;
    white-space: normal;
    letter-spacing: normal;
    font-variant-numeric: tabular-nums;
  }
  :host([hidden]) { display: none; }
  * { box-sizing: border-box; }
  p, dl, dd { margin: 0; }

  .box {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: calc(1.15 * var(--gap));
    padding: var(--dpscope-padding, 1.1em 1.2em);
    border: 1px solid var(--line);
    border-radius: calc(1.5 * var(--radius));
    background: var(--dpscope-surface, transparent);
  }
  .title { font-weight: 600; }
  .about { color: var(--faint); font-size: 0.9em; }

  .fields {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(min(7em, 100%), 1fr));
    gap: var(--gap);
    grid-auto-flow: row dense;
    align-items: end;
  }
  .field { display: grid; gap: 0.2em; min-width: 0; }
  .field.slides { grid-column: 1 / -1; grid-template-columns: 1fr 6em; align-items: center; column-gap: 1em; }
  .field.slides label, .fields > .problem { grid-column: 1 / -1; }
  @container (min-width: 22em) { .field.choice { grid-column: span 2; } }
  label { font-size: 0.85em; color: var(--faint); }
  label i { font-style: normal; white-space: nowrap; }
  input, select, button { font: inherit; color: inherit; margin: 0; }
  input[type="text"], select {
    width: 100%;
    min-height: 2.3em;
    padding: 0.25em 0.55em;
    border: 1px solid color-mix(in srgb, currentcolor 52%, transparent);
    border-radius: var(--radius);
    background: transparent;
    text-overflow: ellipsis;
  }
  input[type="range"] { width: 100%; min-height: 1.6em; accent-color: var(--accent); }
  option { background: Canvas; color: CanvasText; }
  input[aria-invalid="true"] { border-color: var(--dpscope-problem, #d55e00); border-width: 2px; }
  :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
  .problem { font-size: 0.85em; overflow-wrap: anywhere; }
  .problem::before { content: "⚠ "; }

  .result { display: grid; gap: 0.7em; min-height: 2.6em; }
  .result[aria-busy="true"] .value { color: var(--faint); transition: color 0.15s 0.2s; }
  .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(11.5em, 100%), 1fr)); gap: var(--gap); }
  .figure { border-inline-start: 3px solid var(--line); padding-inline-start: 0.75em; display: flex; flex-direction: column; }
  .figure.claim { border-color: var(--claim); border-inline-start-style: dashed; }
  .figure.lower { border-color: var(--lower); }
  .figure.upper { border-color: var(--upper); border-inline-start-style: double; border-inline-start-width: 5px; }
  .figure.answer { border-color: var(--accent); }
  .figure dt, .standing { font-size: 0.85em; color: var(--faint); }
  .value { font-size: 1.3em; font-weight: 600; line-height: 1.3; overflow-wrap: anywhere; }

  .chart svg { display: block; width: 100%; height: auto; overflow: visible; }
  .chart text { fill: currentcolor; font-size: 12px; opacity: 0.85; }
  .chart path { fill: none; stroke-width: 2.25; stroke-linejoin: round; }
  .chart .grid { stroke: var(--line); stroke-width: 1; }
  .chart .mark { stroke: currentcolor; stroke-width: 1.25; stroke-dasharray: 2 3; }
  .claimed { stroke: var(--claim); stroke-dasharray: 9 3 2 3; }
  .lower { stroke: var(--lower); }
  .upper { stroke: var(--upper); stroke-dasharray: 6 4; }
  .legend { display: flex; flex-wrap: wrap; gap: 0.2em 1.2em; font-size: 0.85em; margin: 0 0 0.4em; padding: 0; list-style: none; }
  .legend svg { display: inline-block; width: 26px; height: 8px; margin-inline-end: 0.45em; vertical-align: middle; }

  table { border-collapse: collapse; font-size: 0.9em; }
  .wide { overflow-x: auto; }
  th, td { text-align: end; padding: 0.18em 0; padding-inline-end: 1.2em; font-weight: inherit; }
  th { color: var(--faint); border-bottom: 1px solid var(--line); }
  details > :not(summary) { margin-top: 0.5em; }
  summary { cursor: pointer; width: fit-content; font-size: 0.9em; }

  .foot { display: flex; flex-wrap: wrap; gap: 0.5em 1em; align-items: start; justify-content: space-between; font-size: 0.85em; color: var(--faint); border-top: 1px solid var(--line); padding-top: 0.75em; }
  .foot summary { font-size: 1em; padding-block: 0.25em; }
  .how { flex: 1 1 11em; min-width: 0; }
  .how dl { display: grid; gap: 0.4em; }
  .how dt { font-weight: 600; }
  .copy span:not(:empty) { margin-inline-end: 0.7em; }
  button { background: transparent; border: 1px solid var(--line); border-radius: var(--radius); padding: 0.25em 0.7em; cursor: pointer; }
  button:hover { border-color: currentcolor; }
  code { display: block; font-family: ui-monospace, monospace; overflow-wrap: anywhere; user-select: all; }
  .heard { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

  @media (prefers-reduced-motion: reduce) { .value { transition: none !important; } }
  @media (forced-colors: active) {
    :host { --line: CanvasText; --faint: CanvasText; --accent: Highlight; --claim: CanvasText; --lower: LinkText; --upper: CanvasText; }
    .chart text { fill: CanvasText; opacity: 1; }
    .chart .grid { stroke: GrayText; }
    .chart .mark { stroke: CanvasText; }
  }
`;
