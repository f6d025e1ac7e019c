import { type Field as AnyField, domainOf, numberText, parse } from "../../../fields/field";
import { consistent, FIELD_NAMES, type Field, fieldOf, initialState, type State } from "./fields";
import { isOption, MOST_GIVEN, OPTION } from "./given";
import { upgraded } from "./old-links";

/** Version of the links: a change of a field's name, meaning or default is a new one. */
export const LINK_VERSION = "2";
const OLD_VERSION = "1";
const LONGEST_LINK = 8192;
const MOST_MESSAGES = 3;

export interface Parsed {
  state: State;
  /** Why parts of the link were ignored, for display. */
  messages: string[];
}

/** The state of a link; missing and invalid fields have their defaults, and conflicts a message. */
export function parseHash(hash: string): Parsed {
  const state = initialState();
  const text = hash.startsWith("#") ? hash.slice(1) : hash;
  if (text === "") return { state, messages: [] };
  if (text.length > LONGEST_LINK) {
    return {
      state,
      messages: ["The link is too long. Defaults are used."],
    };
  }
  const pairs = new URLSearchParams(text);
  const versions = pairs.getAll("v");
  const [version] = versions;
  const isKnown = version === LINK_VERSION || version === OLD_VERSION;
  if (!isKnown || versions.length > 1) {
    const which =
      versions.length > 1
        ? "names more than one version"
        : version === undefined
          ? "names no version"
          : `is of version ${quoted(version)}`;
    return {
      state,
      messages: [
        `The link ${which}; this page reads versions ${OLD_VERSION} and ${LINK_VERSION}. Defaults are used.`,
      ],
    };
  }
  const messages: string[] = [];
  const report = (problem: string | undefined) => {
    if (problem !== undefined && messages.length < MOST_MESSAGES) messages.push(problem);
  };
  const firsts = new URLSearchParams();
  for (const [name, value] of pairs) {
    if (firsts.has(name)) report(twice(name));
    else firsts.append(name, value);
  }
  const refuse = (name: string, value: string, field: AnyField) =>
    report(outside(name, value, field));
  const read = version === OLD_VERSION ? upgraded(firsts, refuse) : firsts;
  for (const [name, value] of read) if (name !== "v") report(set(state, name, value));
  const allowed = consistent(state);
  if (pairs.has("threat_model") && allowed.threat_model !== state.threat_model)
    messages.push(replaced(state, allowed));
  return { state: allowed, messages };
}

function twice(name: string): string {
  return `The link contains ${quoted(name)} more than once; the first is used.`;
}

function replaced({ sampler, threat_model }: State, allowed: State): string {
  return `The link asks for threat model ${threat_model}, which is not available for ${sampler} batches; ${allowed.threat_model} is used.`;
}

/** The link of a state, without fields at their default, which the version pins. */
export function formatHash(state: State): string {
  const pairs = new URLSearchParams({ v: LINK_VERSION });
  for (const name of FIELD_NAMES) {
    const value = state[name];
    if (value !== undefined && value !== fieldOf(name).initial) pairs.set(name, numberText(value));
  }
  for (const [name, text] of Object.entries(state.given)) pairs.set(name, text);
  return `#${pairs.toString()}`;
}

function set(state: State, name: string, text: string): string | undefined {
  if (isOption(name)) return give(state, name, text);
  if (!isField(name)) return unknown(name);
  const field = fieldOf(name);
  const value = parse(field, text);
  if (value === undefined) return outside(name, text, field);
  Object.assign(state, { [name]: value });
  return undefined;
}

function outside(name: string, text: string, field: AnyField): string {
  return `The link has ${name} = ${quoted(text)}; it must be ${domainOf(field)}. The default is used.`;
}

function give(state: State, name: string, text: string): string | undefined {
  if (Object.keys(state.given).length >= MOST_GIVEN) {
    return `The link gives more than ${MOST_GIVEN} options; ${quoted(name)} is ignored.`;
  }
  if (parse(OPTION, text) === undefined) {
    return `The link has ${name} = ${quoted(text)}; it must be ${domainOf(OPTION)}. It is ignored.`;
  }
  state.given = { ...state.given, [name]: text };
  return undefined;
}

/** What is said of a name in a link that nothing here has. */
export function unknown(name: string): string {
  return `The link has an unknown field ${quoted(name)}; it is ignored.`;
}

function isField(name: string): name is Field {
  return (FIELD_NAMES as string[]).includes(name);
}

function quoted(text: string): string {
  const visible = text.replace(/[^\x20-\x7e]/g, "?");
  return `“${visible.length > 40 ? `${visible.slice(0, 40)}…` : visible}”`;
}
