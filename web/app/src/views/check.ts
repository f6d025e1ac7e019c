import type { Accounted } from "@dpscope/wasm/calculators";
import type { CheckedTraining } from "@dpscope/wasm/studies";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { decimalsOf, type Kind, rounded, SIGN } from "../../../numbers/rounded";
import type { App } from "../app";
import { badge, scientificDelta } from "../components/badge";
import { choose } from "../components/choose";
import { copies, copyLine } from "../components/copies";
import { nearby } from "../components/nearby";
import { plain } from "../components/paired";
import { privacyStatement } from "../components/privacy-statement";
import { bibtex } from "../copies/bibtex";
import { checkCommand } from "../copies/command";
import { linkOf, linkToTraining } from "../copies/link";
import { capitalised } from "../numbers/accounted";
import { VERDICT, verdictOf } from "../numbers/verdict";
import type { Field } from "../state/fields";
import { about, type Sampler } from "../state/samplers";
import { CheckSession, type Remedy } from "../theory/check";
import { BUNDLES } from "../workers/spawn";

/** Loaders of libraries by name, loaded on demand. */
let loaders: typeof import("./library-loaders") | undefined;

/** The page, once the session of this view is open. */
type CheckPage = App & { check: CheckSession };

/** The form of `dpscope check`. */
export function check(app: App): TemplateResult {
  if (loaders === undefined) {
    void import("./library-loaders").then((module) => {
      loaders = module;
      app.redraw();
    });
  }
  if (app.check === undefined) {
    app.check = new CheckSession(BUNDLES, () => app.redraw());
    app.check.show(app.state);
  }
  return shown(app as CheckPage);
}

function shown(app: CheckPage): TemplateResult {
  return html`<div class="lead">
      <h1>Does my training satisfy its claim?</h1>
      <p>
        Describe the training as documented. This checks the description, not the model or the code.
      </p>
    </div>
    <div class="split">
      <div>${nearby(html`<strong>${verdictOf(app.check.report)}</strong>`)} ${form(app)}</div>
      <section class="panel" aria-labelledby="check-head" aria-busy=${String(app.check.isStale)}>
        ${found(app)}
      </section>
    </div>`;
}

function form(app: CheckPage): TemplateResult {
  return html`<form class="fields" aria-label="Description of the training">
    <fieldset>
      <legend>The training</legend>
      ${field(app, "check_dataset")} ${field(app, "check_batch")} ${field(app, "check_epochs")}
      ${field(app, "check_noise")}
      ${choose(app, "check_loader", undefined, loaders?.byName(app))} ${loaders?.aboutChosen(app)}
      ${field(app, "check_buffer")} ${field(app, "check_uses")} ${field(app, "check_max_batch")}
      ${choose(app, "check_drop_last")}
    </fieldset>
    <fieldset>
      <legend>The claim</legend>
      ${field(app, "check_claim")} ${field(app, "check_delta")} ${choose(app, "check_adjacency")}
    </fieldset>
    <details class="more">
      <summary>What the accountant was configured with</summary>
      <fieldset>
        ${choose(app, "check_accountant")} ${field(app, "check_rate")} ${field(app, "check_steps")}
      </fieldset>
    </details>
    <details class="more">
      <summary>How the code adds noise</summary>
      <fieldset>
        ${field(app, "check_std")} ${field(app, "check_clip")} ${choose(app, "check_noise_on")}
      </fieldset>
    </details>
  </form>`;
}

function field(app: CheckPage, name: Field): TemplateResult | typeof nothing {
  return plain(app, name, undefined, app.check.fieldFailure(name));
}

