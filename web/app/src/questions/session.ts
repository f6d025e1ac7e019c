import type { Asked } from "@dpscope/wasm/files";
import type { WorkerLike } from "../../../protocol/protocol";
import type { DroppedFile } from "../files/dropped";
import { byName } from "../files/dropped";
import { DroppedFilesSession } from "../files/session";
import type { State } from "../state/fields";
import type { Command } from "../state/given";
import type { FilesApi } from "../workers/files.worker";
import { Lane } from "../workers/lane";
import { isRepeated, pathOf, pathsOf, roleOf, UNKNOWN } from "./roles";
import { named } from "./table";
import { type Asking, stillNeeded, wordsOf } from "./words";

const LONGEST_MS = 120_000;

/** A question to the program about the reader's files: the words of its command, run in a worker. */
export class QuestionSession extends DroppedFilesSession<string, Asked> {
  readonly command: Command;
  /** Whether the less usual options are shown; undefined until they first are. */
  isOpen: boolean | undefined;
  readonly #lane: Lane<FilesApi>;

  constructor(command: Command, spawn: () => WorkerLike, changed: () => void) {
    super(
      (name) => roleOf(command, name),
      changed,
      (role) => isRepeated(command, role),
    );
    this.command = command;
    this.#lane = new Lane(spawn, 0, LONGEST_MS);
  }

  /** The command, with files that are too large for the page but not for the program. */
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

  /** Says which option a file is for. */
  assign(file: DroppedFile<string>, role: string): void {
    file.role = role;
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
    const isReady = this.waitsFor === undefined && !this.files.hasRefused;
    if (this.begin(isReady) === undefined) return;
    const { command } = this;
    const { words } = this.asking;
    const files = this.files.usable;
    this.#lane.run(async (ask) => {
      const outcome = await ask(
        "ask",
        words,
        files.map((file) => pathOf(command, file, files)),
        files.map((file) => file.bytes),
      );
      if ("value" in outcome) this.found = outcome.value;
      this.end("failure" in outcome ? named(command, outcome.failure.message) : undefined);
    });
  }

  protected settingsOf({ given }: State): unknown {
    return Object.entries(given).filter(([name]) => name.startsWith(`${this.command}.`));
  }

  protected stop(): void {
    this.#lane.stop();
  }

  get #paths(): Map<string, string[]> {
    const files = this.files.list.flatMap(({ name, role }) =>
      role === undefined ? [] : [{ name, role }],
    );
    return pathsOf(this.command, files.sort(byName));
  }
}
