//! The lists of CONTRIBUTING name the files that an addition touches: the patches of `tests/additions`,
//! which `cargo xtask lists` applies and compiles, touch those and no others.
//!
//! A list is a table or a numbered list. Each of its items begins with a folder, in which later names are;
//! `NAME` stands for the name of what is added, which the first line of its patch has in backticks. Semicolons separate clauses. An addition touches every file
//! of a clause, one of them where they are joined by "or", and may touch none where the clause has an "if",
//! "only" or "unless"; a condition at the start of an item is one of all its clauses.

use crate::source::in_backticks;
use crate::tree::Tree;
use crate::{assert_none, assert_one};

/// Which items of a list an addition follows.
#[derive(Clone, Copy, PartialEq)]
enum Items {
    All,
    /// Items of which the addition touches a file: an item is about one kind of audit.
    OfOneAudit,
}

/// Patches, the sections that they follow, and which items of these.
const LISTS: [(&str, &str, Items); 4] = [
    ("sampler", "## Add a sampler\n", Items::All),
    ("command", "## Add a command\n", Items::All),
    ("finding", "## Add a finding\n", Items::OfOneAudit),
    ("layer", "## Add a layer\n", Items::All),
];

const ENDS: [&str; 8] = [".rs", ".wgsl", ".py", ".ts", ".md", ".toml", ".json", ".txt"];

/// How many of its files an addition touches.
#[derive(Clone, Copy, PartialEq)]
enum Touches {
    All,
    One,
    AnyNumber,
}

struct Clause {
    text: String,
    names: Vec<String>,
    touches: Touches,
}

/// Whether the tree has the file or the folder; of a name with a placeholder, the folder before it.
fn exists(tree: &Tree, name: &str) -> bool {
    let name = match name.split_once("NAME") {
        Some((before, _)) => before.rsplit_once('/').map_or("", |(folder, _)| folder),
        None => name,
    };
    tree.files().any(|(path, _)| covers(name, path))
}

