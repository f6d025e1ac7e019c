import { expect, test } from "vitest";
import { mainLine, statement } from "./statement";
import { storedConclusion, storedLines } from "./stored";

const stored = { lines: storedLines(), conclusion: storedConclusion() };

test("a statement has the values that its conclusion rests on", () => {
  const found = statement(stored);
  expect(found.leastName).toBe("shuffle-max-slice");
  expect([found.claimed, found.least, found.most]).toEqual(
    (["poisson", "shuffle-max-slice", "deterministic"] as const).map((name) => {
      const line = stored.lines[name];
      return line !== undefined && "value" in line ? line.value : undefined;
    }),
  );
  expect(found.sentence).toContain("The leakage is at least 5.6 times the claim.");
  expect(mainLine(found)).toBe("shuffle-max-slice");
});

test("the line that is copied is a lower bound, an upper bound or the claim", () => {
  const { lines } = stored;
  const upper = statement({ lines, conclusion: { upper: "deterministic", sentence: "" } });
  expect(mainLine(upper)).toBe("deterministic");
  expect(mainLine(statement({ lines, conclusion: undefined }))).toBe("poisson");
});

test("a line without a value is not stated", () => {
  const lines = { poisson: { reason: "too large" } };
  expect(statement({ lines, conclusion: { sentence: "" } }).claimed).toBeUndefined();
});
