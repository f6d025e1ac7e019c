/** Workers with the bundles of Explore, from inside of one file. */

import { modules } from "virtual:explore";
import type { WorkerLike } from "../../../protocol/protocol";
import type { Bundle } from "./compute.worker";
import ComputeWorker from "./compute.worker?worker&inline";

function started(name: Bundle["name"], base64: string): WorkerLike {
  const module = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const worker = new ComputeWorker({ name: `dpscope-${name}` });
  worker.postMessage({ name, module } satisfies Bundle, [module.buffer]);
  return worker;
}

export const spawn = {
  accounting: () => started("accounting", modules.accounting),
  studies: () => started("studies", modules.studies),
  theory: () => started("theory", modules.calculators),
};
