import { html, nothing, type TemplateResult } from "lit/html.js";
import { keypadOf, type NumberField, typedText } from "../../../../fields/field";
import type { App } from "../../app";
import { optionList } from "../../components/choose";
import { type Choice, labelOf } from "../../options/table";
import type { QuestionSession } from "../../questions/session";
import { defaultOf, hintOf, type Option, questionOf } from "../../questions/table";
import { textOf } from "../../questions/words";
import { giving, OPTION } from "../../state/given";

/** Shown first, beside what is required. */
const USUAL: readonly string[] = ["claim", "delta", "significance"];
/** The longest default that an empty input shows. */
const MOST_PLACEHOLDER = 12;

/** The form of a question: a field for each option that is not a file. */
export function fields(app: App, session: QuestionSession): TemplateResult {
  const { command } = session;
  const options = questionOf(command).options.filter(({ kind }) => kind !== "path");
  const isUsual = ({ name, is_required }: Option) => is_required === true || USUAL.includes(name);
  const usual = options.filter(isUsual);
  // what is required comes before the claim, and that before its δ
  const first = [
    ...usual.filter(({ is_required }) => is_required === true),
    ...USUAL.flatMap((name) => usual.filter((option) => option.name === name)),
  ];
  const others = options.filter((option) => !isUsual(option));
  const { given } = app.state;
  session.open(others.filter((option) => textOf(command, option, given) !== undefined));
  const field = (option: Option) => fieldOf(app, session, option);
  return html`<form class="fields" aria-label="Options of the audit">
    ${first.map(field)}
    <details
      class="more"
      ?open=${session.isOpen}
      @toggle=${(event: Event) => {
        session.isOpen = (event.target as HTMLDetailsElement).open;
      }}
    >
      <summary>More options</summary>
      <div class="fields">${others.map(field)}</div>
    </details>
  </form>`;
}

/** What every kind of field needs to draw an option. */
interface Field {
  id: string;
  label: string;
  /** Empty where nothing is given. */
  text: string;
  /** The text of an empty field, where the program has one. */
  usual: string | undefined;
  isDisabled: boolean;
  set(text: string): void;
}

function fieldOf(app: App, session: QuestionSession, option: Option): TemplateResult {
  const { command } = session;
  const { name, kind, choices } = option;
  const { excluded } = session.asking;
  const excluder = excluded.get(name);
  const key = `${command}.${name}`;
  const field: Field = {
    id: `${command}-${name}`,
    label: labelOf(name),
    text: app.state.given[key] ?? "",
    usual: defaultOf(option),
    isDisabled: excluder !== undefined,
    set: (text) => app.change({ given: giving(app.state.given, key, text) }),
  };
  // a closed list cuts off the help of its choice
  const chosen = choices?.find((choice) => choice.name === (field.text || field.usual));
  const hints = [hintOf(command, option), chosen?.help ?? ""];
  if (isLong(field.usual) && choices === undefined) hints.push(`Default: ${field.usual}`);
  const sentences =
    excluder === undefined
      ? hints.filter((hint) => hint !== "").map((hint) => `${hint}.`)
      : [`Not used with ${labelOf(excluder.name).toLowerCase()}.`];
  const input =
    kind === "flag"
      ? checkbox(field)
      : choices === undefined
        ? textInput(field, option)
        : select(field, choices);
  return html`<div class=${kind === "flag" ? "field flag" : choices ? "choose" : "field"}>
    ${input}
    <p class="hint" id="${field.id}-hint">${withCode(sentences.join(" "))}</p>
  </div>`;
}

function isLong(usual: string | undefined): boolean {
  return usual !== undefined && usual.length > MOST_PLACEHOLDER;
}

/** How numbers are typed on this page; the program knows their domains. */
function numberField({ name, kind, is_list }: Option): NumberField | undefined {
  if ((kind !== "integer" && kind !== "number") || is_list === true) return undefined;
  const [least, most] = kind === "integer" ? [0, 1] : [-Infinity, Infinity];
  return { kind: "number", label: labelOf(name), least, most, whole: kind === "integer" };
}

function textInput(field: Field, option: Option): TemplateResult {
  const { id, label, text, usual, isDisabled, set } = field;
  const { kind } = option;
  const number = numberField(option);
  return html`<label for=${id}>${label}</label>
    <input
      id=${id}
      class=${kind === "text" ? "number words" : "number"}
      type="text"
      inputmode=${number === undefined ? "text" : keypadOf(number)}
      maxlength=${OPTION.most}
      autocomplete="off"
      spellcheck="false"
      placeholder=${usual === undefined || isLong(usual) ? nothing : usual}
      aria-describedby="${id}-hint"
      ?disabled=${isDisabled}
      .value=${text}
      @change=${(event: Event) => {
        const typed = (event.target as HTMLInputElement).value;
        set(number === undefined ? typed : typedText(number, typed));
      }}
    />`;
}

function checkbox({ id, label, text, isDisabled, set }: Field): TemplateResult {
  return html`<input
      id=${id}
      type="checkbox"
      aria-describedby="${id}-hint"
      ?disabled=${isDisabled}
      .checked=${text === "true"}
      @change=${(event: Event) => set((event.target as HTMLInputElement).checked ? "true" : "")}
    />
    <label for=${id}>${label}</label>`;
}

/** A list to choose from; a text of a link that is no choice stays, for the program to refuse. */
function select(field: Field, choices: readonly Choice[]): TemplateResult {
  const { id, label, text, usual, isDisabled, set } = field;
  const names = choices.map(({ name }) => name);
  const known = names.includes(usual ?? "") ? names : ["", ...names];
  const shown = text === "" || names.includes(text) ? known : [...known, text];
  const value = text || (names.includes(usual ?? "") ? (usual ?? "") : "");
  const labelled = shown.map((name) => {
    return [name, name === "" ? (usual ?? "Unspecified") : choiceInWords(name, choices)] as const;
  });
  return html`<label for=${id}>${label}</label>
    <select
      id=${id}
      aria-describedby="${id}-hint"
      ?disabled=${isDisabled}
      @change=${(event: Event) => {
        const { value } = event.target as HTMLSelectElement;
        set(value === usual ? "" : value);
      }}
    >
      ${optionList(labelled, value)}
    </select>`;
}

function choiceInWords(name: string, choices: readonly Choice[]): string {
  const help = choices.find((choice) => choice.name === name)?.help ?? "";
  return help === "" ? labelOf(name) : `${labelOf(name)} – ${help}`;
}

/** Text of the program, in which backticks mark code. */
function withCode(text: string): unknown {
  return text.split("`").map((part, at) => (at % 2 === 0 ? part : html`<code>${part}</code>`));
}
