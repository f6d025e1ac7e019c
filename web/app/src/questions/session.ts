import type { Asked } from "@dpscope/wasm/files";
import type { WorkerLike } from "../../../protocol/protocol";
import type { DroppedFile } from "../files/dropped";
import { byName } from "../files/dropped";
import { DroppedFilesSession } from "../files/session";
import type { State } from "../state/fields";
import type { Command } from "../state/given";
import type { FilesApi } from "../workers/files.worker";
import { Lane } from "../workers/lane";
import {
  AUDITED,
  areRivals,
  isOfPlan,
  isPlan,
  isRepeated,
  pathOf,
  pathsOf,
  roleOf,
  UNKNOWN,
  UNUSED,
} from "./roles";
import { named, type Option, planOf } from "./table";
import { type Asking, stillNeeded, wordsOf } from "./words";

const LONGEST_MS = 120_000;

/** A question to the program about the reader's files: the words of its command, run in a worker. */
export class QuestionSession extends DroppedFilesSession<string, Asked> {
  readonly command: Command;
  /** Whether the less usual options are shown. */
  isOpen = false;
  /** Whether the failure is of a form that may be half filled in: no answer was found yet. */
  isIncomplete = false;
  readonly #lane: Lane<FilesApi>;
  #hasAnswered = false;
  /** Less usual options that were given when they were last shown. */
  #given: ReadonlySet<string> = new Set();
  /** Names of files of which the reader said what they contain. */
  readonly #selected = new Set<string>();
  /** What the program wrote to the folder of each plan, by the text of the plan. */
  readonly #records = new Map<string, string>();

  constructor(command: Command, spawn: () => WorkerLike, changed: () => void) {
    super(
      (name) => roleOf(command, name),
      changed,
      (role) => isRepeated(command, role),
    );
    this.command = command;
    this.#lane = new Lane(spawn, 0, LONGEST_MS);
  }

  /** The command on all files, including those that are too large for the page. */
  get asking(): Asking {
    return wordsOf(this.command, this.state?.given ?? {}, this.#paths);
  }

  /** What is missing before the program is asked. */
  get waitsFor(): string | undefined {
    const unknown = this.files.usable.find(({ role }) => role === UNKNOWN);
    return unknown === undefined
      ? stillNeeded(this.command, this.state?.given ?? {}, this.#paths)
      : `Now select what ${unknown.name} contains`;
  }

  /** Whether the page leaves a file of the audit to the program. */
  get hasRefused(): boolean {
    return this.files.list.some(({ role, refused }) => role !== UNUSED && refused !== undefined);
  }

  /** The content of audited.txt that the reader has yet to save with the plan. */
  get recorded(): string | undefined {
    const record = this.#record;
    return record === textOf(this.#ownRecord) ? undefined : record;
  }

  /** Shows the less usual options if one of these has come with a link. */
  open(given: readonly Option[]): void {
    if (given.some(({ name }) => !this.#given.has(name))) this.isOpen = true;
    this.#given = new Set(given.map(({ name }) => name));
  }

  override async add(files: Iterable<File>): Promise<void> {
    await this.files.add(files);
    const { command } = this;
    const hasPlan = this.files.list.some((file) => isPlan(command, file));
    for (const file of this.files.list) {
      const isUnused = hasPlan && roleOf(command, file.name, hasPlan) === UNUSED;
      if (isUnused && !this.#selected.has(file.name)) file.role = UNUSED;
    }
    this.audit();
  }

  override remove(file: DroppedFile<string>): void {
    this.#selected.delete(file.name);
    super.remove(file);
  }

  /** Says which option a file is for; another file of an option that reads one is unknown again. */
  assign(file: DroppedFile<string>, role: string): void {
    for (const other of this.files.list) {
      if (other !== file && areRivals(this.command, role, other.role ?? UNKNOWN)) {
        other.role = UNKNOWN;
      }
    }
    file.role = role;
    this.#selected.add(file.name);
    this.audit();
  }

  /** Replaces all files by one, which is for this option. */
  async take(file: File, role: string): Promise<void> {
    this.files.list.splice(0);
    await this.files.add([file]);
    for (const added of this.files.list) added.role = role;
    this.audit();
  }

  audit(): void {
    const isReady = this.waitsFor === undefined && !this.hasRefused;
    this.isIncomplete = false;
    if (this.begin(isReady) === undefined) return;
    const { command } = this;
    const { words } = this.asking;
    const plan = this.#plan;
    const earlier = this.#record;
    const files = this.#sent;
    this.#lane.run(async (ask) => {
      const outcome = await ask("ask", {
        words,
        names: files.map((file) => pathOf(command, file, files)),
        contents: files.map((file) => file.bytes),
      });
      if ("failure" in outcome) {
        const { kind, message } = outcome.failure;
        this.isIncomplete = kind === "input" && !this.#hasAnswered;
        this.end(named(command, message));
        return;
      }
      this.found = outcome.value;
      this.#hasAnswered = true;
      const record = outcome.value.audited ?? earlier;
      if (plan !== "" && record !== undefined) this.#records.set(plan, record);
      this.end();
    });
  }

  protected settingsOf({ given }: State): unknown {
    return Object.entries(given).filter(([name]) => name.startsWith(`${this.command}.`));
  }

  protected stop(): void {
    this.#lane.stop();
  }

  /** Files that are read, with the record of earlier audits of the plan. */
  get #sent() {
    const { recorded } = this;
    const own = this.#ownRecord;
    const files = this.files.usable.filter(({ role }) => role !== UNUSED);
    const role = planOf(this.command)?.name;
    if (recorded === undefined || role === undefined) return files;
    const bytes = new TextEncoder().encode(recorded);
    return [...files.filter((file) => file !== own), { name: AUDITED, role, bytes }];
  }

  /** The text of the committed plan; empty without one. */
  get #plan(): string {
    const plan = this.files.usable.find((file) => isPlan(this.command, file));
    return textOf(plan) ?? "";
  }

  /** The reader's audited.txt. */
  get #ownRecord(): DroppedFile<string> | undefined {
    return this.files.usable.find(
      ({ name, role }) => isOfPlan(this.command, role) && name.toLowerCase() === AUDITED,
    );
  }

  /** What was audited with the plan: as the reader has it, unless an audit here has added to that. */
  get #record(): string | undefined {
    const own = textOf(this.#ownRecord);
    const kept = this.#records.get(this.#plan);
    return own === undefined || kept?.startsWith(own.trimEnd()) === true ? kept : own;
  }

  get #paths(): Map<string, string[]> {
    const files = this.files.list.flatMap(({ name, role }) =>
      role === undefined ? [] : [{ name, role }],
    );
    return pathsOf(this.command, files.sort(byName));
  }
}

function textOf(file: DroppedFile<string> | undefined): string | undefined {
  return file === undefined ? undefined : new TextDecoder().decode(file.bytes);
}
