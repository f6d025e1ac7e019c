/** Which option a file is for. */

import type { Command } from "../state/given";
import { labelOf, optionOf, planOf, questionOf, takesFiles } from "./table";

const PLAN = "plan.json";
/** In the folder of a plan, and the usual name of the option's file. */
const COINS = "coins.npy";
/** Files in the folder of a committed plan. */
const OF_PLAN = [PLAN, "seed.secret", "commitment.txt", "nonce.txt", "audited.txt"];

/** The role of a file of which only its reader knows what it contains. */
export const UNKNOWN = "";

/** The option whose name begins that of the file; several options joined by a plus share a file. */
export function roleOf(command: Command, file: string): string {
  const name = file.toLowerCase();
  const plan = planOf(command);
  if (plan !== undefined && OF_PLAN.includes(name)) return plan.name;
  const stem = name.replace(/[- .]/g, "_");
  const fitting = questionOf(command).options.filter(
    (option) => takesFiles(option) && option !== plan && stem.startsWith(option.name),
  );
  const [longest] = fitting.sort((one, other) => other.name.length - one.name.length);
  return longest?.name ?? UNKNOWN;
}

/** Whether a role may have several files. */
export function isRepeated(command: Command, role: string): boolean {
  const isList = optionOf(command, role)?.is_list === true;
  return role === UNKNOWN || role === planOf(command)?.name || isList;
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
  const hasPlan = all.some(({ name, role }) => role === plan && name.toLowerCase() === PLAN);
  const name = file.name.toLowerCase();
  if (file.role === plan || (hasPlan && name === COINS)) return `${plan}/${name}`;
  return file.name.startsWith("-") ? `./${file.name}` : file.name;
}

/** Paths of files by option, in their order. */
export function pathsOf(command: Command, files: readonly RoleFile[]): Map<string, string[]> {
  const paths = new Map<string, string[]>();
  const plan = planOf(command)?.name ?? UNKNOWN;
  for (const file of files) {
    const path = pathOf(command, file, files);
    const isOfPlan = path.startsWith(`${plan}/`);
    for (const role of isOfPlan ? [plan] : file.role.split("+")) {
      if (role === UNKNOWN) continue;
      paths.set(role, isOfPlan ? [plan] : [...(paths.get(role) ?? []), path]);
    }
  }
  return paths;
}
