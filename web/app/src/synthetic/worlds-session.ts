import type { GeneratorAnswer, GeneratorOptions } from "@dpscope/wasm/synth";
import type { WorkerLike } from "../../../protocol/protocol";
import { FilesSession } from "../files/session";
import type { State } from "../state/fields";
import { statisticsOf } from "../state/records";
import type { GeneratorApi, World } from "../workers/generator.worker";
import { type Ask, Lane } from "../workers/lane";
import { SEED_CHECK, WorldFiles } from "./world-files";

const LONGEST_MS = 120_000;
/** Files that are sent at once. */
const PART = 64;

/** The audit of the reader's runs in two worlds. */
export class WorldsSession extends FilesSession<GeneratorAnswer> {
  readonly files = new WorldFiles();
  /** Files that were read, and all of them. */
  done = 0;
  total = 0;
  readonly #audits: Lane<GeneratorApi>;

  constructor(spawn: () => WorkerLike, changed: () => void) {
    super(changed);
    this.#audits = new Lane(spawn, 0, LONGEST_MS);
  }

  protected settingsOf(state: State): GeneratorOptions {
    return optionsOf(state);
  }

  protected stop(): void {
    this.#audits.stop();
  }

  protected override settingsChanged(): void {
    // a manifest fixes everything
    if (this.files.isFeatures) this.audit();
  }

  /** Changes the files, and audits them. */
  change(how: (files: WorldFiles) => void): void {
    how(this.files);
    this.audit();
  }

  audit(): void {
    const { files } = this;
    this.done = 0;
    this.total = files.runs.with.length + files.runs.without.length;
    const state = this.begin(files.waitsFor === undefined && files.refused === undefined);
    if (state === undefined) return;
    this.#audits.run(async (ask) => {
      try {
        this.found = files.isFeatures
          ? await this.#features(ask, optionsOf(state))
          : await this.#folder(ask);
        this.end();
      } catch (failure) {
        this.end((failure as Error).message);
      }
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
    const { manifest, seedCheck, runs } = this.files;
    if (manifest === undefined) throw new Error("no manifest");
    resultOf(await ask("open", manifest.name, await bytesOf(manifest)));
    if (seedCheck !== undefined) {
      resultOf(await ask("add", "with", [SEED_CHECK], [await bytesOf(seedCheck)]));
    }
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
    this.changed();
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

function optionsOf(state: State): GeneratorOptions {
  const { syn_claim: claim } = state;
  return { ...statisticsOf(state), ...(claim === undefined ? {} : { claim }) };
}
