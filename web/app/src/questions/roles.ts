/** Which option a file is for. */

import { fileName } from "../options/command";
import { labelOf } from "../options/table";
import type { Command } from "../state/given";
import { optionOf, planOf, questionOf, takesFiles } from "./table";

const PLAN = "plan.json";
/** The coins: a file of the plan's folder, and the usual name of the file of `--coins`. */
const COINS = "coins.npy";
export const AUDITED = "audited.txt";
/** Files that only the folder of a committed plan has. */
const OF_PLAN = [PLAN, "seed.secret", "commitment.txt", "nonce.txt", AUDITED];
/** Files in the folder of a committed plan, as listed for a reader. */
export const PLAN_FILES = [PLAN, "seed.secret", "commitment.txt", COINS, "nonce.txt", AUDITED];
/** The canaries for people; a program reads those of the plan. */
const SHOWN_CANARIES = "canaries.csv";
const READ = /\.(npy|npz|csv|safetensors|json|secret|txt)$/;

/** The role of a file whose content only the reader knows. */
export const UNKNOWN = "";
/** The role of a file that is not read. */
export const UNUSED = "not-used";

/** The option that the name of a file contains, the last one if there are several; options that are joined
 * by a plus share a file. */
export function roleOf(command: Command, file: string, hasPlan = false): string {
  const name = file.toLowerCase();
  const plan = planOf(command);
  if (plan !== undefined && OF_PLAN.includes(name)) return plan.name;
  if (!READ.test(name) || (hasPlan && name === SHOWN_CANARIES)) return UNUSED;
  const stem = name.replace(READ, "").replace(/[-_ ]/g, "_");
  const fitting = questionOf(command)
    .options.filter((option) => takesFiles(option) && option !== plan)
    .map((option) => ({ name: option.name, end: endOf(option.name, stem) }))
    .filter(({ end }) => end >= 0)
    .sort((one, other) => other.end - one.end || other.name.length - one.name.length);
  return fitting[0]?.name ?? UNKNOWN;
}

/** Where the last occurrence of a name as whole words ends; negative if there is none. */
function endOf(name: string, stem: string): number {
  const found = [...stem.matchAll(new RegExp(`(?<![a-z])${name}(?![a-z])`, "g"))].at(-1);
  return found === undefined ? -1 : found.index + name.length;
}

/** Whether a role may have several files. */
export function isRepeated(command: Command, role: string): boolean {
  const isList = optionOf(command, role)?.is_list === true;
  return [UNKNOWN, UNUSED, planOf(command)?.name].includes(role) || isList;
}

/** Whether files of both roles would be given to one option that takes a single file. */
export function areRivals(command: Command, one: string, other: string): boolean {
  const names = other.split("+");
  return one.split("+").some((name) => names.includes(name) && !isRepeated(command, name));
}

/** Whether a role says that a file belongs to a committed plan. */
export function isOfPlan(command: Command, role: string | undefined): boolean {
  return role !== undefined && role === planOf(command)?.name;
}

/** Whether a file is the one that describes a plan. */
export function isPlan(
  command: Command,
  { name, role }: { name: string; role?: string | undefined },
) {
  return isOfPlan(command, role) && name.toLowerCase() === PLAN;
}

/** What a file can be for, each role with its label. One file may have all that is required. */
export function rolesOf(command: Command): (readonly [role: string, label: string])[] {
  const options = questionOf(command).options.filter(takesFiles);
  const required = options.filter(({ is_required }) => is_required === true);
  const shared = required.length > 1 ? [required] : [];
  return [...options.map((option) => [option]), ...shared].map((group) => {
    const names = group.map(({ name }) => name);
    return [names.join("+"), names.map(labelOf).join(" and ")] as const;
  });
}

interface RoleFile {
  name: string;
  role: string;
}

/** The path of a file in the words of the command; the files of a plan are in its folder. */
export function pathOf(command: Command, file: RoleFile, all: readonly RoleFile[]): string {
  const plan = planOf(command)?.name;
  const hasPlan = all.some((other) => isPlan(command, other));
  const name = file.name.toLowerCase();
  if (file.role === plan || (hasPlan && name === COINS)) return `${plan}/${name}`;
  return fileName(file.name);
}

/** Paths of files by option, in their order. */
export function pathsOf(command: Command, files: readonly RoleFile[]): Map<string, string[]> {
  const paths = new Map<string, string[]>();
  const plan = planOf(command)?.name ?? UNKNOWN;
  for (const file of files) {
    const path = pathOf(command, file, files);
    const isInFolder = path.startsWith(`${plan}/`);
    for (const role of isInFolder ? [plan] : file.role.split("+")) {
      if (role === UNKNOWN || role === UNUSED) continue;
      paths.set(role, isInFolder ? [plan] : [...(paths.get(role) ?? []), path]);
    }
  }
  return paths;
}
