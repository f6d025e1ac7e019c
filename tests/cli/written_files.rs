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
    folder.run("merge c --out c").refuses(2, &["c: ", "--out would overwrite the input of FILE"]);
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

#[cfg(unix)]
#[test]
fn hard_links_and_their_targets_are_one_file() {
    let folder = Folder::new();
    folder.run(&format!("{SMALL} --out s1 --shard 1/2")).exits(0);
    folder.run(&format!("{SMALL} --out s2 --shard 2/2")).exits(0);
    std::fs::hard_link(folder.at("s1"), folder.at("link")).unwrap();
    let before = folder.read("s1");
    folder.run("merge s1 s2 --out link").refuses(2, &["link: ", "--out", "input of FILE"]);
    assert!(folder.read("s1") == before);
    folder.run("merge s1 s2 --out sum").exits(0);
}

#[test]
fn committed_files_are_never_overwritten() {
    let folder = Folder::new();
    let make = "canaries make directions --dimension 50 --count 10 --out canaries.npz";
    folder.run(make).exits(0);
    folder.run("plan one-run --canaries canaries.npz --out plan").exits(0);
    let federated = "plan federated --dimension 50 --design poisson:40 --out clients";
    folder.run(federated).exits(0);
    let before = folder.read("canaries.npz");
    folder.run(make).refuses(2, &["canaries.npz", "never overwritten", "choose another file"]);
    folder.write("like.npz", &before);
    let direction = "canaries direction --plan clients --index 0 --out";
    for (words, part) in [
        (
            "canaries optimise --count 20 --records 80 --metasteps 2 --out canaries.npz",
            "canaries are never overwritten",
        ),
        (&format!("{direction} plan/coins.npy"), "belongs to a committed plan"),
        (&format!("{direction} like.npz --like like.npz"), "input of --like"),
        (&format!("{SMALL} --checkpoint plan/plan.json"), "belongs to a committed plan"),
        (&format!("{SMALL} --out plan/commitment.txt"), "belongs to a committed plan"),
    ] {
        folder.run(words).refuses(2, &[part, "choose another file"]);
    }
    // nor a file that is not a direction
    folder.write("own.npy", crate::trainer::npy_f8(&[50], &[1.0; 50]));
    folder.run(&format!("{direction} own.npy")).refuses(2, &["own.npy", "other content"]);
    folder.run(&format!("{direction} c.npy")).exits(0);
    folder.run(&format!("{direction} c.npy")).exits(0);
    assert!(folder.read("canaries.npz") == before);
    folder.run("canaries verify canaries.npz --plan plan").exits(0);
}

#[cfg(unix)]
#[test]
fn outputs_are_as_secret_as_inputs_and_as_what_they_replace() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let mode =
        |name: &str| std::fs::metadata(folder.at(name)).unwrap().permissions().mode() & 0o777;
    let set = |name: &str, mode: u32| {
        set_permissions(folder.at(name), Permissions::from_mode(mode)).unwrap();
    };
    let report = format!("{SMALL} --report r.html --plot p.svg");
    folder.run(&report).exits(0);
    let new = mode("p.svg");
    set("r.html", 0o600);
    folder.run(&report).exits(0);
    assert_eq!([mode("r.html"), mode("p.svg")], [0o600, new]);

    let column = "[[columns]]\nname = \"x\"\nkind = \"integer\"\nlow = 0\nhigh = 1000000\n";
    folder.write("columns.toml", column);
    folder.write("data.csv", "x\n1\n2\n3\n");
    let rows = "canaries rows --data data.csv --columns columns.toml --rows 9 --count 20 --out";
    folder.run(&format!("{rows} public")).exits(0);
    set("data.csv", 0o600);
    folder.run(&format!("{rows} private")).exits(0);
    let names = ["public/data/with.csv", "private/data/with.csv", "public/coins.npy"];
    assert_eq!(names.map(mode), [new, 0o600, 0o600]);
}

#[test]
fn temporary_files_of_killed_programs_are_removed() {
    let folder = Folder::new();
    folder.write("r.html.0123456789abcdef.dpscope.tmp", "half a report");
    folder.run(&format!("{SMALL} --report r.html")).exits(0);
    let make = "canaries make directions --dimension 50 --count 10 --out canaries.npz";
    folder.run(make).exits(0);
    folder.write("plan/unfinished.dpscope.tmp/plan.json", "{");
    if cfg!(unix) {
        folder.run("plan one-run --canaries canaries.npz --out plan").exits(0);
        assert!(!folder.at("plan/unfinished.dpscope.tmp").exists());
    }
    assert_eq!(folder.names(), ["canaries.npz", "plan", "r.html"]);
}
