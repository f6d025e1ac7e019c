/** The calculators in the pages of documentation tools, in a frame, and among hostile values. */

import { execFileSync } from "node:child_process";
import type { Page } from "@playwright/test";
import values from "../calculators/agreement/values.json" with { type: "json" };
import manifest from "../calculators/package.json" with { type: "json" };
import type { DpscopeDetail, ErrorDetail } from "../calculators/src/types";
import { expect, expectAccessible, isBuilt, test } from "./page";

const TOOLS = ["html", "mdbook", "mkdocs", "sphinx"];
const CALCULATORS = [
  "epsilon",
  "noise",
  "counts",
  "one-run",
  "one-shot",
  "pate",
  "matrix",
  "plan",
  "shuffle-gap",
];
const HTML = "./pages/html/index.html";

/** Paths of the wasm files that were fetched, from now on. */
function wasmOf(page: Page): string[] {
  const paths: string[] = [];
  page.context().on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.endsWith(".wasm")) paths.push(pathname);
  });
  return paths;
}

/** Instances of the bundle that all calculators but one share. */
function instances(wasm: readonly string[]): number {
  return wasm.filter((path) => path.endsWith("dpscope_calculators_bg.wasm")).length;
}

/** Scrolls a calculator into view and waits for its answer. */
async function answered(page: Page, name: string): Promise<string> {
  const calculator = page.locator(`dpscope-${name}`).first();
  await calculator.scrollIntoViewIfNeeded();
  const result = calculator.locator(".result[aria-busy=false]");
  await expect(result).toBeVisible();
  return ((await result.textContent()) ?? "").replaceAll("\u00a0", " ");
}

/** The details of all events of a page, from before its scripts. */
async function listen(page: Page): Promise<() => Promise<DpscopeDetail[]>> {
  await page.addInitScript(() => {
    const details: unknown[] = [];
    Object.assign(window, { details });
    document.addEventListener("dpscope-result", ({ detail }) => details.push(detail));
  });
  return () => page.evaluate(() => (window as unknown as { details: DpscopeDetail[] }).details);
}

/** A page of our own beside the fixture's files. */
async function showPage(page: Page, content: string): Promise<void> {
  const script = `<script type="module" src="./dpscope/dpscope-calculators.js"></script>`;
  const head = `<meta charset="utf-8"><title>Test</title>${script}`;
  const body = `<main><h1>Test</h1>${content}</main>`;
  await page.route("**/pages/html/test.html", (route) =>
    route.fulfill({
      contentType: "text/html",
      body: `<!doctype html><html lang="en"><head>${head}</head><body>${body}</body></html>`,
    }),
  );
  await page.goto("./pages/html/test.html");
}

for (const tool of TOOLS) {
  test(`calculators in a page of ${tool} share one instance and work offline`, async ({
    page,
    context,
  }) => {
    test.skip(!isBuilt(tool), `${tool} is not installed`);
    const wasm = wasmOf(page);
    await page.goto(`./pages/${tool}/index.html`);
    expect(await answered(page, "epsilon")).toContain("ε ≥ 4.0631");
    expect(await answered(page, "noise")).toContain("σ = 1.0812");
    expect(await answered(page, "counts")).toContain("ε ≥ 3.1531");
    expect(await answered(page, "plan")).toContain("n ≥ 104,724");
    expect(await answered(page, "shuffle-gap")).toContain("5.6 times");
    expect(instances(wasm)).toBe(1);
    await context.setOffline(true);
    await page.locator("dpscope-counts").getByLabel("False positives").fill("30");
    await expect(page.locator("dpscope-counts .result")).not.toContainText("3.1531");
    await expect(page.locator("dpscope-counts .result")).toContainText("lower bound");
    expect(instances(wasm)).toBe(1);
  });
}

test("an event contains result, settings and command", async ({ page }) => {
  const heard = await listen(page);
  await page.goto(HTML);
  for (const name of CALCULATORS) await answered(page, name);
  const details = await heard();
  expect(details.map(({ calculator }) => calculator).sort()).toEqual([...CALCULATORS].sort());
  const epsilon = details.find((detail) => detail.calculator === "epsilon");
  const expected = values.find(({ calculator }) => calculator === "epsilon");
  expect(epsilon?.command).toBe(expected?.command);
  expect(epsilon?.settings).toEqual(expected?.settings);
  expect(epsilon?.result.lower?.epsilon).toBeCloseTo(Number(expected?.expected.lower), 11);
  expect(epsilon?.version).toBe(manifest.version);
});

