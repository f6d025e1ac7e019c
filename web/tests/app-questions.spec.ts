/** Questions to the program about recorded data: files, options, the command and its answer. */

import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";
import { cosines, expect, expectAccessible, scores, test } from "./page";

function file(name: string, content: string) {
  return { name, mimeType: "application/octet-stream", buffer: Buffer.from(content) };
}

const path = (name: string) => fileURLToPath(new URL(`files/${name}`, import.meta.url));

const filesOf = (page: Page) => page.getByLabel("Files of the audit");
const commandOf = (page: Page) => page.locator(".answer .command code");

async function enter(page: Page, label: string, text: string): Promise<void> {
  const input = page.getByRole("textbox", { name: label, exact: true });
  await input.fill(text);
  await input.press("Enter");
}

test("files are audited by the command that is shown, and a report is downloaded", async ({
  page,
}) => {
  await page.goto("#v=1&view=scores&scores_rule=simultaneous&scores_claim=0.5");
  await filesOf(page).setInputFiles([
    file("target.csv", scores(1000, 3)),
    file("zero-out.csv", scores(1000, 0)),
  ]);
  await expect(page.locator(".verdict strong")).toHaveText("REFUTED");
  await expect(commandOf(page)).toHaveText(
    "dpscope audit scores --target target.csv --zero-out zero-out.csv --threshold-rule simultaneous --claim 0.5",
  );
  await expect(page.getByRole("img", { name: /Drawing of the audit/ })).toBeVisible();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download report (HTML)" }).click();
  expect((await download).suggestedFilename()).toBe("scores.html");
  await expectAccessible(page);
  await enter(page, "Claim", "50");
  await expect(page.locator(".verdict strong")).toHaveText("inconclusive");
  await expect.poll(() => new URL(page.url()).hash).toContain("scores.claim=50");
});

test("the sample has both worlds in one file", async ({ page }) => {
  await page.goto("#v=2&view=scores");
  await page.getByRole("button", { name: "Try sample scores" }).click();
  await expect(page.locator(".outcome .big")).toContainText(/ε ≥\s+[1-9]/);
  await expect(page.getByLabel("What sample-scores.npz contains")).toHaveValue("target+zero_out");
});

test("a file that is not recognised waits for its reader", async ({ page }) => {
  await page.goto("#v=2&view=scores");
  const head = page.locator("#scores-answer");
  await filesOf(page).setInputFiles([file("in.csv", scores(100, 3))]);
  await expect(head).toHaveText("Now select what in.csv contains");
  await page.getByLabel("What in.csv contains", { exact: true }).selectOption("target");
  await expect(head).toHaveText("Now add: zero out");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Remove in.csv" }).click();
  await expect(head).toHaveText("Your result will appear here");
});

for (const [name, content] of [
  ["target.npy", "<script>alert(1)</script>"],
  ["target.csv", "a\n<img src=x onerror=alert(1)>\n"],
  ["target <img src=x onerror=alert(1)>.csv", "MZ"],
] as const) {
  test(`a hostile file is refused with a message: ${name}`, async ({ page }) => {
    await page.goto("#v=2&view=scores");
    await filesOf(page).setInputFiles([file(name, content), file("zero_out.csv", scores(9, 0))]);
    await expect(page.locator(".failure")).toBeVisible();
    await expect(page.locator("main img")).toHaveCount(0);
    await expect(page.locator(".file-name").first()).toHaveText(name);
  });
}

test("a file that is too large is left to the program, whose command is shown", async ({
  page,
}) => {
  await page.goto("#v=2&view=scores&scores.claim=2");
  await filesOf(page).evaluate((element: HTMLInputElement) => {
    const huge = new File(["0.1"], "target.csv");
    Object.defineProperty(huge, "size", { value: 2 ** 30 });
    // a DataTransfer would copy the file, and with it its size
    Object.defineProperty(element, "files", { value: [huge], configurable: true });
    element.dispatchEvent(new Event("change"));
  });
  await expect(page.locator(".file-list .refused")).toContainText("at most 64 MiB");
  await expect(commandOf(page)).toHaveText("dpscope audit scores --target target.csv --claim 2");
});

