import type { FileFacts, ScoresOptions, ScoresResult } from "@dpscope/wasm/files";
import type { WorkerLike } from "../../../protocol/protocol";
import { initialState, type State } from "../state/fields";
import { Lane } from "../workers/lane";
import type { ScoresApi } from "../workers/scores.worker";

/** The world of a file's scores. */
export type World = "target" | "zero_out";

export interface ScoreFile {
  name: string;
  bytes: Uint8Array;
  /** Its format and arrays. */
  about?: FileFacts;
  failure?: string;
}

/** Larger files need the command line, which streams them. */
export const MOST_BYTES = 64 * 2 ** 20;
/** The largest file on a slow machine. */
const LONGEST_MS = 120_000;

/** Files of scores, audited in a worker and never sent anywhere. */
export class ScoresSession {
  readonly files: Partial<Record<World, ScoreFile>> = {};
  found: ScoresResult | undefined;
  failure: string | undefined;
  isBusy = false;
  #state: State | undefined;
  #key = "";
  readonly #lane: Lane<ScoresApi>;
  readonly #changed: () => void;

  constructor(spawn: () => WorkerLike, changed: () => void) {
    this.#lane = new Lane(spawn, 0, LONGEST_MS);
    this.#changed = changed;
  }

  async add(world: World, file: File): Promise<void> {
    const added: ScoreFile = { name: file.name, bytes: new Uint8Array() };
    this.files[world] = added;
    this.found = undefined;
    this.failure = undefined;
    if (file.size > MOST_BYTES) {
      added.failure = `The file is ${megabytes(file.size)}; this page accepts at most ${megabytes(MOST_BYTES)}. Use \`dpscope audit scores\` instead.`;
    } else {
      try {
        added.bytes = new Uint8Array(await file.arrayBuffer());
      } catch {
        added.failure = "The browser could not read the file.";
      }
    }
    if (this.files[world] === added) this.#ask();
  }

  /** Scores that come with the page, of both worlds in one file. */
  async addSample(): Promise<void> {
    delete this.files.zero_out;
    const name = "sample-scores.npz";
    const file = await fetch(new URL("./sample-scores.npz", import.meta.url)).then(
      async (response) => new File(response.ok ? [await response.blob()] : [], name),
      () => new File([], name),
    );
    await this.add("target", file);
  }

  remove(world: World): void {
    delete this.files[world];
    this.found = undefined;
    this.failure = undefined;
    this.#ask();
  }

  /** Audits again if the settings have changed. */
  show(state: State): void {
    const key = JSON.stringify(optionsOf(state));
    this.#state = state;
    if (key === this.#key) return;
    this.#key = key;
    this.#ask();
  }

  #ask(): void {
    const { target, zero_out } = this.files;
    const files = [target, zero_out].filter((file) => file !== undefined);
    this.#changed();
    if (files.length === 0 || files.some((file) => file.failure !== undefined)) {
      this.isBusy = false;
      this.#lane.stop();
      return;
    }
    this.isBusy = true;
    this.#lane.run(async (ask) => {
      for (const file of files) {
        const outcome = await ask("describe_file", file.bytes, file.name);
        if ("failure" in outcome) file.failure = outcome.failure.message;
        else file.about = outcome.value;
        this.isBusy = "value" in outcome && target !== undefined && !this.#waitsForSecond();
        this.#changed();
        if (!this.isBusy) return;
      }
      if (target === undefined) return;
      const { bytes, name } = target;
      const options = optionsOf(this.#state);
      const outcome = await ask(
        "audit_scores",
        bytes,
        name,
        zero_out?.bytes,
        zero_out?.name,
        options,
      );
      this.failure = "failure" in outcome ? outcome.failure.message : undefined;
      this.found = "value" in outcome ? outcome.value : undefined;
      this.isBusy = false;
      this.#changed();
    });
  }

  /** A file with one array is of one world. */
  #waitsForSecond(): boolean {
    const { target, zero_out } = this.files;
    return zero_out === undefined && target?.about !== undefined && target.about.arrays.length < 2;
  }
}

function optionsOf(state: State | undefined): ScoresOptions {
  const { delta, significance, scores_rule, scores_higher, scores_claim } = state ?? initialState();
  return {
    delta,
    significance,
    threshold_rule: scores_rule,
    higher_means: scores_higher,
    ...(scores_claim === undefined ? {} : { claim: scores_claim }),
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(bytes < 2 ** 24 ? 1 : 0)} MiB`;
}
