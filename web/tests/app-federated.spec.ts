import { fileURLToPath } from "node:url";
import { cosines, expect, expectAccessible, test } from "./page";

function file(name: string, content: string) {
  return { name, mimeType: "text/csv", buffer: Buffer.from(content) };
}

test.describe("federated", () => {
  test("sliders change the run, and the link and the command have them", async ({ page }) => {
    await page.goto("#v=1&view=federated&fed_canaries=200");
    const published = page.locator(".rule-bars .published strong");
    await expect(published).toHaveText(/ε ≈ \d/);
    const command = page.locator(".command code");
    await expect(command).toContainText(
      "--noise-multiplier 1 --dimension 1e6 --design poisson:200",
    );
    const presentations = page.getByLabel("Presentations", { exact: true });
    await presentations.fill("4");
    await presentations.press("Enter");
    await expect(command).toContainText("--noise-multiplier 0.5 ");
    await expect.poll(() => new URL(page.url()).hash).toContain("fed_presentations=4");
    const noise = page.getByLabel("Noise multiplier, slider");
    await noise.focus();
    await noise.press("ArrowRight");
    await expect.poll(() => new URL(page.url()).hash).toContain("fed_noise=1.1");
    await expect(command).toContainText("--noise-multiplier 0.55 ");
    await expect(page.locator("#sum-cosines desc")).toContainText(/Histogram of \d+ cosines/);
  });

  test("runs are counted until stopped, and counts continue", async ({ page }) => {
    await page.goto("#v=1&view=federated&fed_canaries=100&fed_noise=2");
    const runs = page.locator(".runs");
    await expect(runs).toContainText("No runs simulated yet.");
    const simulate = page.getByRole("button", { name: "Simulate 1,000 runs" });
    await expect(simulate).toBeEnabled();
    await simulate.focus();
    await simulate.press("Enter");
    await expect(runs).toHaveText(/^\s*1,000 runs\.\s*$/);
    const shares = page.locator(".rules .published td");
    await expect(shares.nth(1)).toHaveText(/[67]\d(\.\d)? % \([67]\d\d\)/);
    await expect(page.locator(".rules .any_mechanism td").nth(1)).toHaveText(/^[0-7](\.\d)? %/);
    await simulate.click();
    await expect(runs).toHaveText(/^\s*2,000 runs\.\s*$/);
    await expectAccessible(page);
  });

  test("another setting forgets the counts", async ({ page }) => {
    await page.goto("#v=1&view=federated&fed_canaries=100");
    await page.getByRole("button", { name: "Simulate 1,000 runs" }).click();
    await expect(page.locator(".runs")).toContainText("1,000 runs.");
    await page.getByLabel("Noise multiplier σ").fill("3");
    await page.getByLabel("Noise multiplier σ").press("Enter");
    await expect(page.locator(".runs")).toContainText("No runs simulated yet.");
  });

  test("settings that cannot be simulated are refused, and links have limits", async ({ page }) => {
    await page.goto("#v=1&view=federated&fed_canaries=10&fed_dimension=1000&fed_noise=0.02");
    await expect(page.locator(".failure")).toContainText("noise multiplier is 0.02");
    await expect(page.getByRole("button", { name: "Simulate 1,000 runs" })).toBeDisabled();
    await page.goto("#v=1&view=federated&fed_canaries=1e9");
    await expect(page.locator(".messages")).toContainText("fed_canaries");
    await expect(page.locator(".rule-bars li")).toHaveCount(4);
  });
});