/// Whether a file is the one with this name, or in the folder with this name.
fn covers(name: &str, path: &str) -> bool {
    path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The clauses of an item, and names that the tree does not have.
fn clauses(tree: &Tree, item: &str) -> Result<Vec<Clause>, String> {
    let mut folder = String::new();
    let has_condition =
        |text: &str| ["if ", "only ", "unless "].iter().any(|word| text.starts_with(word));
    let (first, rest) = item.split_once(": ").unwrap_or(("", item));
    let is_conditional = has_condition(item) || (!first.contains(' ') && has_condition(rest));
    let mut found = Vec::new();
    for text in item.split(';') {
        let mut names = Vec::new();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        names.extend(links.map(|(target, _)| target.to_owned()));
        let pieces: Vec<&str> = text.split('`').collect();
        for at in (1..pieces.len()).step_by(2) {
            let (piece, after) = (pieces[at], pieces.get(at + 1).unwrap_or(&""));
            let is_path = piece.contains('/') || ENDS.iter().any(|end| piece.ends_with(end));
            if !is_path || piece.contains([' ', ':', '(']) {
                continue;
            }
            let places = [format!("{folder}/{piece}"), format!("crates/{piece}"), piece.to_owned()];
            let name = places.into_iter().find(|name| exists(tree, name));
            let name =
                name.ok_or_else(|| format!("CONTRIBUTING names `{piece}`, which is nowhere"))?;
            if after.starts_with(':') && !tree.has(&name) && !name.contains("NAME") {
                folder = name;
            } else {
                names.push(name);
            }
        }
        let has = |words: &[&str]| text.split([' ', ',', ':']).any(|word| words.contains(&word));
        let touches = match () {
            () if is_conditional || has(&["if", "only", "unless"]) => Touches::AnyNumber,
            () if has(&["or"]) => Touches::One,
            () => Touches::All,
        };
        found.push(Clause { text: text.trim().to_owned(), names, touches });
    }
    if found.iter().all(|clause| clause.names.is_empty()) && !folder.is_empty() {
        found[0].names.push(folder);
    }
    Ok(found)
}

/// The items of a section: rows of a table, the first cell in front of a colon, or numbered ones.
fn items(section: &str) -> Vec<String> {
    let cells = |row: &str| row.split(" | ").map(str::to_owned).collect::<Vec<String>>();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let row = |row: &str| match &cells(row)[..] {
        [first, rest @ ..] if first.starts_with('`') => format!("{first}: {}", rest.join("; ")),
        [_, rest @ ..] => rest.join("; "),
        [] => String::new(),
    };
    let numbered = |line: &str| {
        let (number, rest) = line.split_once(". ")?;
        number.parse::<u32>().is_ok().then(|| rest.to_owned())
    };
    // the first row has the heads of columns
    rows.skip(1).map(row).chain(section.lines().filter_map(numbered)).collect()
}

fn check(tree: &Tree) -> Vec<String> {
    let lists =
        LISTS.iter().flat_map(|list| check_list(tree, list).unwrap_or_else(|why| vec![why]));
    lists.collect()
}

fn check_list(
    tree: &Tree,
    (name, head, followed): &(&str, &str, Items),
) -> Result<Vec<String>, String> {
    let path = format!("tests/additions/{name}.patch");
    let patch = tree.text(&path).ok_or_else(|| format!("{path} is missing"))?;
    let added = in_backticks(patch.lines().next().unwrap_or_default()).next();
    let added =
        added.ok_or_else(|| format!("the first line of {path} has no name in backticks"))?;
    let added = added.replace('-', "_");
    let heads = patch.lines().filter(|line| line.starts_with("diff --git "));
    let touched: Vec<&str> =
        heads.filter_map(|line| line.rsplit_once(" b/")).map(|(_, file)| file).collect();
    let all = tree.text("CONTRIBUTING.md").and_then(|text| text.split_once(head));
    let (_, section) =
        all.ok_or_else(|| format!("CONTRIBUTING has no section `{}`", head.trim()))?;
    let section = section.split("\n## ").next().unwrap_or(section);
    let items = items(section).into_iter().map(|item| clauses(tree, &item));
    let mut items = items.collect::<Result<Vec<_>, _>>()?;
    for name in items.iter_mut().flatten().flat_map(|clause| &mut clause.names) {
        *name = name.replace("NAME", &added);
    }
    let is_touched = |name: &String| touched.iter().any(|file| covers(name, file));
    let is_named = |file: &&&str| {
        let mut names = items.iter().flatten().flat_map(|clause| &clause.names);
        names.any(|name| covers(name, file))
    };
    let unnamed = touched.iter().filter(|file| !is_named(file));
    let mut problems: Vec<String> = unnamed
        .map(|file| format!("{path} touches {file}, which its list does not name"))
        .collect();
    let follows = |item: &&Vec<Clause>| {
        *followed == Items::All || item.iter().flat_map(|clause| &clause.names).any(is_touched)
    };
    for Clause { text, names, touches } in items.iter().filter(follows).flatten() {
        let missing: Vec<&String> = names.iter().filter(|name| !is_touched(name)).collect();
        let is_complete = match touches {
            Touches::All => missing.is_empty(),
            Touches::One => names.is_empty() || missing.len() < names.len(),
            Touches::AnyNumber => true,
        };
        if !is_complete {
            problems.push(format!("{path} does not touch {missing:?}, named in `{text}`"));
        }
    }
    Ok(problems)
}

#[test]
fn additions_touch_the_files_that_their_lists_name() {
    assert_none(&check(&Tree::load()));
}

#[test]
fn the_first_lines_of_patches_name_files_that_they_touch() {
    let tree = Tree::load();
    for (name, ..) in LISTS {
        let patch = tree.text(&format!("tests/additions/{name}.patch")).unwrap();
        let (first, _) = patch.split_once("\ndiff ").unwrap();
        let value = |key| first.lines().find_map(|line| line.strip_prefix(key));
        let files = ["refused with only: ", "unseen without: "].map(value);
        for file in files.into_iter().flatten() {
            assert!(patch.contains(&format!("\ndiff --git a/{file} b/{file}\n")), "{name}: {file}");
        }
        let keys = files.map(|file| file.is_some());
        assert!(keys[0] != keys[1], "{name}: one file has to be missed while it is missing");
        assert_eq!(keys[0], value("refused because: ").is_some(), "{name}");
        assert!(first.contains("\n$ dpscope "), "{name}");
    }
}

/// The problems of a sampler whose patch touches these files, by a list with these items.
fn check_sampler(items: &str, files: &[&str]) -> Vec<String> {
    let diffs = files.iter().map(|file| format!("diff --git a/{file} b/{file}\n"));
    let patch = format!("Adds `so-new`.\n{}", diffs.collect::<String>());
    let tree = Tree::of(&[
        ("CONTRIBUTING.md", &format!("## Add a sampler\n\n{items}\n\n## Other\n\n1. `x.rs`\n")),
        ("tests/additions/sampler.patch", &patch),
        ("crates/core/src/a.rs", ""),
        ("crates/core/src/b.rs", ""),
        ("tests/c/d.rs", ""),
        ("README.md", ""),
    ]);
    check_list(&tree, &LISTS[0]).unwrap_or_else(|why| vec![why])
}

#[test]
fn a_file_that_the_list_does_not_name_is_reported() {
    let [a, b] = ["crates/core/src/a.rs", "crates/core/src/b.rs"];
    let table = "| where | what |\n|---|---|\n| `core/src` | `a.rs`: variant |";
    assert_none(&check_sampler(table, &[a]));
    assert_one(&check_sampler(table, &[a, b]), "touches crates/core/src/b.rs");
    let new = "1. `core/src`: `NAME.rs`, and `tests/c`.";
    let added = "crates/core/src/so_new.rs";
    assert_none(&check_sampler(new, &[added, "tests/c/d.rs"]));
    assert_one(&check_sampler(new, &[added, a, "tests/c/d.rs"]), "touches crates/core/src/a.rs");
    assert_one(&check_sampler(new, &["tests/c/d.rs"]), "does not touch");
}

#[test]
fn a_name_that_the_patch_does_not_touch_is_reported() {
    let [a, b] = ["crates/core/src/a.rs", "crates/core/src/b.rs"];
    let both = "1. `core/src`: `a.rs` and `b.rs`; see the [README](README.md), if it is new.";
    assert_none(&check_sampler(both, &[a, b]));
    assert_none(&check_sampler(both, &[a, b, "README.md"]));
    assert_one(&check_sampler(both, &[a]), "does not touch [\"crates/core/src/b.rs\"]");
    assert_none(&check_sampler(&both.replace(" and ", " or "), &[a]));
    assert_one(&check_sampler(&both.replace(" and ", " or "), &[]), "does not touch");
    assert_none(&check_sampler(&both.replace("; see", ", only for a score; see"), &[]));
    assert_none(&check_sampler("1. `core/src`: only for a score: `a.rs`; `b.rs`.", &[]));
    assert_one(&check_sampler("| a | b |\n|---|---|\n| `tests/c` | a case |", &[]), "tests/c");
    assert_one(&check_sampler("1. `core/src`: `gone.rs`.", &[]), "`gone.rs`, which is nowhere");
}
