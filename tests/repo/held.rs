//! What users hold by name: keywords, attributes, inputs, codes. A change of it shows in `held.txt`, and
//! belongs in the changelog.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::tree::Tree;

const LIST: &str = "tests/repo/held.txt";

/// Everything that users hold, one name per line, sorted.
fn held(tree: &Tree) -> String {
    let mut names = BTreeSet::new();
    let text = |path| tree.text(path).unwrap_or_default();
    names.extend(keywords(text("crates/py/python/dpscope/__init__.pyi")));
    names.extend(attributes(text("web/calculators/README.md")));
    names.extend(of_action(text("action.yml")));
    names.extend(exit_codes(text("crates/cli/src/failure.rs")));
    // names of an unreadable schema would be missing
    let schema: Value = serde_json::from_str(text("crates/report/schema.json")).unwrap_or_default();
    codes(&schema, &mut names);
    for kind in schema["$defs"].as_object().into_iter().flat_map(Map::values) {
        if let Some(name) = kind["properties"]["schema"]["const"].as_str() {
            names.insert(format!("document {name}"));
        }
    }
    names.into_iter().map(|name| name + "\n").collect()
}

/// Each function of the Python package, and each of its keywords.
fn keywords(stub: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut function = None;
    for line in stub.lines() {
        if let Some(name) = line.strip_prefix("def ").and_then(|rest| rest.split_once('(')) {
            found.push(format!("python {}", name.0));
            function = Some(name.0);
        } else if line.starts_with(')') {
            function = None;
        } else if let Some(function) = function
            && let Some((keyword, _)) = line.trim().split_once(':')
        {
            found.push(format!("python {function} {keyword}"));
        } else if let Some(class) = line.strip_prefix("from ").and_then(|it| it.split_once(" as "))
        {
            found.push(format!("python {}", class.1));
        }
    }
    found
}

/// Each calculator and quantity with its attributes: rows of tables whose last column lists them.
fn attributes(readme: &str) -> Vec<String> {
    let quoted = |cell: &str| -> Vec<String> {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(|name| name.trim_matches(['<', '>']).to_owned())
            .collect()
    };
    let mut found = Vec::new();
    for line in readme.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
        let ([name], [_, .., last]) = (&quoted(cells[0])[..], &cells[..]) else { continue };
        if name.starts_with("--") {
            continue; // styles have their own table
        }
        found.push(format!("calculator {name}"));
        let attributes = quoted(last);
        found.extend(attributes.iter().map(|attribute| format!("calculator {name} {attribute}")));
    }
    found
}

/// Inputs and outputs of the GitHub Action.
fn of_action(action: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut section = "";
    for line in action.lines() {
        if let Some(name) = line.strip_suffix(':') {
            match name.strip_prefix("  ") {
                None => section = name,
                Some(name)
                    if ["inputs", "outputs"].contains(&section) && !name.starts_with(' ') =>
                {
                    found.push(format!("action {section} {name}"));
                }
                Some(_) => {}
            }
        }
    }
    found
}

/// Variants of the enum of exit codes, with their numbers.
fn exit_codes(source: &str) -> Vec<String> {
    let body = source.split_once("enum Exit {").and_then(|(_, rest)| rest.split_once('}'));
    let variants = body.map(|(body, _)| body.lines()).into_iter().flatten();
    let code = |line: &str| {
        line.trim()
            .trim_end_matches(',')
            .split_once(" = ")
            .map(|(name, number)| format!("exit code {number} {}", name.to_lowercase()))
    };
    variants.filter_map(code).collect()
}

/// Codes of findings, anywhere in a schema.
fn codes(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(code) = fields.get("code").and_then(|code| code["const"].as_str()) {
                found.insert(format!("finding {code}"));
            }
            fields.values().for_each(|value| codes(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| codes(value, found)),
        _ => {}
    }
}

#[test]
fn names_that_users_hold_are_listed() {
    let tree = Tree::load();
    let found = held(&tree);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(Tree::root().join(LIST), &found).unwrap();
    }
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<String>>();
    let (known, found) = (lines(tree.text(LIST).unwrap_or_default()), lines(&found));
    let changed: Vec<&String> = known.symmetric_difference(&found).collect();
    assert!(
        changed.is_empty() || std::env::var_os("BLESS").is_some(),
        "users hold these names; describe the change in CHANGELOG.md, then `BLESS=1 cargo test -p \
         dpscope-tests --test repo held` writes {LIST}: {changed:#?}"
    );
}

#[test]
fn each_kind_of_name_is_found() {
    let tree = Tree::of(&[
        (
            "crates/py/python/dpscope/__init__.pyi",
            "from dpscope._results import Audit as Audit\ndef audit_x(\n    scores: Array,\n    *,\n    \
             claim: float | None = None,\n) -> Audit:\n    \"\"\"Help: text.\"\"\"\n",
        ),
        (
            "web/calculators/README.md",
            "| `<dpscope-x>` | shows | `delta` `steps` |\n| `--a` | b |\n",
        ),
        (
            "action.yml",
            "name: x\ninputs:\n  training:\n    default: a\noutputs:\n  sarif:\nruns:\n  steps:\n",
        ),
        ("crates/cli/src/failure.rs", "enum Exit {\n    Done = 0,\n    Refuted = 3,\n}\n"),
        (
            "crates/report/schema.json",
            r#"{"$defs": {"X": {"properties": {"schema": {"const": "dpscope.x/1"}}}, "F": {"oneOf":
                [{"properties": {"code": {"const": "no_noise"}}}]}}}"#,
        ),
    ]);
    let expected = [
        "action inputs training",
        "action outputs sarif",
        "calculator dpscope-x",
        "calculator dpscope-x delta",
        "calculator dpscope-x steps",
        "document dpscope.x/1",
        "exit code 0 done",
        "exit code 3 refuted",
        "finding no_noise",
        "python Audit",
        "python audit_x",
        "python audit_x claim",
        "python audit_x scores",
    ];
    assert_eq!(held(&tree).lines().collect::<Vec<_>>(), expected);
}
