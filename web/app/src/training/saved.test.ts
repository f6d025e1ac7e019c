import { expect, test, vi } from "vitest";
import { storageOf } from "./fake-storage";
import type { TrainingQuestion } from "./question";
import { type Saved, SavedWork, type Storage } from "./saved";

const NAME = "dpscope-training";
const SAVED: Saved<TrainingQuestion> = {
  version: "1",
  asked: { plan: {}, model: "mlp" } as unknown as TrainingQuestion,
  files: undefined,
  state: new Uint8Array([1, 2]),
  done: 2,
};

const FILES = { data: { name: "mine.csv", bytes: new Uint8Array([1, 2, 3]) } };

const opened = (storage: Storage) => new SavedWork<Saved<TrainingQuestion>>(storage, NAME);

test("an audit is found after a reload, and forgotten once it is over", async () => {
  const { storage } = storageOf();
  const saved = opened(storage);
  expect(await saved.load("1")).toBeUndefined();
  expect(await saved.save(SAVED)).toBeUndefined();
  expect(await opened(storage).load("1")).toMatchObject(SAVED);
  await saved.clear();
  expect(await opened(storage).load("1")).toBeUndefined();
});

test("files are written once, in one transaction with their work", async () => {
  const { storage, kept, written } = storageOf();
  const saved = opened(storage);
  await saved.save({ ...SAVED, files: FILES });
  await saved.save({ ...SAVED, files: FILES, done: 4 });
  expect(written).toEqual([[NAME, `${NAME}-files`], [NAME]]);
  expect(await opened(storage).load("1")).toEqual({ ...SAVED, done: 4, files: FILES });
  await saved.clear();
  expect(kept.size).toBe(0);
});

test("work that cannot be written leaves the earlier work with its files", async () => {
  const { storage } = storageOf();
  const saved = opened(storage);
  await saved.save({ ...SAVED, files: FILES });
  const { set } = storage;
  storage.set = () => Promise.reject(new Error("closed"));
  expect(await saved.save({ ...SAVED, files: undefined, done: 4 })).toContain("cannot save");
  expect(await opened(storage).load("1")).toEqual({ ...SAVED, files: FILES });
  storage.set = set;
  await saved.save({ ...SAVED, files: undefined, done: 4 });
  expect(await opened(storage).load("1")).toEqual({ ...SAVED, done: 4 });
});

test("files of an earlier visit are not written again", async () => {
  const { storage, written } = storageOf();
  await opened(storage).save({ ...SAVED, files: FILES });
  const again = opened(storage);
  const loaded = await again.load("1");
  await again.save({ ...SAVED, files: loaded?.files, done: 4 });
  expect(written).toEqual([[NAME, `${NAME}-files`], [NAME]]);
});

test.each([["1"], ["2"]])(
  "work without files removes those of an earlier visit, as version %s",
  async (version) => {
    const { storage, kept } = storageOf();
    await opened(storage).save({ ...SAVED, files: FILES });
    const again = opened(storage);
    await again.load(version);
    await again.save(SAVED);
    expect(kept.get(`${NAME}-files`)).toBeUndefined();
  },
);

test("what is cleared during a write stays away", async () => {
  const { storage, kept } = storageOf();
  const saved = opened(storage);
  const { set } = storage;
  let release: (() => void) | undefined;
  storage.set = async (entries) => {
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    await set(entries);
  };
  const written = saved.save({ ...SAVED, files: FILES });
  await vi.waitFor(() => expect(release).toBeDefined());
  const cleared = saved.clear();
  release?.();
  await Promise.all([written, cleared]);
  storage.set = set;
  expect(kept.size).toBe(0);
  await saved.save({ ...SAVED, files: FILES });
  expect(await opened(storage).load("1")).toEqual({ ...SAVED, files: FILES });
});

test("counts of another version are not continued", async () => {
  const { storage } = storageOf();
  await opened(storage).save(SAVED);
  expect(await opened(storage).load("2")).toBeUndefined();
});

test("one tab writes, and another says that it does not", async () => {
  const { storage, kept } = storageOf({ isFree: false });
  const saved = opened(storage);
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
  expect(await opened(storage).save(SAVED)).toContain("QuotaExceededError");
});
