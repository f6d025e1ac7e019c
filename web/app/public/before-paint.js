// Runs before the first paint, whose figures are those of the default training: a link to another hides
// them until its own are computed. Modules do not load from a file:// address, where a note says so.
const { dataset } = document.documentElement;
if (location.protocol === "file:") dataset.opened = "from-file";
else if (!["", "#", "#v=1", "#v=2"].includes(location.hash)) dataset.opened = "from-link";
