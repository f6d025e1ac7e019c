import "../../styles/question.css";
import { html, nothing, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";
import { optionList } from "../../components/choose";
import { copyLine } from "../../components/copies";
import { fileDrop } from "../../components/file-drop";
import { downloadButton, recordedReport } from "../../components/recorded-report";
import type { DroppedFile } from "../../files/dropped";
import { lineOf } from "../../options/command";
import { AUDITED, PLAN_FILES, rolesOf, UNKNOWN, UNUSED } from "../../questions/roles";
import { QuestionSession } from "../../questions/session";
import { hintOf, named, planOf, questionOf, takesFiles } from "../../questions/table";
import { unknownOf } from "../../questions/words";
import type { Command } from "../../state/given";
import { unknown } from "../../state/hash";
import { filesWorker } from "../../workers/spawn";
import { fields } from "./fields";

const sessions = new Map<Command, QuestionSession>();

/** The session of a command, which keeps its files while other views are shown. */
export function sessionOf(app: App, command: Command): QuestionSession {
  const session =
    sessions.get(command) ?? new QuestionSession(command, filesWorker, () => app.redraw());
  sessions.set(command, session);
  return session;
}

/** A question to the program about recorded data: files and options, the command, and its answer. */
export function question(app: App, command: Command): TemplateResult {
  const session = sessionOf(app, command);
  session.show(app.state);
  const ignored = unknownOf(command, app.state.given);
  return html`${
    ignored.length === 0
      ? nothing
      : html`<div role="alert">
          <ul class="notices ignored">
            ${ignored.map((name) => html`<li>${unknown(name)}</li>`)}
          </ul>
        </div>`
  }
    ${rolesOf(command).length === 0 ? nothing : drop(session)}
    <div class="split spaced">
      ${fields(app, session)}
      <section
        class="panel answer"
        aria-labelledby="${command}-answer"
        aria-busy=${String(session.isBusy)}
      >
        ${answer(app, session)}
      </section>
    </div>`;
}

function drop(session: QuestionSession): TemplateResult {
  const { command, files } = session;
  const read = questionOf(command).options.filter(takesFiles);
  const plan = planOf(command);
  return html`${fileDrop({
    id: `${command}-files`,
    label: "Files of the audit",
    hint: "Choose or drop one or more files, each of at most 64 MiB. Files are recognised by words in their names; you can select what any other one contains.",
    files: files.list,
    add: (added) => void session.add(added),
    remove: (file) => session.remove(file),
    about: (file) => roleSelect(session, file),
  })}
    <details class="more readable">
      <summary>Files that this audit reads</summary>
      <dl>
        ${read.map(
          (option) =>
            html`<div>
              <dt>
                <code>${option === plan ? PLAN_FILES.join(", ") : `*${option.name}*`}</code>
              </dt>
              <dd>${hintOf(command, option)}.</dd>
            </div>`,
        )}
      </dl>
    </details>`;
}

/** What a file contains. */
function roleSelect(session: QuestionSession, file: DroppedFile<string>): TemplateResult {
  const roles = [
    [UNKNOWN, "Select what it contains"] as const,
    ...rolesOf(session.command),
    [UNUSED, "Not used"] as const,
  ];
  return html`<select
    class="role"
    aria-label="What ${file.name} contains"
    @change=${(event: Event) => session.assign(file, (event.target as HTMLSelectElement).value)}
  >
    ${optionList(roles, file.role ?? UNKNOWN, (role) => role !== UNKNOWN)}
  </select>`;
}

function answer(app: App, session: QuestionSession): unknown {
  const { command, failure, found, isBusy, isCancelled, isIncomplete } = session;
  const id = `${command}-answer`;
  const { words } = session.asking;
  const line = lineOf(words);
  if (found !== undefined) {
    const notes = found.notes.map((note) => named(command, note));
    return html`${recordedReport(app, id, { ...found, notes }, line, command)}
    ${recordOf(session)}`;
  }
  const [title, about] =
    failure !== undefined
      ? isIncomplete
        ? ["Not complete yet", html`<p class="small">${failure}</p>`]
        : ["This cannot be audited", html`<p class="failure" role="alert">${failure}</p>`]
      : session.hasRefused
        ? ["Left to the program", html`<p class="small">The program audits files of any size:</p>`]
        : [
            isCancelled ? "Cancelled" : isBusy ? "Auditing …" : session.waitsFor,
            html`<p class="small">
              A lower bound on ε, with findings and a verdict on your claim.
            </p>`,
          ];
  return html`<h2 id=${id}>${title}</h2>
    ${about} ${isBusy || isCancelled ? startOrStop(session) : nothing}
    ${words.length <= 2 ? nothing : html`<div class="reproduce">${copyLine(app, line)}</div>`}`;
}

/** What the program would have written to the folder of the plan. */
function recordOf({ recorded }: QuestionSession): unknown {
  return recorded === undefined
    ? nothing
    : html`<div class="reproduce">
        <p class="small">
          This page cannot write to the folder of the plan. Save ${AUDITED} there, and add it with the
          plan next time.
        </p>
        ${downloadButton(`Download ${AUDITED}`, AUDITED, () => recorded)}
      </div>`;
}

function startOrStop(session: QuestionSession): TemplateResult {
  const { isBusy } = session;
  return html`<button
    type="button"
    class="quiet"
    @click=${() => (isBusy ? session.cancel() : session.audit())}
  >
    ${isBusy ? "Cancel" : "Audit again"}
  </button>`;
}
