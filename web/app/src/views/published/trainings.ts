import type { Cell } from "@dpscope/wasm/studies";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { grouped, rounded, SIGN } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { scientificDelta } from "../../components/badge";
import { capitalised, standing } from "../../numbers/accounted";
import { count } from "../../numbers/counts";
import { exploreLink, isExceeded, leastLeak, type PublishedRow, rows } from "../../published/rows";
import { samplerName } from "../../state/samplers";
import { dotChart } from "./dot-chart";

/** A sentence, a chart and the table of all published trainings. */
export function trainings(app: App): TemplateResult {
  return html`<section class="panel published" aria-labelledby="leak-head">
      <h2 id="leak-head">Claimed ε, and what shuffled batches leak at least</h2>
      <p class="small">${summary()}</p>
      ${dotChart(app.layout.content, rows)}
    </section>
    <section class="panel published" aria-labelledby="table-head">
      <h2 id="table-head">All trainings</h2>
      <p class="small">
        Poisson accounting and shuffled batches are computed with the numbers of the source. A
        larger claim than Poisson accounting is valid for Poisson batches: a looser accountant, or
        another run; a smaller one is not proven. An incomplete epoch is left out of what shuffled
        batches leak.
      </p>
      <div
        class="scroll"
        tabindex="0"
        role="region"
        aria-label="Published trainings: numbers and sources"
      >
        <table class="numbers">
          <caption>
            Published trainings
          </caption>
          <thead>
            <tr>
              <th scope="col">training</th>
              <th scope="col" class="right">noise σ</th>
              <th scope="col">batches</th>
              <th scope="col" class="right">claimed ε</th>
              <th scope="col" class="right">Poisson accounting</th>
              <th scope="col">sampler that ran</th>
              <th scope="col" class="right">shuffled leaks</th>
              <th scope="col" class="right">over the claim</th>
              <th scope="col"><span class="hidden">link</span></th>
            </tr>
          </thead>
          <tbody>
            ${rows.map((row) => line(app, row))}
          </tbody>
        </table>
      </div>
    </section>`;
}

function summary(): string {
  const claims = (kind: PublishedRow["claim"]) => rows.filter((row) => row.claim === kind).length;
  const exceeded = rows.filter(isExceeded);
  const shuffled = exceeded.filter((row) => row.ran === "shuffle").length;
  const isProven = exceeded.every((row) => leastLeak(row)?.significance === undefined);
  return `Of ${rows.length} published claims, ${claims("equal")} ${
    claims("equal") === 1 ? "is that" : "are those"
  } of Poisson accounting, ${claims("larger")} are larger and ${claims("smaller")} smaller.
    Shuffled batches exceed ${exceeded.length}${isProven ? " (proven)" : ""}; ${shuffled} of these
    trainings were shuffled, according to the source or its code.`;
}

function line(app: App, row: PublishedRow): TemplateResult {
  const { name, source, noise_multiplier, claimed, delta } = row;
  const link = exploreLink(app.state, row);
  const least = leastLeak(row);
  const sigma = String(Number(noise_multiplier.toFixed(4)));
  return html`<tr>
    <th scope="row">
      ${name}
      <a href=${source.url} rel="noreferrer" title=${source.place}>${source.title}</a>
      ${remarks(row).map((remark) => html`<span class="remark">${remark}</span>`)}
    </th>
    <td class="right">${sigma}</td>
    <td>${batches(row)}</td>
    <td class="right">${claimed}<span class="remark">δ = ${scientificDelta(delta)}</span></td>
    <td class="right">${value(row.poisson)}<span class="remark">${CLAIM[row.claim]}</span></td>
    <td>
      ${row.ran === null ? "not stated" : samplerName(row.ran)}
      ${row.ran_note === null ? nothing : html`<span class="remark">${row.ran_note}</span>`}
    </td>
    <td class="right">
      ${value(least)}<span class="remark">${least === undefined ? nothing : standing(least)}</span>
    </td>
    <td class="right ${isExceeded(row) ? "exceeded" : ""}">
      ${row.shuffle_over_claim === null ? "–" : `${rounded(row.shuffle_over_claim, "lower", 2)}×`}
    </td>
    <td>
      ${
        link === undefined
          ? nothing
          : html`<a href=${link}
              >Explore<span class="hidden"> ${name}, σ = ${sigma}, ε = ${claimed}</span></a
            >`
      }
    </td>
  </tr>`;
}

const CLAIM: Record<PublishedRow["claim"], string> = {
  equal: "claim reproduced",
  larger: "claim is larger",
  smaller: "claim is smaller",
  unknown: "",
};

function value(cell: Cell | undefined): unknown {
  if (cell === undefined || "reason" in cell) return "–";
  return html`<span class="sign">${SIGN[cell.kind]}</span> ${rounded(cell.epsilon, cell.kind, 2)}`;
}

function batches(row: PublishedRow): unknown {
  const { dataset_size, batch_size, steps, epochs, partial_epoch_steps: partial } = row;
  const schedule = `${count(steps, "step")} × ${count(epochs, "epoch")}`;
  const all = partial === 0 ? schedule : `${schedule} + ${count(partial, "step")}`;
  if (dataset_size === null || batch_size === null) return all;
  return html`${grouped(batch_size)} of ${grouped(dataset_size)}<span class="remark">${all}</span>`;
}

function remarks({ remark, unverified }: PublishedRow): string[] {
  const elsewhere = unverified.map((field) => `${field.replaceAll("_", " ")} is not in the source`);
  return [...(remark === null ? [] : [remark]), ...elsewhere].map(capitalised);
}
