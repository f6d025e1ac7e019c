import { serve } from "../../../protocol/protocol";
import { api, init } from "./theory";

serve(init(), api);
