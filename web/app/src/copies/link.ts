import type { App } from "../app";
import type { View } from "../state/fields";
import { formatHash } from "../state/hash";

/** The address that reproduces the screen. */
export function linkOf(app: App): string {
  return new URL(app.store.hash, location.href).href;
}

/** The same state in another view. */
export function linkTo(app: App, view: View): string {
  return formatHash({ ...app.state, view });
}
