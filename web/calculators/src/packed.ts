/** `dpscope-compute` and the wasm modules inside of one file, compressed. */

import { modules, worker } from "virtual:packed";
import type { Parts } from "./calls";
import * as compute from "./dpscope-compute";

let address: Promise<string> | undefined;

export const packed: Parts = {
  sources: () => ({
    accounting: bytes(modules.accounting),
    calculators: bytes(modules.calculators),
    one_shot: bytes(modules.one_shot),
    pate: bytes(modules.pate),
  }),
  // not a module: pages from disk cannot start one
  async worker() {
    address ??= unpacked();
    return { address: await address, type: "classic" };
  },
  imported: async () => compute,
};

async function unpacked(): Promise<string> {
  const script = new Blob([bytes(worker)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return URL.createObjectURL(
    new Blob([await new Response(script).blob()], { type: "text/javascript" }),
  );
}

function bytes(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}
