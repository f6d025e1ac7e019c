import { chromium } from "playwright-core";
const [,, hash, out, width="1280", gpu="", wait="8000", click="Train"] = process.argv;
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", ...(gpu==="gpu"?["--enable-unsafe-webgpu","--use-webgpu-adapter=swiftshader"]:["--disable-features=WebGPU"])] });
const page = await browser.newPage({ viewport: { width: Number(width), height: 1000 } });
page.on("console", m => { if (m.type()==="error") console.log("console:", m.text()); });
page.on("pageerror", e => console.log("error:", e.message));
await page.goto("http://127.0.0.1:8123/"+hash);
await page.waitForTimeout(2500);
if (click) { await page.getByRole("button",{name: click, exact:true}).click(); }
const t0 = Date.now();
if (click) await page.waitForFunction(() => document.querySelector("progress")?.value > 0, null, {timeout: 120000}).catch(e=>console.log("no progress"));
console.log("first score after", Date.now()-t0, "ms");
await page.waitForTimeout(Number(wait));
console.log(await page.evaluate(() => document.querySelector(".bar-row .small, .progress .small")?.textContent));
await page.screenshot({ path: out, fullPage: true });
await browser.close();
