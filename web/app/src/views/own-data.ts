import { html, nothing, type TemplateResult } from "lit/html.js";
import type { App } from "../app";
import { rolesOf } from "../questions/roles";
import { questionOf } from "../questions/table";
import { FIELDS } from "../state/fields";
import { COMMANDS, type Command } from "../state/given";
import { question, sessionOf } from "./question/question";

/** Audits of what the reader has recorded. */
export function ownData(app: App): TemplateResult {
  const { question: command } = app.state;
  return html`<div class="lead">
      <h1>Audit my own data</h1>
      <p>
        These audits read files or counts from your own training runs. The files stay in this browser,
        where the program reads them.
      </p>
    </div>
    <fieldset class="recorded">
      <legend>${FIELDS.question.label}</legend>
      ${COMMANDS.map(
        (option) => html`<label>
          <input
            type="radio"
            name="question"
            .checked=${option === command}
            @change=${() => app.change({ question: option })}
          />
          ${subjectOf(option)}
        </label>`,
      )}
    </fieldset>
    ${command === "scores" ? sample(app) : nothing} ${question(app, command)}`;
}

/** What an audit reads, from its description: “Bound epsilon from scores of any attack”. */
function subjectOf(command: Command): string {
  const subject = questionOf(command).about.replace(/^Bound epsilon from /, "");
  return subject.charAt(0).toUpperCase() + subject.slice(1);
}

function sample(app: App): TemplateResult {
  return html`<p class="sample">
    <button type="button" class="quiet" @click=${() => void addSample(app)}>
      Try sample scores
    </button>
    <span class="hint">2,500 runs of each world: one Gaussian step with noise multiplier 0.5.</span>
  </p>`;
}

/** Scores that come with the page, of both worlds in one file. */
async function addSample(app: App): Promise<void> {
  const name = "sample-scores.npz";
  const address = new URL("../questions/sample-scores.npz", import.meta.url);
  const file = await fetch(address).then(
    async (response) => new File(response.ok ? [await response.blob()] : [], name),
    () => new File([], name),
  );
  const [both] = rolesOf("scores").at(-1) ?? [""];
  await sessionOf(app, "scores").take(file, both);
}
