import type { Storage } from "./saved";

/** A storage for tests that may be locked by another tab, or refuse to store. */
export function storageOf({ isFree = true, problem }: { isFree?: boolean; problem?: Error } = {}) {
  const kept = new Map<string, unknown>();
  /** Keys of each transaction. */
  const written: string[][] = [];
  const storage: Storage = {
    get: async (keys) => keys.map((key) => kept.get(key)),
    set: async (entries) => {
      if (problem !== undefined) throw problem;
      written.push(entries.map(([key]) => key));
      for (const [key, value] of entries) kept.set(key, value);
    },
    del: async (keys) => keys.forEach((key) => void kept.delete(key)),
    lock: async () => isFree,
  };
  return { storage, kept, written };
}