test("uniform subsets and correlated noise load a bundle of their own", async ({ page }) => {
  const wasm = wasmOf(page);
  await showPage(
    page,
    `<dpscope-epsilon></dpscope-epsilon><dpscope-matrix steps="100"></dpscope-matrix>`,
  );
  await answered(page, "epsilon");
  const epsilon = page.locator("dpscope-epsilon");
  const uses = epsilon.getByLabel("Batches with a record, per epoch");
  await expect(uses).toHaveCount(0);
  await epsilon.getByLabel("How batches are drawn").selectOption("random-allocation");
  await uses.fill("5");
  await expect(epsilon.locator(".result")).toContainText(
    "Randomly allocated batches leak at least",
  );
  await uses.fill("200");
  await expect(epsilon.locator(".result")).toContainText(
    "Batches with a record, per epoch is 200; it must be a whole number from 1",
  );
  await epsilon.getByLabel("How batches are drawn").selectOption("fixed-size");
  await expect(epsilon.locator(".result")).toContainText(
    "Batches of fixed size, drawn anew leak at most",
  );
  expect(await answered(page, "matrix")).toContain("ε of every participant, at most");
  await page.locator("dpscope-matrix").getByText("All strategies at this ε").click();
  await expect(page.locator("dpscope-matrix tbody tr")).toHaveCount(5);
  expect(wasm.filter((path) => path.endsWith("dpscope_accounting_bg.wasm"))).toHaveLength(1);
  expect(instances(wasm)).toBe(1);
});

test("attributes and properties agree, and a change computes again", async ({ page }) => {
  const heard = await listen(page);
  await showPage(page, `<dpscope-counts false-positives="0" delta="1e-6"></dpscope-counts>`);
  await answered(page, "counts");
  const counts = page.locator("dpscope-counts");
  await counts.evaluate((element) => Object.assign(element, { falseNegatives: 12 }));
  await expect(counts).toHaveAttribute("false-negatives", "12");
  await counts.evaluate((element) => element.setAttribute("target-trials", "2000"));
  await expect(counts.getByLabel("Runs with the record", { exact: true })).toHaveValue("2000");
  const newest = async () => (await heard()).at(-1)?.settings;
  await expect.poll(newest).toMatchObject({
    false_positives: 0,
    false_negatives: 12,
    target_trials: 2000,
    delta: 1e-6,
  });
  await counts.getByLabel("False positives").fill("5");
  await expect(counts).toHaveAttribute("false-positives", "5");
  await expect.poll(newest).toMatchObject({ false_positives: 5 });
});

test("an invalid input keeps the last answer and is reported", async ({ page }) => {
  await showPage(page, `<dpscope-counts></dpscope-counts>`);
  const before = await answered(page, "counts");
  const input = page.getByLabel("Significance");
  const problem = page.locator(".problem");
  await input.fill("2");
  await expect(input).toHaveAttribute("aria-invalid", "true");
  await expect(problem).toHaveText(/Significance is “2”; it must be a number from/);
  expect(await answered(page, "counts")).toBe(before);
  await input.blur();
  await expect(input).toHaveValue("0.5");
  await expect(problem).toHaveText(/0\.5 is used/);
  await input.fill("0.05");
  await expect(problem).toHaveCount(0);
});

test("the message of a refused setting is shown", async ({ page }) => {
  await showPage(page, `<dpscope-counts false-positives="2000">was 3.15</dpscope-counts>`);
  await expect(page.locator("dpscope-counts .problem")).toContainText(
    "False positives must be at most Runs without the record",
  );
  await expect(page.getByRole("button", { name: "Copy CLI command" })).toHaveCount(0);
  await expect(page.locator("dpscope-counts slot:not([name])")).toHaveCount(0);
  await page.getByLabel("False positives").fill("12");
  expect(await answered(page, "counts")).toContain("ε ≥ 3.1531");
});

test("hostile attributes are text, and are clamped", async ({ page }) => {
  const dialogs: string[] = [];
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  const evil = "&lt;img src=x onerror=alert(1)&gt;";
  await showPage(
    page,
    `<dpscope-epsilon sampler="${evil}" noise-multiplier="${evil}" steps="1e999" epochs="NaN" delta="-1">
     </dpscope-epsilon>
     <dpscope-plan epsilon="${"9".repeat(100_000)}" threshold-rule="__proto__"></dpscope-plan>`,
  );
  const epsilon = page.locator("dpscope-epsilon");
  await expect(epsilon.locator(".fields .problem")).toHaveCount(5);
  await expect(epsilon.locator(".problem").first()).toContainText(
    "How batches are drawn is “<img src=x",
  );
  for (const [name, value] of [
    ["sampler", "shuffle"],
    ["noise-multiplier", "1"],
    ["steps", "1e6"],
    ["epochs", "1"],
    ["delta", "1e-15"],
  ] as const) {
    await expect(epsilon).toHaveAttribute(name, value);
  }
  await expect(page.locator("dpscope-plan .problem")).toHaveCount(2);
  await answered(page, "plan");
  await expect(page.locator("img")).toHaveCount(0);
  expect(dialogs).toEqual([]);
});

