//! Pages of the documentation: what their commands print, the numbers of their prose, their drawings.
//!
//! `BLESS=1 cargo test -p dpscope-tests --test cli documentation` rewrites them.

mod computed;
mod example;
mod numbers;
mod page;

use std::fs;
use std::path::{Path, PathBuf};

use crate::Folder;
use crate::snapshots::masked;
use numbers::{Documents, Findings};
use page::Page;

const PAGES: &str = "../web/docs";

/// Files that pages use and show; drawings of commands are stored there.
const FILES: &str = "files";

const FINDINGS: &str = "_data/findings.json";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGES)
}

fn is_blessed() -> bool {
    std::env::var_os("BLESS").is_some()
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// All pages, in the order of their names.
fn pages() -> Vec<Page> {
    let mut folders = vec![root()];
    let mut pages = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if has_extension(&path, "md") {
                let name = path.strip_prefix(root()).unwrap().display().to_string();
                pages.push(Page { name, text: fs::read_to_string(&path).unwrap() });
            }
        }
    }
    pages.sort_by(|one, other| one.name.cmp(&other.name));
    pages
}

fn findings() -> Findings {
    serde_json::from_str(&fs::read_to_string(root().join(FINDINGS)).unwrap()).unwrap()
}

/// A folder with the files of all pages, except drawings, which commands write.
fn folder_of_files() -> Folder {
    let folder = Folder::new();
    for entry in fs::read_dir(root().join(FILES)).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && !has_extension(&path, "svg") {
            folder.write(path.file_name().unwrap().to_str().unwrap(), fs::read(&path).unwrap());
        }
    }
    folder
}

/// The page as its commands make it now, and what is wrong with it.
fn recomputed(page: &Page, folder: &Folder) -> (Page, Vec<String>) {
    let output = |command: &str| example::output(folder.path(), command);
    let (new, mut problems) =
        page.with_outputs(|command| output(command).map(|text| masked(&text)));
    if let Some(place) = first_difference(&page.text, &new.text) {
        problems.push(format!("{}: {place}", page.name));
    }
    (new, problems)
}

fn first_difference(stored: &str, new: &str) -> Option<String> {
    let mut lines = stored.lines().zip(new.lines());
    if stored == new {
        return None;
    }
    let (stored, new) = lines.find(|(stored, new)| stored != new).unwrap_or(("(less)", "(more)"));
    Some(format!("stored `{stored}`, now `{new}`"))
}

/// Drawings in the folder of a page that are not the stored ones.
fn changed_drawings(folder: &Folder) -> Vec<String> {
    let drawings = folder.names().into_iter().filter(|name| has_extension(name.as_ref(), "svg"));
    let is_changed = |name: &String| {
        let stored = root().join(FILES).join(name);
        if is_blessed() {
            fs::write(&stored, folder.read(name)).unwrap();
        }
        fs::read(stored).unwrap_or_default() != folder.read(name)
    };
    drawings.filter(is_changed).map(|name| format!("{name} is another drawing")).collect()
}

/// Numbers that are neither computed nor quoted from a named source, and names of no finding.
fn problems_of_prose(page: &Page, findings: &Findings) -> Vec<String> {
    let mut problems = page.unclear_blocks();
    let is_unknown = |name: &&str| !findings.contains_key(*name);
    let unknown = page.shown_findings().into_iter().filter(is_unknown);
    problems.extend(unknown.map(|name| format!("{}: there is no finding {name}", page.name)));
    if page.name.starts_with("findings") {
        let (typed, quoted) = (page.typed_numbers(), page.quoted());
        let unquoted = typed.iter().filter(|number| !quoted.contains(&number.as_str()));
        let unquoted = unquoted.map(|number| format!("{}: {number} has no source", page.name));
        problems.extend(unquoted);
        let unused = quoted.iter().filter(|number| !typed.iter().any(|typed| typed == *number));
        problems.extend(unused.map(|number| format!("{}: {number} is not shown", page.name)));
    }
    problems
}

