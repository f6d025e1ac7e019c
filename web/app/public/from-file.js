// Modules do not load from a file:// address, so a plain script has to report it.
if (location.protocol === "file:") {
  const note = document.getElementById("from-file");
  if (note !== null) {
    note.hidden = false;
    document.body.prepend(note);
  }
}
