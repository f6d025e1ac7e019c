import { nothing } from "lit/html.js";
import type { App } from "../app";

/** A view that is loaded, with the styles of such views, when it is first shown. */
export function lazy(load: () => Promise<(app: App) => unknown>): (app: App) => unknown {
  let view: ((app: App) => unknown) | undefined;
  let isLoading = false;
  return (app) => {
    if (view !== undefined) return view(app);
    if (!isLoading) {
      isLoading = true;
      Promise.all([import("../styles/views.css"), load()]).then(
        ([, loaded]) => {
          view = loaded;
          app.redraw();
        },
        () => {
          isLoading = false;
          app.announce("This view could not be loaded. Reload the page.");
        },
      );
    }
    return nothing;
  };
}
