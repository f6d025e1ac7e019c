import init, { check, curve, epoch, pair, pair_estimate, scores } from "@dpscope/wasm/studies";
import { answering } from "./answering";

answering(init(), { check, curve, epoch, pair, pair_estimate, scores });
