/** The same elements from one file that contains the wasm modules: for bundlers, notebooks and `file://`. */

import { callsOf } from "./calls";
import { defineElements } from "./define";
import { packed } from "./packed";

defineElements(callsOf(packed));
