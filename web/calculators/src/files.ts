/**
 * `dpscope-compute.js` and the wasm modules as files beside this one. Each address is written so that
 * bundlers find the file and copy it; none of the files contains an address.
 */

import type { Parts } from "./calls";

export const files: Parts = {
  sources: () => ({
    accounting: new URL(/* @vite-ignore */ "./dpscope_accounting_bg.wasm", import.meta.url).href,
    calculators: new URL(/* @vite-ignore */ "./dpscope_calculators_bg.wasm", import.meta.url).href,
    one_shot: new URL(/* @vite-ignore */ "./dpscope_one_shot_bg.wasm", import.meta.url).href,
    pate: new URL(/* @vite-ignore */ "./dpscope_pate_bg.wasm", import.meta.url).href,
  }),
  async worker() {
    const { href } = new URL(/* @vite-ignore */ "./dpscope-compute.js", import.meta.url);
    return { address: href, type: "module" };
  },
  imported: () => import("./dpscope-compute.js"),
};