test("counts need no file, and a mistake is explained", async ({ page }) => {
  await page.goto("#v=2&view=scores");
  await page.getByLabel("Error counts at a threshold fixed in advance").check();
  await expect.poll(() => new URL(page.url()).hash).toContain("question=counts");
  await expect(filesOf(page)).toHaveCount(0);
  await enter(page, "False positives", "5");
  await enter(page, "False negatives", "100");
  await enter(page, "Target trials", "1000");
  await expect(page.locator("#counts-answer")).toHaveText("Now add: zero out trials");
  await enter(page, "Zero out trials", "1000");
  await expect(page.locator(".outcome .big")).toContainText(/ε ≥\s+[1-9]/);
  await enter(page, "Delta", "-1");
  await expect(page.locator(".failure")).toBeVisible();
});

test("every question is accessible, with all of its options", async ({ page }) => {
  for (const question of ["scores", "outputs", "counts", "one-run", "federated"]) {
    await page.goto(`#v=2&view=scores&question=${question}`);
    await expect(page.locator(`#${question}-answer`)).toBeVisible();
    for (const details of await page.locator("details").all()) {
      await details.evaluate((element) => element.setAttribute("open", ""));
    }
    await expectAccessible(page);
  }
});

test("options of a link are in the form of one run, and unknown ones are named", async ({
  page,
}) => {
  await page.goto("#v=2&view=one-run&one-run.claim=0.5&one-run.guesses=60&one-run.guess=9");
  await expect(page.locator(".ignored")).toContainText("unknown field “one-run.guess”");
  for (const role of ["scores", "coins"]) {
    const name = `one_run_${role}.csv`;
    await filesOf(page).setInputFiles(path(name));
    await page.getByLabel(`What ${name} contains`).selectOption(role);
  }
  await expect(page.locator("pre.report")).toContainText("of 60 correct");
  await expect(commandOf(page)).toHaveText(
    "dpscope audit one-run --scores one_run_scores.csv --coins one_run_coins.csv --guesses 60 --claim 0.5",
  );
  await expect(page.getByLabel("Guesses in")).toBeDisabled();
  await enter(page, "Guesses", "");
  await expect(page.locator(".outcome .big")).toContainText("1.7750");
  await expect(page.locator(".verdict .note")).toContainText("suspicious");
});

test("a failure names the file of federated cosines, and fields by their labels", async ({
  page,
}) => {
  await page.goto("#v=1&view=federated&fed_attacker=all_updates&fed_parameters=1e5");
  await filesOf(page).setInputFiles([file("cosines.csv", cosines(200, 2, 1e5))]);
  await expect(page.locator("#federated-answer")).toHaveText("Not complete yet");
  await expect(page.locator(".answer")).toContainText("Server rounds");
  await expect(page.locator(".failure")).toHaveCount(0);
  await page.getByLabel("Attacker").selectOption("final-model");
  await expect(page.locator("pre.report")).toContainText(/canaries +200 added/);
  await filesOf(page).setInputFiles([file("cosines.csv", "canary,cosine\n0,0.1\n1,1.5\n")]);
  for (const part of ["cosines.csv", "row 2"]) {
    await expect(page.locator(".failure")).toContainText(part);
  }
});

test("two models of a committed plan are audited, and the plan fixes the rest", async ({
  page,
}) => {
  await page.goto("#v=1&view=federated&fed_claim=1&fed_parameters=9");
  const models = ["final.safetensors", "initial.safetensors"];
  const plan = ["plan.json", "seed.secret", "commitment.txt"];
  await filesOf(page).setInputFiles([...models, ...plan].map((name) => path(`federated/${name}`)));
  await expect(page.locator(".verdict strong")).toHaveText("REFUTED");
  await expect(page.locator("pre.report")).toContainText("canaries    60 added");
  await expect(commandOf(page)).toHaveText(
    "dpscope audit federated --final final.safetensors --initial initial.safetensors --plan plan --claim 1",
  );
  await expect(page.getByRole("textbox", { name: "Dimension", exact: true })).toBeDisabled();
  const record = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download audited.txt" }).click();
  expect((await record).suggestedFilename()).toBe("audited.txt");
});
