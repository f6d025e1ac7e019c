import { serve } from "../../../protocol/protocol";
import { api, init } from "./accounting";

serve(init(), api);