test.describe("federated files", () => {
  test("cosines are audited in the browser", async ({ page }) => {
    await page.goto("#v=1&view=federated&fed_claim=0.5");
    const input = page.getByLabel("Files of the training");
    await input.setInputFiles([file("cosines.csv", cosines(200, 2, 1e5))]);
    await expect(page.locator("#fed-found-head")).toContainText("number of trained parameters");
    const dimension = page.getByRole("textbox", { name: "Number of trained parameters" });
    await dimension.fill("100000");
    await dimension.press("Enter");
    await expect(page.locator(".verdict strong")).toHaveText("REFUTED");
    await expect(page.locator("pre.report")).toContainText(/canaries +200 added/);
    const command = page.locator("section:has(> #files-head) .command code");
    await expect(command).toHaveText(
      "dpscope audit federated --cosines cosines.csv --dimension 1e5 --delta 1e-5 --claim 0.5",
    );
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download JSON" }).click();
    expect((await download).suggestedFilename()).toBe("federated.json");
    await expectAccessible(page);
    await page.getByRole("combobox", { name: "Number of canaries" }).selectOption("poisson");
    await expect(command).toContainText("--design poisson:100");
    await page.getByRole("combobox", { name: "The attacker sees" }).selectOption("all_updates");
    await expect(page.locator("#fed-found-head")).toContainText("number of server rounds");
    const rounds = page.getByLabel("Server rounds", { exact: true });
    await rounds.fill("10");
    await rounds.press("Enter");
    await expect(page.locator("pre.report")).toContainText(/canaries +200 added/);
    await expect.poll(() => new URL(page.url()).hash).toContain("fed_server_rounds=10");
  });

  test("two models of a committed plan are audited in the browser", async ({ page }) => {
    await page.goto("#v=1&view=federated&fed_claim=1");
    const input = page.getByLabel("Files of the training");
    const head = page.locator("#fed-found-head");
    const folder = fileURLToPath(new URL("files/federated/", import.meta.url));
    await input.setInputFiles([`${folder}final.safetensors`, `${folder}initial.safetensors`]);
    await expect(head).toContainText("plan.json");
    await input.setInputFiles(
      ["plan.json", "seed.secret", "commitment.txt"].map((name) => folder + name),
    );
    await expect(page.locator(".verdict strong")).toHaveText("REFUTED");
    await expect(page.locator("pre.report")).toContainText("canaries    60 added");
    await expect(page.locator("section:has(> #files-head) .command code")).toHaveText(
      "dpscope audit federated --initial initial.safetensors --final final.safetensors --plan plan --claim 1",
    );
    await page.getByRole("button", { name: "Remove initial.safetensors" }).click();
    await expect(head).toContainText("initial model");
    await expectAccessible(page);
  });

  test("controls show whether the audit sees clients", async ({ page }) => {
    await page.goto("#v=1&view=federated&fed_claim=1&fed_parameters=100000");
    const input = page.getByLabel("Files of the training");
    const head = page.locator("#fed-found-head");
    const report = page.locator("pre.report");
    const command = page.locator("section:has(> #files-head) .command code");
    await input.setInputFiles([file("cosines.csv", cosines(200, -0.2, 1e5))]);
    await expect(report).toContainText("no evidence that the canaries took part");
    const control = page.getByRole("combobox", { name: "Control client" });
    await control.selectOption("included");
    await expect(head).toContainText("cosine of the control client");
    const cosine = page.getByRole("textbox", { name: "Cosine of the control client" });
    await cosine.fill("0.05");
    await cosine.press("Enter");
    await expect(report).toContainText("did not find more leakage");
    await expect(report).not.toContainText("no evidence");
    await expect(command).toContainText("--control-client included --control-cosine 0.05");
    await expect.poll(() => new URL(page.url()).hash).toContain("fed_control_cosine=0.05");
    await cosine.fill("-0.01");
    await cosine.press("Enter");
    await expect(report).toContainText(
      "the control client is known to have taken part, but is not seen",
    );
    await expectAccessible(page);
  });

  test("each refusal shows its place and what to do", async ({ page }) => {
    await page.goto("#v=1&view=federated&fed_parameters=100000");
    const input = page.getByLabel("Files of the training");
    for (const [content, ...parts] of [
      ["canary,cosine\n0,0.1\n1,1.5\n", "cosines.csv", "row 2", "divide the dot product"],
      ["canary,cosine\n0,0.1\n0,0.2\n", "canary 0 twice", "keep one row"],
      ["canary,cosine\n0,0.1\n7,0.2\n", "canary 7 in row 2", "correct the row"],
      ["canary,cosine\nnan,0.1\n", "canary NaN", "integers"],
      ["<img src=x onerror=alert(1)>", "cosines.csv"],
    ] as const) {
      await input.setInputFiles([file("cosines.csv", content)]);
      for (const part of parts) await expect(page.locator(".failure")).toContainText(part);
    }
    await expect(page.locator("main img")).toHaveCount(0);
    await expectAccessible(page);
    await input.setInputFiles([file("plan.json", "{}")]);
    await expect(page.locator("#fed-found-head")).toContainText("seed.secret");
    await input.setInputFiles([file("seed.secret", "00"), file("commitment.txt", "00")]);
    await expect(page.locator(".failure")).toContainText("is not a plan");
    await expect(page.getByText("The plan fixes all other settings.")).toBeVisible();
  });

  test("a file that is too large is left to the program, whose command is shown", async ({
    page,
  }) => {
    await page.goto("#v=1&view=federated&fed_parameters=100000");
    const input = page.getByLabel("Files of the training");
    await input.evaluate((element: HTMLInputElement) => {
      const huge = new File(["0.1"], "huge.csv");
      Object.defineProperty(huge, "size", { value: 2 ** 30 });
      // a DataTransfer would copy the file, and with it its size
      Object.defineProperty(element, "files", { value: [huge], configurable: true });
      element.dispatchEvent(new Event("change"));
    });
    await expect(page.locator(".file-list .refused")).toContainText("at most 64 MiB");
    await expect(page.locator("section:has(> #files-head) .command code")).toContainText(
      "dpscope audit federated --cosines huge.csv --dimension 1e5",
    );
    await page.getByRole("button", { name: "Remove huge.csv" }).click();
    await expect(page.locator("#fed-found-head")).toContainText("appear here");
  });
});
