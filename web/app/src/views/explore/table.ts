import type { Accounted } from "@dpscope/wasm/calculators";
import { html, nothing, svg, type TemplateResult } from "lit/html.js";
import { decimalsOf, rounded, SIGN } from "../../../../numbers/rounded";
import type { Explored } from "../../app";
import type { Table } from "../../charts/data-table";
import { lineBadge } from "../../components/badge";
import { capitalised } from "../../numbers/accounted";
import { counted } from "../../numbers/counts";
import { aboutLine, accountedOf, type LineName, type Lines, linesOf } from "../../numbers/lines";

/** What theory says about the setting, one row per line. */
export function numberTable(app: Explored): TemplateResult {
  const names = linesOf(app.state.sampler);
  const values = names.map((name) => accountedOf(app.theory.lines, name)?.epsilon ?? 0);
  const largest = Math.max(...values.filter(Number.isFinite), 1e-9);
  const decimals = tableDecimals(app.theory.lines, names);
  return html`<table class="numbers ${app.theory.isStale ? "stale" : ""}">
    <caption>
      Claimed, proven and simulated values of ε
    </caption>
    <thead>
      <tr>
        <th scope="col">source</th>
        <th scope="col" class="right">ε</th>
        <th scope="col" class="bars"><span class="hidden">to scale</span></th>
        <th scope="col">kind</th>
      </tr>
    </thead>
    <tbody>
      ${names.map((name) => row(app, name, largest, decimals))}
    </tbody>
  </table>`;
}

/** Enough for every lower bound above the claim to be shown above it. */
function tableDecimals(lines: Lines, names: readonly LineName[]): number {
  const claimed = accountedOf(lines, "poisson")?.epsilon;
  const lower = names
    .map((name) => accountedOf(lines, name))
    .filter((value) => value?.kind === "lower");
  return Math.max(3, ...lower.map((value) => decimalsOf(claimed, value?.epsilon, 3)));
}

function row(app: Explored, name: LineName, largest: number, decimals: number): TemplateResult {
  const found = app.theory.lines[name];
  const { title, says, colour } = aboutLine(name);
  const head = html`<th scope="row">
    <span class="dot ${colour}"></span>${title}<span class="says">${says}</span>
  </th>`;
  if (found === undefined) {
    const waits =
      name === "pair-lower" && app.theory.isRefining ? "simulating more …" : "computing …";
    return html`<tr>
      ${head}
      <td class="right">–</td>
      <td class="bars"></td>
      <td class="waits">${waits}</td>
    </tr>`;
  }
  if ("reason" in found) {
    return html`<tr>
      ${head}
      <td class="right">–</td>
      <td colspan="2" class="waits">${capitalised(found.reason)}</td>
    </tr>`;
  }
  const { value, observations } = found;
  const share = Number.isFinite(value.epsilon) ? Math.max(0, value.epsilon) / largest : 0;
  return html`<tr>
    ${head}
    <td class="right">
      <span class="sign">${SIGN[value.kind]}</span> ${rounded(value.epsilon, value.kind, decimals)}
    </td>
    <td class="bars">${bar(share, value.kind, colour)}</td>
    <td>
      ${lineBadge(app, `about-${name}`, name)}
      ${name === "pair-estimate" ? drawn(app, value, observations) : nothing}
    </td>
  </tr>`;
}

/** The number of draws behind an estimate, and its standard error. */
function drawn(app: Explored, value: Accounted, observations: number | undefined): TemplateResult {
  const error = value.standard_error ?? 0;
  const shown = error > 0 ? `, ±\u00a0${Number(error.toPrecision(2))}` : "";
  return html`<span class="waits drawn">
    ${counted(observations ?? 0)} draws${shown}${app.theory.isRefining ? ", refining …" : nothing}
  </span>`;
}

/** A bar whose head points to where the true value may be. */
function bar(share: number, kind: "upper" | "lower" | "estimate", colour: string): TemplateResult {
  const at = 4 + 184 * share;
  const head =
    kind === "estimate"
      ? svg`<circle class="fill-${colour}" cx=${at} cy="9" r="4"></circle>`
      : svg`<path class="fill-${colour}" d=${
          kind === "lower" ? `M${at},4 l7,5 l-7,5 z` : `M${at},4 l-7,5 l7,5 z`
        }></path>`;
  return html`<svg class="bar" viewBox="0 0 200 18" aria-hidden="true">
    <line class="track ${colour}" x1="2" x2=${at} y1="9" y2="9"></line>
    ${head}
  </svg>`;
}

export function tableOf(app: Explored): Table {
  const rows = linesOf(app.state.sampler).map((name) => {
    const found = app.theory.lines[name];
    if (found === undefined || "reason" in found) return [name, "", "", "", "", "", "", "", "", ""];
    const { value, observations } = found;
    return [
      name,
      String(value.epsilon),
      String(value.delta),
      value.kind,
      value.scope,
      value.direction,
      value.method,
      value.significance === undefined ? "" : String(value.significance),
      observations === undefined ? "" : String(observations),
      app.version,
    ];
  });
  return {
    caption: "Numbers",
    columns: [
      "what",
      "epsilon",
      "delta",
      "kind",
      "scope",
      "direction",
      "method",
      "significance",
      "draws",
      "version",
    ],
    rows,
  };
}
