// `node tests/rates.js [OBSERVATIONS [SETTINGS…]]`: normals per second of audits in the built app, on
// WebGPU and in workers, or with the named settings of a link.

import { chromium } from "@playwright/test";
import { installed, WEBGPU } from "./chromium.js";

const url = process.env.DPSCOPE_URL;
const [observations = "1e6", ...named] = process.argv.slice(2);
const usual = ["device=gpu&float_mode=fast", "device=gpu&float_mode=exact", "device=cpu"];
if (!url) throw new Error("DPSCOPE_URL is the address of `dpscope serve`");

const browser = await chromium.launch({
  executablePath: installed(),
  args: ["--no-sandbox", ...WEBGPU],
});
const page = await browser.newPage();
await page.goto(url);
const adapter = await page.evaluate(`(async () => {
  const { vendor, architecture, device, description } = (await navigator.gpu.requestAdapter()).info;
  return [vendor, architecture, device, description].join(" ");
})()`);
console.log(`${browser.version()}, ${adapter}, ${observations} observations`);

for (const steps of [100, 1000]) {
  for (const mode of named.length > 0 ? named : usual) {
    for (const round of [1, 2, 3]) {
      await page.evaluate("localStorage.clear()");
      await page.goto("about:blank");
      await page.goto(
        `${url}#v=1&steps=${steps}&observations=${observations}&seed=${round}&${mode}`,
      );
      await page.getByRole("button", { name: "Start the audit" }).click();
      await page
        .locator(".outcome .under", { hasText: "confidence" })
        .waitFor({ timeout: 300_000 });
      const rates = await page.evaluate("localStorage.getItem('dpscope-rates')");
      console.log(`T = ${steps}, ${mode}, run ${round}: ${rates} normals/s`);
    }
  }
}
await browser.close();
