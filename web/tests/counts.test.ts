import { expect, it } from "vitest";
import { line } from "./counts";

it("has the form that cargo's tests end with", () => {
  expect(line(3, 0, 1)).toBe("test result: ok. 3 passed; 0 failed; 1 ignored");
  expect(line(3, 2, 0)).toBe("test result: FAILED. 3 passed; 2 failed; 0 ignored");
});
