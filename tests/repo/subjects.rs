//! The engine executes every audit alike: it names none of their subjects.

use crate::tree::Tree;
use crate::{assert_none, assert_one};

const ENGINE: &str = "crates/engine/";

/// Words of the subjects and of what only one of them has.
const SUBJECTS: &[&str] = &[
    "bgm",
    "gaussian",
    "mechanism",
    "pair",
    "dpsgd",
    "sgd",
    "training",
    "trainer",
    "trained",
    "model",
    "canary",
    "canaries",
    "federated",
    "client",
    "pate",
    "pategan",
    "generator",
];

/// The lower-case words of a line: `GpuDpSgd` has gpu, dp, sgd and, joined, dpsgd.
fn words(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    for name in line.split(|c: char| !c.is_alphanumeric()) {
        let mut parts: Vec<String> = Vec::new();
        for c in name.chars() {
            match parts.last_mut() {
                Some(part) if !c.is_uppercase() => part.push(c),
                _ => parts.push(c.to_lowercase().collect()),
            }
        }
        all.push(name.to_lowercase());
        all.extend(parts.windows(2).map(<[String]>::concat));
        all.extend(parts);
    }
    all
}

fn check(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| path.starts_with(ENGINE)) {
        for (line, number) in text.lines().zip(1..) {
            let of_subject = |word: &String| {
                SUBJECTS.contains(&word.as_str()) || SUBJECTS.contains(&word.trim_end_matches('s'))
            };
            if let Some(word) = words(line).into_iter().find(of_subject) {
                problems.push(format!("{path}:{number}: the engine names the subject `{word}`"));
            }
        }
    }
    problems
}

#[test]
fn the_engine_names_no_subject() {
    assert_none(&check(&Tree::load()));
}

#[test]
fn a_named_subject_is_refused() {
    for text in [
        "use dpscope_train::GpuDpSgd;",
        "/// Counts of trained models.",
        "const NAME: &str = \"bgm\";",
        "fn gaussian_scores() {}",
        "struct CanarySet;",
    ] {
        assert_one(&check(&Tree::of(&[("crates/engine/src/a.rs", text)])), "subject");
        assert_none(&check(&Tree::of(&[("crates/cli/src/a.rs", text)])));
    }
    let free = "/// A unit; its evidence is a function of the plan, repaired or not.";
    assert_none(&check(&Tree::of(&[("crates/engine/README.md", free)])));
}
