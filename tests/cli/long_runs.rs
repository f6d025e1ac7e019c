//! Runs that are estimated to take long.

use crate::Folder;

/// Starts a run that would take years, without a terminal.
fn refused(folder: &Folder, words: &str) {
    let ended = folder.run(&format!("{words} --observations 1e15 --seed 1")).exits(2);
    let mut lines = ended.stderr.lines();
    let estimate = lines.next().unwrap_or_default();
    assert!(estimate.starts_with("this run is estimated to take "), "{words}: {}", ended.stderr);
    let error = lines.next().unwrap_or_default();
    assert!(error.starts_with("error: ") && error.contains("--yes"), "{words}: {}", ended.stderr);
    assert!(lines.next().is_none() && ended.stdout.is_empty(), "{words}: {ended:?}");
}

#[test]
fn very_long_runs_are_refused_without_a_terminal() {
    let folder = Folder::new();
    folder.write("settings.csv", "name,noise_multiplier,steps,epochs\na,1,100,1\n");
    refused(&folder, "audit bgm --noise-multiplier 1 --steps 100");
    refused(&folder, "compare --noise-multiplier 1 --steps 100");
    refused(&folder, "sweep settings.csv");
    refused(&folder, "reproduce table-1");
}
