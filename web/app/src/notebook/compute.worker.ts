/** Serves one of the bundles of Explore, which the first message names and contains. */

import { serve } from "../../../protocol/protocol";
import * as accounting from "../workers/accounting";
import * as studies from "../workers/studies";
import * as theory from "../workers/theory";

const bundles = { accounting, studies, theory };

/** What a worker computes with. */
export interface Bundle {
  name: keyof typeof bundles;
  /** Its wasm module, compressed with gzip. */
  module: Uint8Array<ArrayBuffer>;
}

async function inflated(module: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const bytes = new Blob([module]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(bytes).arrayBuffer();
}

const scope = self as unknown as DedicatedWorkerGlobalScope;
scope.onmessage = ({ data: { name, module } }: MessageEvent<Bundle>) => {
  const { api, init } = bundles[name];
  const ready = inflated(module).then((bytes): Promise<unknown> => init({ module_or_path: bytes }));
  serve(ready, api, scope);
};
