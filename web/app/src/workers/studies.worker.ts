import { serve } from "../../../protocol/protocol";
import { api, init } from "./studies";

serve(init(), api);
