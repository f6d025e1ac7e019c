/**
 * `<dpscope-epsilon>`, `<dpscope-noise>`, `<dpscope-counts>`, `<dpscope-one-run>`, `<dpscope-one-shot>`,
 * `<dpscope-pate>`, `<dpscope-matrix>`, `<dpscope-plan>`, `<dpscope-shuffle-gap>` and `<dpscope-value>`:
 * importing this module defines them. On a server it defines nothing.
 */

import { callsOf } from "./calls";
import { defineElements } from "./define";
import { files } from "./files";

export type * from "./types";

defineElements(callsOf(files));
