import init, { bound, bound_columns, check, counts, curve } from "@dpscope/wasm/calculators";
import { answering } from "./answering";

answering(init(), { bound, bound_columns, check, counts, curve });
