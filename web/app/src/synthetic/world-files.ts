/** Files of the runs of both worlds: there may be thousands. */

import type { World } from "../workers/generator.worker";

/** Written by `dpscope generator run`. */
export const SEED_CHECK = "seed-check.txt";
const MOST_FILES = 20_000;
const MOST_BYTES = 256 * 2 ** 20;

/** What an audit of many runs is made of. */
export class WorldFiles {
  manifest: File | undefined;
  /** What a second execution of a run showed (seed-check.txt). */
  seedCheck: File | undefined;
  readonly runs: Record<World, File[]> = { with: [], without: [] };
  /** Why the last files were not taken. */
  refused: string | undefined;

  setManifest(files: Iterable<File>): void {
    const all = [...files];
    const manifest = all.find(({ name }) => name.toLowerCase().endsWith(".toml"));
    const seedCheck = all.find(({ name }) => name.toLowerCase() === SEED_CHECK);
    const isKnown = manifest !== undefined || seedCheck !== undefined;
    this.refused = isKnown
      ? undefined
      : `A manifest is a file that ends in .toml, beside ${SEED_CHECK}.`;
    this.manifest = manifest ?? this.manifest;
    this.seedCheck = seedCheck ?? this.seedCheck;
  }

  /** Replaces the files of a world. */
  set(world: World, files: Iterable<File>): void {
    const all = [...files];
    const own = all.filter(({ name }) => /\.(csv|failed|retried)$/i.test(name));
    const bytes = own.reduce((sum, file) => sum + file.size, 0);
    if (own.every(isMark)) this.refused = "None of these files ends in .csv or .failed.";
    else if (own.length > MOST_FILES || bytes > MOST_BYTES) {
      this.refused =
        "This page accepts at most 20,000 files and 256 MiB for each world; the program reads more.";
    } else {
      this.refused = undefined;
      this.runs[world] = own.sort(byRun);
    }
  }

  clear(): void {
    this.manifest = undefined;
    this.seedCheck = undefined;
    this.runs.with = [];
    this.runs.without = [];
    this.refused = undefined;
  }

  get isEmpty(): boolean {
    const { manifest, seedCheck, runs } = this;
    return (
      manifest === undefined &&
      seedCheck === undefined &&
      runs.with.length + runs.without.length === 0
    );
  }

  /** Whether there is one table of features for each world. */
  get isFeatures(): boolean {
    const { runs } = this;
    return this.manifest === undefined && runs.with.length === 1 && runs.without.length === 1;
  }

  /** What is missing before an audit can start. */
  get waitsFor(): string | undefined {
    const { runs } = this;
    const [one, other] = [runs.with.length, runs.without.length];
    if (one + other === 0 && this.manifest === undefined) return "Your result will appear here";
    if (one === 0) return "Now add the runs with the target row";
    if (other === 0) return "Now add the runs without it";
    return this.manifest !== undefined || this.isFeatures
      ? undefined
      : "Now add manifest.toml, which describes the columns";
  }
}

/** A run that was repeated has such a file beside its rows. */
function isMark({ name }: File): boolean {
  return /\.retried$/i.test(name);
}

/** In the order of the numbers in their names. */
function byRun(one: File, other: File): number {
  return one.name.localeCompare(other.name, "en", { numeric: true });
}
