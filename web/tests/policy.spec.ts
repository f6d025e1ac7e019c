import { expect, test } from "./page";

test("the page runs under the policy of dpscope serve", async ({ page }) => {
  const response = await page.goto("./");
  expect(response?.headers()["content-security-policy"]).toContain(
    "script-src 'self' 'wasm-unsafe-eval'",
  );
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
  await expect(page.locator("body")).not.toBeEmpty();
});

test(
  "WebGPU is available in the projects of that name only",
  { tag: "@both" },
  async ({ page }, info) => {
    await page.goto("./");
    const has = await page.evaluate(async () => (await navigator.gpu?.requestAdapter()) != null);
    expect(has).toBe(info.project.name.startsWith("webgpu"));
  },
);

test("errors of a page are detected", async ({ page, heard }) => {
  await page.goto("./");
  await page.evaluate(() => {
    console.error("logged");
    setTimeout(() => {
      throw new Error("seen");
    });
    const script = document.createElement("script");
    script.text = "document.title = 'injected'";
    document.head.append(script);
  });
  await expect.poll(() => heard.filter((text) => text.startsWith("thrown")).length).toBe(1);
  const all = heard.splice(0).join("\n");
  for (const part of ["console: logged", "thrown: Error: seen", "Content Security Policy"]) {
    expect(all).toContain(part);
  }
  expect(await page.title()).not.toBe("injected");
  await page.route("**/bare", (route) => route.fulfill({ body: "no policy" }));
  await page.goto("./bare");
  await page.evaluate(() => fetch("http://127.0.0.1:9/").catch(() => undefined));
  expect(heard.splice(0).join()).toContain("asked: http://127.0.0.1:9/");
});
