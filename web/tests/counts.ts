/** Prints the summary line of cargo's tests after a run of Playwright or Vitest, for `cargo xtask test`. */

import type { Reporter, TestCase, TestResult } from "@playwright/test/reporter";
import type { TestModule } from "vitest/node";

export function line(passed: number, failed: number, ignored: number): string {
  const verdict = failed === 0 ? "ok" : "FAILED";
  return `test result: ${verdict}. ${passed} passed; ${failed} failed; ${ignored} ignored`;
}

export default class Counts implements Reporter {
  readonly #tests = new Map<string, TestCase>();

  // Playwright

  onTestEnd(test: TestCase, _result: TestResult): void {
    this.#tests.set(test.id, test);
  }

  onEnd(): void {
    const outcomes = [...this.#tests.values()].map((test) => test.outcome());
    const of = (...wanted: string[]) =>
      outcomes.filter((outcome) => wanted.includes(outcome)).length;
    console.log(line(of("expected", "flaky"), of("unexpected"), of("skipped")));
  }

  // Vitest

  onTestRunEnd(modules: readonly TestModule[]): void {
    const states = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => test.result().state),
    );
    const of = (wanted: string) => states.filter((state) => state === wanted).length;
    const broken = modules.filter((module) => module.errors().length > 0).length;
    console.log(line(of("passed"), of("failed") + broken, of("skipped")));
  }
}