function found(app: CheckPage): TemplateResult {
  const { report, failure } = app.check;
  if (failure !== undefined) {
    return html`<h2 id="check-head">This description cannot be checked</h2>
      <p class="failure" role="alert">${failure}</p>`;
  }
  if (report === undefined) return html`<h2 id="check-head" class="empty">Checking …</h2>`;
  const { epsilon, delta, verdict, says, note } = report.claim;
  return html`<div class="head">
      <h2 id="check-head">
        ${
          verdict === undefined
            ? html`ε at δ = ${scientificDelta(delta)}`
            : html`ε = ${epsilon} at δ = ${scientificDelta(delta)}:
                <strong class=${verdict}>${VERDICT[verdict]}</strong>`
        }
      </h2>
      <span class="buttons">
        ${privacyStatement(app)} ${copies(app, "copy-check", [
          { name: "JSON", text: () => JSON.stringify(report, null, 2) },
          { name: "link", text: () => linkOf(app) },
          { name: "BibTeX", text: () => bibtex(app.version, linkOf(app)) },
          { name: "command", text: () => checkCommand(app.state) },
        ])}
      </span>
    </div>
    <p class="small">${says} ${note === undefined ? nothing : `Adjacency: ${note}.`}</p>
    <ul class="findings">
      ${report.findings.map(
        (finding) =>
          html`<li class="is-${finding.severity}">
            <span class="severity">${finding.severity}</span>
            <p>${capitalised(finding.says)}</p>
          </li>`,
      )}
    </ul>
    ${numbers(app, report)} ${next(app, report)}`;
}

function numbers(app: CheckPage, report: CheckedTraining): TemplateResult {
  const rows: [string, string, Accounted | null][] = [
    ["about-loader-lower", "This loader leaks at least", report.lower],
    ["about-loader-upper", "This loader leaks at most", report.upper],
    ["about-loader-poisson", "Poisson accounting claims", report.poisson],
  ];
  const decimals = decimalsOf(
    report.claim.epsilon ?? report.upper?.epsilon ?? 1,
    report.lower?.epsilon,
    3,
  );
  return html`<table class="numbers">
    <caption>
      ε of this training
    </caption>
    <tbody>
      ${
        report.claim.epsilon === undefined
          ? nothing
          : html`<tr>
              <th scope="row">Claimed</th>
              <td class="right">${report.claim.epsilon}</td>
              <td></td>
            </tr>`
      }
      ${rows.map(([id, name, value]) =>
        value === null
          ? nothing
          : html`<tr>
              <th scope="row">${name}</th>
              <td class="right">
                <span class="sign">${SIGN[value.kind as Kind]}</span>
                ${rounded(value.epsilon, value.kind, decimals)}
              </td>
              <td>${badge(app, id, value)}</td>
            </tr>`,
      )}
    </tbody>
  </table>`;
}

function next(app: CheckPage, report: CheckedTraining): TemplateResult | typeof nothing {
  if (report.next.length === 0) return nothing;
  const { remedies } = app.check;
  return html`<h3>Next: the noise under which the claim holds</h3>
    ${report.next.map((command) => {
      const found = remedies.find((remedy) => remedy.command === command);
      return html`<p class="remedy">${found === undefined ? "Computing …" : remedy(app, report, found)}</p>
        ${copyLine(app, command)}`;
    })}`;
}

function remedy(
  app: CheckPage,
  report: CheckedTraining,
  { sampler, noise, reason }: Remedy,
): unknown {
  if (noise === undefined) return reason;
  const shown = rounded(noise, "upper", 2);
  const link = exploreLink(app, report, sampler, Number(shown));
  return html`σ = <strong>${shown}</strong> with ${about(sampler).batches}
    ${link === undefined ? nothing : html`<a href=${link}>Open in Explore</a>`}`;
}

/** The training with this noise in Explore, unless it is outside the domain there. */
function exploreLink(
  app: CheckPage,
  { claim, steps, steps_per_epoch }: CheckedTraining,
  sampler: Sampler,
  noise: number,
): string | undefined {
  const training = {
    noise_multiplier: noise,
    steps: steps_per_epoch,
    epochs: Math.ceil(steps / steps_per_epoch),
    delta: claim.delta,
  };
  return linkToTraining(app.state, training, sampler);
}