test("a value stands in its sentence, and its content where there is none", async ({ page }) => {
  const heard = await listen(page);
  await showPage(
    page,
    `<p id="good">We claim <dpscope-value quantity="poisson-epsilon" noise-multiplier="1" steps="100">about 0.7</dpscope-value>.</p>
     <p id="bad">It is <dpscope-value quantity="poisson-epsilon" noise-multiplier="one">unknown</dpscope-value>.</p>
     <p id="none">It is <dpscope-value quantity="epsilon"></dpscope-value>.</p>
     <p id="refused">It is <dpscope-value quantity="audit-epsilon" false-positives="2000">unknown</dpscope-value>.</p>`,
  );
  const value = page.locator("#good dpscope-value");
  await expect(value.locator("bdi")).toHaveText("ε\u00a0≤\u00a00.7181");
  await expect(value.locator("bdi")).toHaveAttribute(
    "title",
    /^upper bound, proven; dpscope bound/,
  );
  await expect(page.locator("#bad slot")).toHaveAttribute("title", /Noise multiplier is “one”/);
  await expect(page.getByText("unknown").first()).toBeVisible();
  await expect(page.locator("#none slot")).toHaveText(/quantity must be one of poisson-epsilon/);
  await expect(page.locator("#refused slot")).toHaveAttribute("title", /^False positives must be/);
  const details = async () => (await heard()).map(({ calculator }) => calculator);
  await expect.poll(details).toEqual(["value"]);
  await value.evaluate((element) => element.setAttribute("quantity", "shuffle-epsilon"));
  await expect(value.locator("bdi")).toHaveText("ε\u00a0≥\u00a04.0631");
  await expectAccessible(page);
});

test("a failure is an event", async ({ page }) => {
  await page.addInitScript(() => {
    const failures: unknown[] = [];
    Object.assign(window, { failures });
    document.addEventListener("dpscope-error", ({ detail }) => failures.push(detail));
  });
  await showPage(
    page,
    `<dpscope-counts false-positives="2000"></dpscope-counts>
     <dpscope-value quantity="poisson-epsilon" steps="0"></dpscope-value>`,
  );
  const failures = () =>
    page.evaluate(() => (window as unknown as { failures: ErrorDetail[] }).failures);
  await expect.poll(async () => (await failures()).length).toBe(2);
  const seen = (await failures()).sort((one, other) =>
    one.calculator < other.calculator ? -1 : 1,
  );
  expect(seen.map(({ calculator }) => calculator)).toEqual(["counts", "value"]);
  expect(seen.map(({ failure }) => failure.kind)).toEqual(["input", "input"]);
  expect(seen[0]?.settings).toMatchObject({ false_positives: 2000 });
});

test("a page in another direction keeps the order of numbers", async ({ page }) => {
  await showPage(
    page,
    `<div lang="he" dir="rtl"><dpscope-counts></dpscope-counts>
     <p>שלום <dpscope-value quantity="poisson-epsilon"></dpscope-value></p></div>`,
  );
  await answered(page, "counts");
  await expect(page.locator("dpscope-counts .box")).toHaveCSS("direction", "ltr");
  const bdi = page.locator("dpscope-value bdi");
  await expect(bdi).toHaveText("ε\u00a0≤\u00a00.7181");
  await expect(bdi).toHaveCSS("direction", "ltr");
});

test("calculators are no landmarks, and two of a kind stand on one page", async ({ page }) => {
  const two = "<dpscope-shuffle-gap></dpscope-shuffle-gap>".repeat(2);
  await showPage(page, two);
  for (const calculator of await page.locator("dpscope-shuffle-gap").all()) {
    await calculator.scrollIntoViewIfNeeded();
    await expect(calculator.locator(".result[aria-busy=false]")).toBeVisible();
    await calculator.getByText("Data of the chart").click();
  }
  await expect(page.getByRole("region")).toHaveCount(0);
  await expectAccessible(page);
});

test("what loads is readable", async ({ page }) => {
  await page.route("**/*.wasm", () => undefined); // it never arrives
  await showPage(page, `<dpscope-plan></dpscope-plan>`);
  await expect(page.locator("dpscope-plan .result")).toHaveText("Loading …");
  await expectAccessible(page);
});

