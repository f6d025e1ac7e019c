import { delMany, getMany, setMany } from "idb-keyval";
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
  get(keys: string[]): Promise<unknown[]>;
  /** Writes all entries, or none if the tab is closed meanwhile. */
  set(entries: [string, unknown][]): Promise<void>;
  del(keys: string[]): Promise<void>;
  /** Asks to be the one tab that writes a name; false if another is. */
  lock(name: string): Promise<boolean>;
}

/** The browser's storage of this page. */
export const browserStorage: Storage = {
  get: (keys) => getMany(keys),
  set: (entries) => setMany(entries),
  del: (keys) => delMany(keys),
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

/** Files apart from the work, which is written more often. */
interface StoredFiles {
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
  /** The files in the storage, once they are known. */
  #stored: { files: SentFiles | undefined } | undefined;

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
      const found = await this.#storage.get([this.#name, this.#nameOfFiles]);
      const [work, stored] = found as [S | undefined, StoredFiles | undefined];
      if (work?.version !== version || !(await this.#ours())) return undefined;
      const files = await allOpened(stored);
      this.#stored ??= { files };
      return { ...work, files };
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
        return "Another tab is saving its own work: reloading this tab loses its work.";
      }
      while (this.#waiting !== undefined) {
        const saved = this.#waiting;
        this.#waiting = undefined;
        await this.#put(saved);
      }
      return undefined;
    } catch (error) {
      const why = error instanceof Error ? error.name : "no storage";
      return `The browser cannot save this work (${why}): a reload loses it.`;
    }
  }

  /** Writes the work, with its files where the storage has others: all of it or nothing. */
  async #put(saved: S): Promise<void> {
    const { files } = saved;
    const entries: [string, unknown][] = [[this.#name, { ...saved, files: undefined }]];
    const isStored = this.#stored !== undefined && this.#stored.files === files;
    if (!isStored) entries.push([this.#nameOfFiles, allClosed(files)]);
    await this.#storage.set(entries);
    this.#stored = { files };
  }

  async clear(): Promise<void> {
    this.#waiting = undefined;
    if (!(await this.#ours())) return;
    await this.#written;
    this.#stored = undefined;
    await this.#storage.del([this.#name, this.#nameOfFiles]).catch(() => undefined);
  }

  #ours(): Promise<boolean> {
    this.#isOurs ??= this.#storage.lock(this.#name);
    return this.#isOurs;
  }
}

function allClosed(files: SentFiles | undefined): StoredFiles | undefined {
  if (files === undefined) return undefined;
  const [data, labels] = [closed(files.data), closed(files.labels)];
  return { data, labels, canaries: files.canaries };
}

function closed(file: SentFiles["data"]): StoredFile | undefined {
  if (file === undefined) return undefined;
  return { name: file.name, content: new Blob([file.bytes as Uint8Array<ArrayBuffer>]) };
}

async function allOpened(stored: StoredFiles | undefined): Promise<SentFiles | undefined> {
  if (stored === undefined) return undefined;
  const [data, labels] = [await opened(stored.data), await opened(stored.labels)];
  return { data, labels, canaries: stored.canaries };
}

async function opened(file: StoredFile | undefined): Promise<SentFiles["data"]> {
  if (file === undefined) return undefined;
  return { name: file.name, bytes: new Uint8Array(await file.content.arrayBuffer()) };
}
