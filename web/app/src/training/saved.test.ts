import type { TrainingQuestion } from "@dpscope/wasm/training";
import { expect, test } from "vitest";
import { type Saved, SavedWork, type Storage } from "./saved";

const NAME = "dpscope-training";
const SAVED: Saved<TrainingQuestion> = {
  version: "1",
  asked: { plan: {}, model: "mlp" } as unknown as TrainingQuestion,
  files: undefined,
  state: new Uint8Array([1, 2]),
  done: 2,
};

/** A storage that may be locked by another tab, or refuse to store. */
function storageOf({ isFree = true, problem }: { isFree?: boolean; problem?: Error } = {}) {
  const kept = new Map<string, unknown>();
  const storage: Storage = {
    get: async (key) => kept.get(key),
    set: async (key, value) => {
      if (problem !== undefined) throw problem;
      kept.set(key, value);
    },
    del: async (key) => void kept.delete(key),
    lock: async () => isFree,
  };
  return { storage, kept };
}

test("an audit is found after a reload, and forgotten once it is over", async () => {
  const { storage } = storageOf();
  const saved = new SavedWork<Saved<TrainingQuestion>>(storage, NAME);
  expect(await saved.load("1")).toBeUndefined();
  expect(await saved.save(SAVED)).toBeUndefined();
  expect(await new SavedWork<Saved<TrainingQuestion>>(storage, NAME).load("1")).toMatchObject(
    SAVED,
  );
  await saved.clear();
  expect(await new SavedWork<Saved<TrainingQuestion>>(storage, NAME).load("1")).toBeUndefined();
});

test("files are written once, and belong to their own work alone", async () => {
  const { storage, kept } = storageOf();
  const written: string[] = [];
  const { set } = storage;
  storage.set = (key, value) => {
    written.push(key);
    return set(key, value);
  };
  const files = { data: { name: "mine.csv", bytes: new Uint8Array([1, 2, 3]) } };
  const saved = new SavedWork<Saved<TrainingQuestion>>(storage, NAME);
  await saved.save({ ...SAVED, files });
  await saved.save({ ...SAVED, files, done: 4 });
  expect(written).toEqual([`${NAME}-files`, NAME, NAME]);
  const loaded = () => new SavedWork<Saved<TrainingQuestion>>(storage, NAME).load("1");
  expect(await loaded()).toMatchObject({ done: 4, files });
  kept.set(`${NAME}-files`, { ...(kept.get(`${NAME}-files`) as object), tag: "other" });
  expect(await loaded()).toBeUndefined();
  await saved.clear();
  expect(kept.size).toBe(0);
});

test("counts of another version are not continued", async () => {
  const { storage } = storageOf();
  await new SavedWork<Saved<TrainingQuestion>>(storage, NAME).save(SAVED);
  expect(await new SavedWork<Saved<TrainingQuestion>>(storage, NAME).load("2")).toBeUndefined();
});

test("one tab writes, and another says that it does not", async () => {
  const { storage, kept } = storageOf({ isFree: false });
  const saved = new SavedWork<Saved<TrainingQuestion>>(storage, NAME);
  expect(await saved.save(SAVED)).toContain("Another tab");
  await saved.clear();
  expect(kept.size).toBe(0);
  kept.set(NAME, SAVED);
  await saved.clear();
  expect(kept.size).toBe(1);
  expect(await saved.load("1")).toBeUndefined();
});

test("a full or refused storage is named", async () => {
  const problem = Object.assign(new Error("no room"), { name: "QuotaExceededError" });
  const { storage } = storageOf({ problem });
  expect(await new SavedWork<Saved<TrainingQuestion>>(storage, NAME).save(SAVED)).toContain(
    "QuotaExceededError",
  );
});