test("the module loaded twice is still one instance", async ({ page }) => {
  const wasm = wasmOf(page);
  await page.goto(HTML);
  await answered(page, "epsilon");
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.type = "module";
    script.src = "./dpscope/dpscope-calculators.js?again";
    document.head.append(script);
    return new Promise((loaded) => script.addEventListener("load", () => loaded(null)));
  });
  for (const name of CALCULATORS) await answered(page, name);
  expect(instances(wasm)).toBe(1);
});

test("nothing is fetched for a calculator outside the view", async ({ page }) => {
  const wasm = wasmOf(page);
  await showPage(page, `<svg width="10" height="5000"></svg><dpscope-plan></dpscope-plan>`);
  await expect(page.locator("dpscope-plan .result")).toHaveText("Loading …");
  expect(wasm).toHaveLength(0);
  await answered(page, "plan");
  expect(wasm).toHaveLength(1);
});

test("canaries have a bundle of their own, loaded once by the first of them", async ({ page }) => {
  const wasm = wasmOf(page);
  await showPage(page, `<dpscope-one-shot></dpscope-one-shot><dpscope-one-run></dpscope-one-run>`);
  expect(await answered(page, "one-shot")).toMatch(/ε ≥ [1-7]\.\d\d/);
  expect(await answered(page, "one-run")).toContain("ε ≥");
  const names = wasm.map((path) => path.split("/").at(-1)).sort();
  expect(names).toEqual(["dpscope_calculators_bg.wasm", "dpscope_one_shot_bg.wasm"]);
});

test("votes of teachers have a bundle of their own, and say when they teach nothing", async ({
  page,
}) => {
  const wasm = wasmOf(page);
  await showPage(page, `<dpscope-pate></dpscope-pate>`);
  const text = await answered(page, "pate");
  expect(text).toContain("ε ≤ 0.3455");
  expect(text).toContain("teach the student almost nothing");
  const names = wasm.map((path) => path.split("/").at(-1)).sort();
  expect(names).toEqual(["dpscope_calculators_bg.wasm", "dpscope_pate_bg.wasm"]);
});

test("a page can set colours and parts", async ({ page }) => {
  await showPage(
    page,
    `<style>
       dpscope-plan { --dpscope-accent: rgb(1, 2, 3); }
       dpscope-plan::part(value) { color: rgb(4, 5, 6); }
       dpscope-plan::part(about) { display: none; }
     </style>
     <dpscope-plan></dpscope-plan>`,
  );
  await answered(page, "plan");
  await expect(page.locator("dpscope-plan .figure")).toHaveCSS("border-left-color", "rgb(1, 2, 3)");
  await expect(page.locator("dpscope-plan .value")).toHaveCSS("color", "rgb(4, 5, 6)");
  await expect(page.locator("dpscope-plan .about")).toBeHidden();
});

test("the slider and its number move together, by keyboard", async ({ page }) => {
  await showPage(page, `<dpscope-shuffle-gap></dpscope-shuffle-gap>`);
  await answered(page, "shuffle-gap");
  const [slider, number] = [page.getByRole("slider"), page.getByRole("textbox").first()];
  await page.keyboard.press("Tab");
  await expect(slider).toBeFocused();
  await page.keyboard.press("End");
  await expect(number).toHaveValue("4");
  await expect(page.locator("dpscope-shuffle-gap")).toHaveAttribute("noise-multiplier", "4");
  await number.fill("0.4");
  await expect(slider).toHaveValue("0");
  await page.getByText("Data of the chart").click();
  await expect(page.locator("dpscope-shuffle-gap tbody tr")).toHaveCount(21);
  await expect(page.locator("dpscope-shuffle-gap .chart path.lower").last()).toHaveAttribute(
    "d",
    /^M.*(L.*){20}$/,
  );
});

test("a screen reader hears what the reader changed, and nothing of the load", async ({ page }) => {
  await showPage(page, `<dpscope-counts></dpscope-counts>`);
  await answered(page, "counts");
  const heard = page.locator("[aria-live]");
  await expect(heard).toHaveText("");
  await page.getByLabel("False positives").fill("1000");
  await expect(heard).toHaveText(/did not find any leakage/);
});

for (const name of ["dpscope-calculators", "dpscope-calculators-inline"])
  test(`a server may import ${name}: nothing is defined, nothing fetched`, () => {
    const module = new URL(`../dist/calculators/${name}.js`, import.meta.url).href;
    const script = `globalThis.fetch = () => { throw new Error("fetched"); };
    process.stdout.write(String(Object.keys(await import(${JSON.stringify(module)})).length));`;
    const options = ["--input-type=module", "--eval", script];
    expect(execFileSync(process.execPath, options, { encoding: "utf8" })).toBe("0");
  });

