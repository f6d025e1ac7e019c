import { del, get, set } from "idb-keyval";
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

/** Unfinished work in the browser's storage, which one tab writes. */
export class SavedWork<S extends { version: string }> {
  readonly #storage: Storage;
  /** Its name in the storage. */
  readonly #name: string;
  #isOurs: Promise<boolean> | undefined;
  #waiting: S | undefined;
  #written: Promise<string | undefined> | undefined;

  constructor(storage: Storage, name: string) {
    this.#storage = storage;
    this.#name = name;
  }

  /** The work of an earlier visit, of the same version; none if another tab has it. */
  async load(version: string): Promise<S | undefined> {
    try {
      const found = (await this.#storage.get(this.#name)) as S | undefined;
      if (found?.version !== version || !(await this.#ours())) return undefined;
      return found;
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
        await this.#storage.set(this.#name, saved);
      }
      return undefined;
    } catch (error) {
      const why = error instanceof Error ? error.name : "no storage";
      return `The browser cannot save the runs (${why}): a reload loses them.`;
    }
  }

  async clear(): Promise<void> {
    this.#waiting = undefined;
    if (!(await this.#ours())) return;
    await this.#storage.del(this.#name).catch(() => undefined);
  }

  #ours(): Promise<boolean> {
    this.#isOurs ??= this.#storage.lock(this.#name);
    return this.#isOurs;
  }
}
