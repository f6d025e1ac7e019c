import type { GeneratorAnswer } from "@dpscope/wasm/synth";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { numberText } from "../../../../fields/field";
import { confidence, grouped, rounded } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { scientificDelta } from "../../components/badge";
import { copies, copyLine } from "../../components/copies";
import { dropArea } from "../../components/file-drop";
import { verdictWord } from "../../components/verdict";
import { bibtex } from "../../copies/bibtex";
import { linkOf } from "../../copies/link";
import { capitalised } from "../../numbers/accounted";
import { count } from "../../numbers/counts";
import type { WorldsSession } from "../../synthetic/worlds-session";
import { epsilonScale } from "./scale";
import { scoreChart } from "./scores";

/** Where the files of both worlds, and their manifest, are dropped. */
export function worldDrops(session: WorldsSession): TemplateResult {
  const { files } = session;
  const runs = (own: readonly File[]) =>
    own.length === 0 ? "" : own.length === 1 ? (own[0]?.name ?? "") : describe(own);
  return html`<div class="drops">
      ${drop("syn-with", "Runs with the target row", "with/0000.csv, 0001.csv and so on, with files that end in .failed or .retried, or one table of features: all at once.", runs(files.runs.with), (added) => session.change((all) => all.set("with", added)))}
      ${drop("syn-without", "Runs without it", "without/0000.csv and so on, or one table of features with the same columns.", runs(files.runs.without), (added) => session.change((all) => all.set("without", added)))}
      ${drop("syn-manifest", "Manifest, for released rows", "manifest.toml of dpscope plan generator: columns with public bounds, the target, the number of runs; with seed-check.txt, if dpscope generator run wrote it.", [files.manifest, files.seedCheck].flatMap((file) => file?.name ?? []).join(", "), (added) => session.change((all) => all.setManifest(added)))}
    </div>
    <p class="hint">
      This page does not read the folder data: whether the data of both worlds differ by the target row
      alone is checked by dpscope audit generator.
    </p>
    ${
      files.isEmpty
        ? nothing
        : html`<button
            type="button"
            class="quiet"
            @click=${() => session.change((all) => all.clear())}
          >
            Remove all files
          </button>`
    }
    ${files.refused === undefined ? nothing : html`<p class="refused" role="alert">${files.refused}</p>`}`;
}

function describe(files: readonly File[]): string {
  return `${grouped(files.length)} files, ${files[0]?.name} to ${files.at(-1)?.name}`;
}

function drop(
  id: string,
  label: string,
  hint: string,
  chosen: string,
  add: (files: Iterable<File>) => void,
): TemplateResult {
  const name = html`<p class="file-name" aria-live="polite">${chosen}</p>`;
  return dropArea({ id, label, hint, add }, name);
}

/** The report of the runs, or what is missing for it. */
export function worldsOutcome(app: App, session: WorldsSession, command: string): unknown {
  const { failure, found, isBusy, isCancelled, files, done, total } = session;
  if (failure !== undefined) {
    return html`<h2 id="syn-found-head">These files cannot be audited</h2>
      <p class="failure" role="alert">${failure}</p>`;
  }
  if (found !== undefined) {
    return report(app, found, files.isFeatures ? undefined : command);
  }
  const title = isCancelled ? "Cancelled" : isBusy ? "Auditing …" : files.waitsFor;
  const button = (words: string, act: () => void) =>
    html`<button type="button" class="quiet" @click=${act}>${words}</button>`;
  return html`<h2 id="syn-found-head">${title}</h2>
    <p class="small">A lower bound on ε, with findings and a verdict on the claim.</p>
    ${
      isBusy
        ? html`<div class="bar-row">
            <progress max=${total} value=${done} aria-label="Files read"></progress>
            ${button("Cancel", () => session.cancel())}
          </div>`
        : nothing
    }
    ${isCancelled ? button("Audit again", () => session.audit()) : nothing}`;
}

function report(app: App, answer: GeneratorAnswer, command: string | undefined): unknown {
  const { report, scores, text } = answer;
  const { attack, verdict, claimed_epsilon } = report;
  if (attack === undefined || attack === null) return nothing;
  const json = () => JSON.stringify(report, null, 2);
  const width = app.layout.split;
  return html`<h2 id="syn-found-head" class="hidden">Result</h2>
    <div class="outcome">
      <div>
        <p class="big audit">
          <span class="sign">ε ≥</span> ${rounded(attack.epsilon, "lower", 2)}
        </p>
        <p class="under">
          at δ = ${scientificDelta(report.delta)}, with ${confidence(report.significance)}
          confidence, by ${count(report.runs, "run")} of each world
        </p>
      </div>
      <div class="verdict">
        ${
          verdict === undefined || claimed_epsilon === undefined
            ? nothing
            : html`<p>
                Claim ε = ${numberText(claimed_epsilon)}:
                ${verdictWord(verdict)}
              </p>`
        }
        <p class="small">${capitalised(report.says)}.</p>
        ${report.findings.map((finding) => html`<p class="note">${capitalised(finding.says)}. ${capitalised(finding.remedy)}.</p>`)}
      </div>
    </div>
    ${epsilonScale(width, {
      epsilon: attack.epsilon,
      ceiling: attack.ceiling,
      ...(claimed_epsilon === undefined ? {} : { claimed_epsilon }),
    })}
    ${scoreChart("own-scores", width, scores, attack)}
    <details class="data">
      <summary>The whole report</summary>
      <pre class="report" tabindex="0">${text}</pre>
    </details>
    <div class="reproduce">
      ${command === undefined ? nothing : copyLine(app, command)}
      <a
        class="quiet download"
        download="generator.json"
        href=${`data:application/json;charset=utf-8,${encodeURIComponent(json())}`}
        >Download JSON</a
      >
      ${copies(app, "copy-generator", [
        { name: "number", text: () => rounded(attack.epsilon, "lower", 4) },
        { name: "JSON", text: json },
        { name: "report", text: () => text },
        { name: "link", text: () => linkOf(app) },
        { name: "BibTeX", text: () => bibtex(app.version, linkOf(app)) },
      ])}
    </div>`;
}
