import { codecOf, FIELD_NAMES, type Field, initialState, type State } from "./fields";

/** Version of the links: a change of a field's name, meaning or default is a new one. */
export const LINK_VERSION = "1";
const LONGEST_LINK = 4096;

export interface Parsed {
  state: State;
  /** What in the link was not understood, for people. */
  messages: string[];
}

/** The state that a link holds; what it does not hold, or holds wrongly, has its default. */
export function parseHash(hash: string): Parsed {
  const state = initialState();
  const text = hash.startsWith("#") ? hash.slice(1) : hash;
  if (text === "") return { state, messages: [] };
  if (text.length > LONGEST_LINK) {
    return {
      state,
      messages: ["The link is too long to be one of this page. Defaults are shown."],
    };
  }
  const pairs = new URLSearchParams(text);
  const version = pairs.get("v");
  if (version !== LINK_VERSION) {
    const which = version === null ? "names no version" : `is of version ${quoted(version)}`;
    return {
      state,
      messages: [`The link ${which}; this page reads version ${LINK_VERSION}. Defaults are shown.`],
    };
  }
  const messages: string[] = [];
  for (const [name, value] of pairs) {
    if (name === "v") continue;
    const problem = set(state, name, value);
    if (problem !== undefined && messages.length < 3) messages.push(problem);
  }
  return { state, messages };
}

/** The link of a state: fields at their default are left out, which the version pins. */
export function formatHash(state: State): string {
  const pairs = new URLSearchParams({ v: LINK_VERSION });
  for (const name of FIELD_NAMES) {
    const codec = codecOf(name);
    const text = codec.format(state[name]);
    if (state[name] !== undefined && text !== codec.format(codec.initial)) pairs.set(name, text);
  }
  return `#${pairs.toString()}`;
}

function set(state: State, name: string, text: string): string | undefined {
  if (!isField(name)) return `The link has an unknown field ${quoted(name)}; it is left out.`;
  const codec = codecOf(name);
  const value = codec.parse(text);
  if (value === undefined) {
    return `The link gives ${name} = ${quoted(text)}; it must be ${codec.allowed}. The default is shown.`;
  }
  Object.assign(state, { [name]: value });
  return undefined;
}

function isField(name: string): name is Field {
  return (FIELD_NAMES as string[]).includes(name);
}

function quoted(text: string): string {
  const visible = text.replace(/[^\x20-\x7e]/g, "?");
  return `“${visible.length > 40 ? `${visible.slice(0, 40)}…` : visible}”`;
}