#[test]
fn commands_print_what_pages_show() {
    let mut problems = Vec::new();
    for page in pages() {
        let folder = folder_of_files();
        let (new, of_page) = recomputed(&page, &folder);
        if is_blessed() {
            fs::write(root().join(&page.name), &new.text).unwrap();
        } else {
            problems.extend(of_page);
        }
        problems.extend(changed_drawings(&folder));
        for command in page.commands_not_run() {
            eprintln!("{}: not run: {command}", page.name);
        }
    }
    assert_eq!(problems, Vec::<String>::new());
    let not_run: usize = pages().iter().map(|page| page.commands_not_run().len()).sum();
    eprintln!("{not_run} commands of pages are not run");
}

#[test]
fn numbers_of_the_prose_are_computed() {
    let (stored, folder) = (findings(), folder_of_files());
    let mut documents = Documents::default();
    let mut new = Findings::new();
    for (name, finding) in &stored {
        let found = finding.recomputed(folder.path(), &mut documents);
        new.insert(name.clone(), found.unwrap_or_else(|problem| panic!("{name}: {problem}")));
    }
    if is_blessed() {
        let text = serde_json::to_string_pretty(&new).unwrap() + "\n";
        fs::write(root().join(FINDINGS), text).unwrap();
    } else {
        assert_eq!(stored, new);
    }
}

#[test]
fn numbers_of_the_prose_have_a_source() {
    let (pages, findings) = (pages(), findings());
    let problems: Vec<String> =
        pages.iter().flat_map(|page| problems_of_prose(page, &findings)).collect();
    assert_eq!(problems, Vec::<String>::new());
    let is_shown = |name: &str| pages.iter().any(|page| page.shown_findings().contains(&name));
    let unused: Vec<&String> = findings.keys().filter(|name| !is_shown(name)).collect();
    assert_eq!(unused, Vec::<&String>::new());
}

/// A digit of a page, of a number and of a drawing.
#[test]
fn altered_numbers_are_detected() {
    let command = "dpscope audit counts --false-positives 12 --target-trials 1000 \
                   --false-negatives 480 --zero-out-trials 1000";
    let text = format!("```console\n$ {command} --plot altered.svg\nε ≥ 3\n```\n");
    let folder = Folder::new();
    let page = Page { name: "findings/a.md".to_owned(), text };
    let (right, problems) = recomputed(&page, &folder);
    assert_eq!(problems.len(), 1, "{problems:?}");
    let problems_of = |text: String| recomputed(&Page { text, ..page.clone() }, &folder).1;
    assert_eq!(problems_of(right.text.clone()), Vec::<String>::new());
    assert!(right.text.contains("3.1531"), "{}", right.text);
    assert_eq!(problems_of(right.text.replace("3.1531", "3.1532")).len(), 1);
    assert_eq!(problems_of(right.text.replace("ε ≥ 3.1531", "")).len(), 1);

    let finding = format!(
        r#"{{"a": {{"command": "{command}", "path": "/result/epsilon", "form": "0.00",
            "value": "3.16"}}}}"#
    );
    let stored: Findings = serde_json::from_str(&finding).unwrap();
    let computed = stored["a"].recomputed(folder.path(), &mut Documents::default()).unwrap();
    assert_eq!(computed.value, "3.15");
    assert_ne!(computed, stored["a"]);

    let prose = |text: &str| {
        let text = format!("---\nquoted:\n  - \"1.5: Table 1\"\n---\n{text}\n");
        problems_of_prose(&Page { text, ..page.clone() }, &stored)
    };
    assert_eq!(prose("1.5 and {{ findings.a.value }}"), Vec::<String>::new());
    assert_eq!(
        prose("1.6"),
        ["findings/a.md: 1.6 has no source", "findings/a.md: 1.5 is not shown"]
    );
    assert_eq!(prose("1.5, {{ findings.b.value }}"), ["findings/a.md: there is no finding b"]);
    if !is_blessed() {
        assert_eq!(changed_drawings(&folder), ["altered.svg is another drawing"]);
    }
}
