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
  cacheForOffline();
}

/** Caches every file once the page has loaded, for offline use. */
function cacheForOffline(): void {
  if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
  addEventListener("load", () => {
    // without a cache the app works online
    navigator.serviceWorker.register("./offline.js").catch(() => undefined);
  });
}
