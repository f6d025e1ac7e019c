/** Options of the program in the state: what a reader gives to an audit of recorded data. */

import { parse, type TextField } from "../../../fields/field";

/** Commands below `dpscope audit` that audit what the reader has recorded. */
export const COMMANDS = [
  "scores",
  "outputs",
  "counts",
  "split",
  "one-run",
  "secrets",
  "guesses",
  "federated",
] as const;
export type Command = (typeof COMMANDS)[number];

/** Texts of options, by command and name, such as `one-run.guesses`; as typed, for the program to read. */
export type Given = Readonly<Record<string, string>>;

/** Options that a link may give. */
export const MOST_GIVEN = 40;
/** The text of an option. */
export const OPTION = { kind: "text", label: "Option", most: 100 } as const satisfies TextField;

const NAME = new RegExp(`^(${COMMANDS.join("|")})\\.[a-z_]{1,40}$`);

/** Whether a name in a link is that of an option. The table of options, which knows the names of each
 * command, is loaded with the views that show them. */
export function isOption(name: string): boolean {
  return NAME.test(name);
}

/** The options with another text for one of them; without text it is no longer given. */
export function giving(given: Given, name: string, text: string): Given {
  const { [name]: _, ...others } = given;
  const typed = text.replace(/\p{C}/gu, "").trim().slice(0, OPTION.most);
  return parse(OPTION, typed) === undefined ? others : { ...others, [name]: typed };
}
