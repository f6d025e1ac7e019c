import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Announcements } from "./announcements";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function heard(results: readonly string[], every: number): string[] {
  const spoken: string[] = [];
  const announcements = new Announcements((words) => spoken.push(words));
  for (const words of results) {
    announcements.hear(words);
    vi.advanceTimersByTime(every);
  }
  vi.advanceTimersByTime(5000);
  return spoken;
}

test("a result that follows a slider is announced once", () => {
  expect(heard(["1", "", "2", "", "3", "3", "4"], 300)).toEqual(["4"]);
});

test("results far apart are announced each, and none twice", () => {
  expect(heard(["1", "2", "", "2", "3"], 3000)).toEqual(["1", "2", "3"]);
});
