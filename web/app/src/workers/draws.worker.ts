import init, { epoch, pair, scores } from "@dpscope/wasm/calculators";
import { answering } from "./answering";

answering(init(), { pair, epoch, scores });
