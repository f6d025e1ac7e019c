/** A file that was added. */
export interface DroppedFile<R extends string> {
  name: string;
  role: R | undefined;
  bytes: Uint8Array;
  /** Why it is not read. */
  refused?: string;
}

const MOST_BYTES = 64 * 2 ** 20;
const MOST_FILES = 100;

/** The reader's files, each with what it contains. */
export class DroppedFiles<R extends string> {
  readonly list: DroppedFile<R>[] = [];
  readonly #roleOf: (name: string) => R | undefined;
  readonly #isRepeated: (role: R) => boolean;

  /** A file replaces that of its name; if there is none, that of its role unless several files may have it. */
  constructor(roleOf: (name: string) => R | undefined, isRepeated: (role: R) => boolean) {
    this.#roleOf = roleOf;
    this.#isRepeated = isRepeated;
  }

  async add(files: Iterable<File>): Promise<void> {
    for (const file of [...files].slice(0, MOST_FILES)) {
      const role = this.#roleOf(file.name);
      const added: DroppedFile<R> = { name: file.name, role, bytes: new Uint8Array() };
      if (role === undefined) added.refused = "Not a file of this audit.";
      else if (file.size > MOST_BYTES) {
        added.refused =
          "This page accepts at most 64 MiB for each file; the program reads larger ones.";
      } else {
        try {
          added.bytes = new Uint8Array(await file.arrayBuffer());
        } catch {
          added.refused = "The browser could not read the file.";
        }
      }
      const isOnly = role !== undefined && !this.#isRepeated(role);
      const named = this.list.findIndex((other) => other.name === file.name);
      const place =
        named < 0 && isOnly ? this.list.findIndex((other) => other.role === role) : named;
      const before = this.list[place];
      // what the reader chose for a file is true of its next version
      if (before?.name === file.name) added.role = before.role;
      if (before === undefined) this.list.push(added);
      else this.list[place] = added;
    }
  }

  remove(file: DroppedFile<R>): void {
    this.list.splice(this.list.indexOf(file), 1);
  }

  /** Those that are read, in the order of the numbers in their names. */
  get usable(): (DroppedFile<R> & { role: R })[] {
    const isUsable = (file: DroppedFile<R>): file is DroppedFile<R> & { role: R } =>
      file.role !== undefined && file.refused === undefined;
    return this.list.filter(isUsable).sort(byName);
  }

  /** The names of the files in a role, as they are audited. */
  namesOf(role: R): string[] {
    return this.usable.filter((file) => file.role === role).map((file) => file.name);
  }

  /** Whether the page leaves a file of the audit to the program. */
  get hasRefused(): boolean {
    return this.list.some((file) => file.role !== undefined && file.refused !== undefined);
  }
}

/** Files of several runs in the order of their numbers. */
export function byName(one: { name: string }, other: { name: string }): number {
  return one.name.localeCompare(other.name, "en", { numeric: true });
}
