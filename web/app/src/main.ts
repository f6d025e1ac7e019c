import { render } from "lit";
import { Page } from "./page";
import { shell } from "./views/shell";

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
}
