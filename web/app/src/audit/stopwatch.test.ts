import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Stopwatch } from "./stopwatch";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("the sleep of a tab does not count, nor does a pause", () => {
  const page = new EventTarget() as Document;
  const watch = new Stopwatch(page);
  watch.start();
  vi.advanceTimersByTime(1000);
  page.dispatchEvent(new Event("freeze"));
  vi.advanceTimersByTime(3_600_000);
  expect(watch.elapsed_ms).toBe(1000);
  page.dispatchEvent(new Event("resume"));
  vi.advanceTimersByTime(500);
  expect(watch.elapsed_ms).toBe(1500);
  watch.stop();
  vi.advanceTimersByTime(500);
  page.dispatchEvent(new Event("resume")); // of the tab, not of what is measured
  vi.advanceTimersByTime(500);
  expect(watch.elapsed_ms).toBe(1500);
  watch.start();
  vi.advanceTimersByTime(250);
  expect(watch.elapsed_ms).toBe(1750);
});

test("without events the sleep would count", () => {
  const watch = new Stopwatch(new EventTarget() as Document);
  watch.start();
  vi.advanceTimersByTime(3_600_000);
  expect(watch.elapsed_ms).toBe(3_600_000);
});
