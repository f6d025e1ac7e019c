import type { GeneratorAnswer, GeneratorOptions } from "@dpscope/wasm/synth";
import type { WorkerLike } from "../../../protocol/protocol";
import type { State } from "../state/fields";
import type { GeneratorApi, World } from "../workers/generator.worker";
import { type Ask, Lane } from "../workers/lane";
import { WorldFiles } from "./world-files";

const LONGEST_MS = 120_000;
/** Files that are sent at once. */
const PART = 64;

/** The audit of the reader's runs in two worlds. */
export class WorldsSession {
  readonly files = new WorldFiles();
  found: GeneratorAnswer | undefined;
  failure: string | undefined;
  isBusy = false;
  isCancelled = false;
  /** Files that were read, and all of them. */
  done = 0;
  total = 0;
  #state: State | undefined;
  #key = "";
  readonly #audits: Lane<GeneratorApi>;
  readonly #changed: () => void;

  constructor(spawn: () => WorkerLike, changed: () => void) {
    this.#audits = new Lane(spawn, 0, LONGEST_MS);
    this.#changed = changed;
  }

  show(state: State): void {
    const key = JSON.stringify(optionsOf(state));
    this.#state = state;
    if (key === this.#key) return;
    this.#key = key;
    // a manifest fixes everything
    if (this.files.isFeatures) this.audit();
  }

  /** Changes the files, and audits them. */
  change(how: (files: WorldFiles) => void): void {
    how(this.files);
    this.audit();
  }

  cancel(): void {
    this.#audits.stop();
    this.isBusy = false;
    this.isCancelled = true;
    this.#changed();
  }

  audit(): void {
    this.#audits.stop();
    this.found = undefined;
    this.failure = undefined;
    this.isCancelled = false;
    this.done = 0;
    const { files } = this;
    this.total = files.runs.with.length + files.runs.without.length;
    this.isBusy = files.waitsFor === undefined && files.refused === undefined;
    const state = this.#state;
    this.#changed();
    if (!this.isBusy || state === undefined) return;
    this.#audits.run(async (ask) => {
      try {
        this.found = files.isFeatures
          ? await this.#features(ask, optionsOf(state))
          : await this.#folder(ask);
      } catch (failure) {
        this.failure = (failure as Error).message;
      }
      this.isBusy = false;
      this.#changed();
    });
  }

  async #features(ask: Ask<GeneratorApi>, options: GeneratorOptions): Promise<GeneratorAnswer> {
    const files = [...this.files.runs.with, ...this.files.runs.without];
    const contents = await Promise.all(files.map(bytesOf));
    const names = [`with/${files[0]?.name}`, `without/${files[1]?.name}`];
    return resultOf(await ask("audit_features", names, contents, options));
  }

  async #folder(ask: Ask<GeneratorApi>): Promise<GeneratorAnswer> {
    const startedAt = performance.now();
    const { manifest, runs } = this.files;
    if (manifest === undefined) throw new Error("no manifest");
    resultOf(await ask("open", manifest.name, await bytesOf(manifest)));
    for (const world of ["with", "without"] as const) {
      for (let at = 0; at < runs[world].length; at += PART) {
        await this.#send(ask, world, runs[world].slice(at, at + PART));
      }
    }
    return resultOf(await ask("report", performance.now() - startedAt));
  }

  async #send(ask: Ask<GeneratorApi>, world: World, files: readonly File[]): Promise<void> {
    const contents = await Promise.all(files.map(bytesOf));
    const names = files.map(({ name }) => `${world}/${name}`);
    resultOf(await ask("add", world, names, contents));
    this.done += files.length;
    this.#changed();
  }
}

function resultOf<T>(outcome: { value: T } | { failure: { message: string } }): T {
  if ("failure" in outcome) throw new Error(outcome.failure.message);
  return outcome.value;
}

async function bytesOf(file: File): Promise<Uint8Array> {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new Error(`${file.name} could not be read by the browser; choose it again`);
  }
}

function optionsOf({ delta, significance, seed, syn_claim }: State): GeneratorOptions {
  return { delta, significance, seed, ...(syn_claim === undefined ? {} : { claim: syn_claim }) };
}