test("the command line is copied", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await showPage(page, `<dpscope-plan></dpscope-plan>`);
  await answered(page, "plan");
  await page.getByRole("button", { name: "Copy CLI command" }).click();
  await expect(page.getByRole("status")).toHaveText("Copied");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toBe(await page.locator("dpscope-plan code").textContent());
  expect(copied).toMatch(/^dpscope plan --epsilon 9 --delta 1e-5/);
});

for (const theme of ["light", "dark", "forced"] as const) {
  test(`axe finds nothing in ${theme} colours`, async ({ page }) => {
    if (theme === "forced") await page.emulateMedia({ forcedColors: "active" });
    else await page.emulateMedia({ colorScheme: theme });
    await page.goto(HTML);
    for (const name of CALCULATORS) await answered(page, name);
    for (const summary of await page.locator("summary").all()) await summary.click();
    await expectAccessible(page);
  });
}

/** Serves a file with another policy. */
async function withPolicy(page: Page, file: string, policy: string): Promise<void> {
  await page.route(`**/${file}`, async (route) => {
    const response = await route.fetch();
    const headers = { ...response.headers(), "content-security-policy": policy };
    await route.fulfill({ response, headers });
  });
}

test("a page without workers computes by itself", async ({ page, heard }) => {
  await withPolicy(page, "index.html", "worker-src 'none'");
  await page.goto(HTML);
  expect(await answered(page, "epsilon")).toContain("ε ≥ 4.0631");
  expect(heard.splice(0).join()).toContain("worker");
});

test("a policy without wasm is reported, and the content of the element is shown", async ({
  page,
  heard,
}) => {
  await withPolicy(page, "index.html", "script-src 'self'; worker-src 'none'");
  await page.goto(HTML);
  await expect(page.locator("dpscope-epsilon .problem")).toContainText("could not be loaded");
  await expect(page.locator("dpscope-epsilon slot:not([name])")).toHaveCount(1);
  // messages arrive in order, and those of the policy may still be on their way
  const last = page.waitForEvent("console", (message) => message.text() === "last");
  await page.evaluate(() => console.log("last"));
  await last;
  heard.splice(0);
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });
  test("the content of the element is shown", async ({ page }) => {
    await page.goto(HTML);
    await expect(page.getByText("shuffled, ε ≥ 4.0631")).toBeVisible();
  });
});

test("a frame posts its height, and its host ignores other senders", async ({ page }) => {
  await page.goto("./pages/html/iframe.html");
  const frame = page.locator("iframe");
  const inside = page.frameLocator("iframe").locator("dpscope-counts");
  await expect(inside.getByLabel("False positives")).toHaveValue("3");
  await expect(inside.locator(".value")).toBeVisible();
  const height = async () => (await frame.boundingBox())?.height ?? 0;
  const missing = async () =>
    Math.ceil((await inside.boundingBox())?.height ?? 0) - (await height());
  await expect.poll(missing).toBe(0);
  const before = await height();
  await inside.getByText("Method").click();
  await expect.poll(height).toBeGreaterThan(before);
  await expect.poll(missing).toBe(0);
  const open = await height();
  await page.evaluate(async () => {
    const arrived = new Promise((done) => addEventListener("message", done, { once: true }));
    window.postMessage({ type: "dpscope:resize", height: 9 }, "*");
    await arrived;
  });
  expect(await height()).toBe(open);
});

test("the page for frames has every calculator", async ({ page }) => {
  for (const name of CALCULATORS) {
    await page.goto(`./calculators/embed.html?calculator=${name}`);
    await expect(page.locator(`dpscope-${name} .title`)).toBeVisible();
  }
});

test("the page for frames refuses unknown calculators and attributes", async ({ page }) => {
  const address = "./calculators/embed.html";
  await page.goto(`${address}?calculator=${encodeURIComponent("<b>x</b>")}`);
  await expect(page.getByText("There is no such calculator")).toBeVisible();
  await page.goto(
    `${address}?calculator=plan&epsilon=5&onclick=alert(1)&style=color:red&theme=dark`,
  );
  const plan = page.locator("dpscope-plan");
  await expect(plan).toHaveAttribute("epsilon", "5");
  for (const name of ["onclick", "style"]) expect(await plan.getAttribute(name)).toBeNull();
  await answered(page, "plan");
  await expectAccessible(page);
});
