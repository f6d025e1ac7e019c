import init, { bound, bound_columns, counts } from "@dpscope/wasm/calculators";
import { answering } from "./answering";

answering(init(), { bound, bound_columns, counts });
