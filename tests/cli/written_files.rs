//! Files that a command writes: none twice, and none that it reads.

use crate::{Folder, SMALL};

const TRAINED: &str = "audit dpsgd --batch-size 20 --records 200 --noise-multiplier 1 --runs 4";

#[test]
fn writing_a_file_twice_is_rejected() {
    let folder = Folder::new();
    for (words, parts) in [
        (
            format!("{TRAINED} --plot z.svg --outputs-to z.svg"),
            ["z.svg: ", "--plot", "--outputs-to"],
        ),
        (format!("{TRAINED} --out x.part --outputs-to x"), ["x.part: ", "--out", "--outputs-to"]),
        (
            format!("{SMALL} --checkpoint z.svg --plot ./z.svg"),
            ["z.svg: ", "--checkpoint", "--plot"],
        ),
        (format!("{SMALL} --out z.csv --curves ././z.csv"), ["z.csv: ", "--out", "--curves"]),
        (format!("{SMALL} --plot z.json --curves z.json"), ["z.json: ", "--plot", "--curves"]),
    ] {
        let parts = [&parts[..], &["would both write this file", "choose another file"]].concat();
        folder.run(&words).refuses(2, &parts);
        assert!(folder.names().is_empty(), "{words}");
    }
    folder.run(&format!("{SMALL} --plot z.svg --curves z.csv --out z")).exits(0);
    assert_eq!(folder.names(), ["z", "z.csv", "z.svg"]);
}

#[test]
fn overwriting_an_input_is_rejected() {
    let folder = Folder::new();
    folder.run(&format!("{SMALL} --checkpoint c --shard 1/2")).exits(0);
    for name in ["in.npy", "runs.npz", "s.csv", "d.svg", "m"] {
        folder.write(name, "of the user");
    }
    let before = folder.names().into_iter().map(|name| folder.read(&name)).collect::<Vec<_>>();
    for (words, parts) in [
        ("audit scores --target in.npy --zero-out c --plot in.npy", ["--plot", "--target"]),
        ("audit outputs runs.npz --curves ./runs.npz", ["--curves", "RUNS"]),
        ("sweep s.csv --csv s.csv", ["--csv", "SETTINGS.CSV"]),
        (&format!("{TRAINED} --data d.svg --plot d.svg"), ["--plot", "--data"]),
        (&format!("{TRAINED} --model m --outputs-to m"), ["--outputs-to", "--model"]),
        (&format!("{TRAINED} --model m --checkpoint m"), ["--checkpoint", "--model"]),
    ] {
        let parts = [&parts[..], &["would overwrite", "choose another file"]].concat();
        folder.run(words).refuses(2, &parts);
    }
    folder.run("merge c --plot c").refuses(2, &["c: ", "--plot would overwrite the input of FILE"]);
    folder.run("resume c --curves c").refuses(2, &["c: ", "CHECKPOINT", "--curves", "both write"]);
    let after = folder.names().into_iter().map(|name| folder.read(&name)).collect::<Vec<_>>();
    assert!(before == after);
    // counts of one plan may take each other's place
    folder.run("resume c --out c").exits(0);
}

#[cfg(unix)]
#[test]
fn links_and_their_targets_are_one_file() {
    let folder = Folder::new();
    folder.run(&format!("{SMALL} --plot z.svg")).exits(0);
    std::os::unix::fs::symlink("z.svg", folder.at("link.svg")).unwrap();
    let words = format!("{SMALL} --checkpoint z.svg --plot link.svg");
    folder.run(&words).refuses(2, &["link.svg: ", "--checkpoint", "--plot"]);
}
