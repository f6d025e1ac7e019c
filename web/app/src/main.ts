import { render } from "lit/html.js";
import { Page } from "./page";
import { rememberedTheme } from "./theme";
import { shell } from "./views/shell";

rememberedTheme();
const root = document.getElementById("app");
if (root !== null) {
  const page = new Page((app) => {
    if (root.hasAttribute("data-painted")) {
      root.replaceChildren();
      root.removeAttribute("data-painted");
    }
    render(shell(app), root);
  });
  page.start();
  keepForOffline();
}

/** Once the page stands: every file is kept, so that nothing needs the network any more. */
function keepForOffline(): void {
  if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
  addEventListener("load", () => {
    // where a browser keeps nothing, the app works as long as it is online
    navigator.serviceWorker.register("./offline.js").catch(() => undefined);
  });
}
