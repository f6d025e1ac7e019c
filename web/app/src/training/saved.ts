import { del, get, set } from "idb-keyval";
import { freshSeed } from "../state/seed";
import type { SentFiles } from "../workers/sent-files";

/** An audit that a reload continues. */
export interface Saved<Q> {
  /** Of the page that wrote it: another version counts by other rules. */
  version: string;
  asked: Q;
  files: SentFiles | undefined;
  /** The counts, as `dpscope resume` reads them. */
  state: Uint8Array;
  done: number;
}

export interface Storage {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  del(key: string): Promise<void>;
  /** Asks to be the one tab that writes a name; false if another is. */
  lock(name: string): Promise<boolean>;
}

/** The browser's storage of this page. */
export const browserStorage: Storage = {
  get,
  set,
  del,
  lock: (name) =>
    new Promise((resolve) => {
      if (navigator.locks === undefined) {
        resolve(true);
        return;
      }
      const held = (lock: unknown) => {
        resolve(lock !== null);
        // until the tab is closed
        return lock === null ? undefined : new Promise<void>(() => undefined);
      };
      navigator.locks.request(name, { ifAvailable: true }, held).catch(() => resolve(false));
    }),
};

/** What is saved, with the files that it needs. */
interface Work {
  version: string;
  files: SentFiles | undefined;
}

/** Files apart from the work, which is written more often; the tag says which files it needs. */
interface StoredFiles {
  tag: string;
  data: StoredFile | undefined;
  labels: StoredFile | undefined;
  canaries: SentFiles["canaries"];
}

interface StoredFile {
  name: string;
  /** Without a copy in the thread of the page, as bytes would need. */
  content: Blob;
}

/** Unfinished work in the browser's storage, which one tab writes. */
export class SavedWork<S extends Work> {
  readonly #storage: Storage;
  /** Its name in the storage. */
  readonly #name: string;
  #isOurs: Promise<boolean> | undefined;
  #waiting: S | undefined;
  #written: Promise<string | undefined> | undefined;
  /** The files that were written last. */
  #files: { files: SentFiles | undefined; tag: string } = { files: undefined, tag: "" };

  constructor(storage: Storage, name: string) {
    this.#storage = storage;
    this.#name = name;
  }

  get #nameOfFiles(): string {
    return `${this.#name}-files`;
  }

  /** The work of an earlier visit, of the same version; none if another tab has it. */
  async load(version: string): Promise<S | undefined> {
    try {
      const found = (await this.#storage.get(this.#name)) as (S & { tag: string }) | undefined;
      if (found?.version !== version || !(await this.#ours())) return undefined;
      if (found.tag === "") return found;
      const stored = (await this.#storage.get(this.#nameOfFiles)) as StoredFiles | undefined;
      if (stored?.tag !== found.tag) return undefined; // ended between the two
      const [data, labels] = [await opened(stored.data), await opened(stored.labels)];
      return { ...found, files: { data, labels, canaries: stored.canaries } };
    } catch {
      return undefined;
    }
  }

  /** Why the work is not saved, if it is not; of several states that wait only the newest is written. */
  save(saved: S): Promise<string | undefined> {
    this.#waiting = saved;
    this.#written ??= this.#write().finally(() => {
      this.#written = undefined;
    });
    return this.#written;
  }

  async #write(): Promise<string | undefined> {
    try {
      if (!(await this.#ours())) {
        return "Another tab is saving its own runs: reloading this tab loses its runs.";
      }
      while (this.#waiting !== undefined) {
        const saved = this.#waiting;
        this.#waiting = undefined;
        const tag = await this.#tagOf(saved.files);
        await this.#storage.set(this.#name, { ...saved, files: undefined, tag });
      }
      return undefined;
    } catch (error) {
      const why = error instanceof Error ? error.name : "no storage";
      return `The browser cannot save the runs (${why}): a reload loses them.`;
    }
  }

  /** Writes files once. */
  async #tagOf(files: SentFiles | undefined): Promise<string> {
    if (files === this.#files.files) return this.#files.tag;
    const tag = files === undefined ? "" : freshSeed();
    if (files === undefined) await this.#storage.del(this.#nameOfFiles);
    else {
      const [data, labels] = [closed(files.data), closed(files.labels)];
      const stored: StoredFiles = { tag, data, labels, canaries: files.canaries };
      await this.#storage.set(this.#nameOfFiles, stored);
    }
    this.#files = { files, tag };
    return tag;
  }

  async clear(): Promise<void> {
    this.#waiting = undefined;
    if (!(await this.#ours())) return;
    this.#files = { files: undefined, tag: "" };
    await this.#storage.del(this.#name).catch(() => undefined);
    await this.#storage.del(this.#nameOfFiles).catch(() => undefined);
  }

  #ours(): Promise<boolean> {
    this.#isOurs ??= this.#storage.lock(this.#name);
    return this.#isOurs;
  }
}

function closed(file: SentFiles["data"]): StoredFile | undefined {
  if (file === undefined) return undefined;
  return { name: file.name, content: new Blob([file.bytes as Uint8Array<ArrayBuffer>]) };
}

async function opened(file: StoredFile | undefined): Promise<SentFiles["data"]> {
  if (file === undefined) return undefined;
  return { name: file.name, bytes: new Uint8Array(await file.content.arrayBuffer()) };
}
