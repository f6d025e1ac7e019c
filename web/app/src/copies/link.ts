import type { App } from "../app";

/** The address that reproduces the screen. */
export function linkOf(app: App): string {
  return new URL(app.store.hash, location.href).href;
}
