// Modules do not load from a file's address, and without them nothing else could say so.
if (location.protocol === "file:") {
  const told = document.getElementById("from-file");
  if (told !== null) {
    told.hidden = false;
    document.body.prepend(told);
  }
}
