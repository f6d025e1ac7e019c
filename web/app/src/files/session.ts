import type { State } from "../state/fields";
import { type DroppedFile, DroppedFiles } from "./dropped";

/** An audit of the reader's files, made anew when files or settings change. */
export abstract class FilesSession<Found> {
  found: Found | undefined;
  failure: string | undefined;
  isBusy = false;
  isCancelled = false;
  protected state: State | undefined;
  #key = "";
  protected readonly changed: () => void;

  constructor(changed: () => void) {
    this.changed = changed;
  }

  /** What the audit takes from the settings of the page. */
  protected abstract settingsOf(state: State): unknown;

  /** Ends what runs. */
  protected abstract stop(): void;

  abstract audit(): void;

  show(state: State): void {
    const key = JSON.stringify(this.settingsOf(state));
    this.state = state;
    if (key === this.#key) return;
    this.#key = key;
    this.settingsChanged();
  }

  protected settingsChanged(): void {
    this.audit();
  }

  /** Forgets the last audit, and says whether another one starts. */
  protected begin(isReady: boolean): State | undefined {
    this.stop();
    this.found = undefined;
    this.failure = undefined;
    this.isCancelled = false;
    this.isBusy = isReady && this.state !== undefined;
    this.changed();
    return this.isBusy ? this.state : undefined;
  }

  protected end(failure?: string): void {
    this.failure = failure;
    this.isBusy = false;
    this.changed();
  }

  cancel(): void {
    this.stop();
    this.isBusy = false;
    this.isCancelled = true;
    this.changed();
  }
}

/** An audit of files that are recognised by their names. */
export abstract class DroppedFilesSession<Role extends string, Found> extends FilesSession<Found> {
  readonly files: DroppedFiles<Role>;

  constructor(
    roleOf: (name: string) => Role | undefined,
    changed: () => void,
    isRepeated: (role: Role) => boolean = () => false,
  ) {
    super(changed);
    this.files = new DroppedFiles<Role>(roleOf, isRepeated);
  }

  protected get roles(): ReadonlySet<Role> {
    return new Set(this.files.usable.map((file) => file.role));
  }

  async add(files: Iterable<File>): Promise<void> {
    await this.files.add(files);
    this.audit();
  }

  remove(file: DroppedFile<Role>): void {
    this.files.remove(file);
    this.audit();
  }
}
