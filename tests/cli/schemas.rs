//! JSON documents obey their schemas, and what is generated from the records is up to date.
//!
//! `BLESS=1 cargo test -p dpscope-tests --test cli schemas` writes the schema and the types anew.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use dpscope_core::accounting::Kind;
use dpscope_report::number::{decimals, plain};
use dpscope_report::schema::{
    leaks, library_loaders, schema_of, schema_of_records, type_declarations, vocabulary,
};
use serde_json::{Value, json};

use crate::federated::cosines;
use crate::generated::write_labelled;
use crate::one_run::canaries;
use crate::page_questions;
use crate::pategan_utility::write_patients;
use crate::reports::is_report;
use crate::trainer::{Trainer, npy_f8};
use crate::{Folder, SMALL};

fn generated(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/report").join(name)
}

/// A committed file differs from what the records give.
fn stale(name: &str, expected: &str) -> Option<String> {
    let path = generated(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, expected).unwrap();
    }
    let is_same = fs::read_to_string(&path).is_ok_and(|text| text == expected);
    (!is_same).then(|| {
        format!(
            "{name} is stale; `BLESS=1 cargo test -p dpscope-tests --test cli schemas` writes it"
        )
    })
}

#[test]
fn generated_files_are_up_to_date() {
    let text = |schema: &Value| serde_json::to_string_pretty(schema).unwrap() + "\n";
    let mut problems: Vec<String> =
        stale("schema.json", &text(&schema_of_records())).into_iter().collect();
    problems.extend(stale("types.d.ts", &type_declarations()));
    problems.extend(stale("../../web/numbers/words.json", &text(&vocabulary())));
    problems.extend(stale("../../web/numbers/see.json", &text(&leaks())));
    problems.extend(stale("../../web/numbers/rounded.json", &text(&roundings())));
    problems.extend(stale("../../web/numbers/loaders.json", &text(&library_loaders())));
    let options = text(&page_questions::options());
    problems.extend(stale("../../web/app/src/options/options.json", &options));
    let questions = text(&page_questions::questions());
    problems.extend(stale("../../web/app/src/questions/questions.json", &questions));
    assert_eq!(problems, Vec::<String>::new());
}

/// Bounds as the program shows them, which pages have to show in the same way.
fn roundings() -> Value {
    let pairs = [
        (0.718_022_8, 4.063_153_5),
        (0.062_65, 0.066_02),
        (0.049_9, 0.050_1),
        (1.0, 1.000_000_1),
        (3e-9, 3.000_1e-9),
        (9.999_9e-3, 349.804_809),
        (4.0, 0.5),
        (2.0, 2.0),
        (0.0, 1e-12),
    ];
    let row = |(upper, lower)| {
        let digits = decimals(upper, lower, 2);
        json!({
            "upper": upper, "lower": lower, "decimals": digits,
            "texts": [
                [plain(upper, Kind::Upper, digits), plain(lower, Kind::Lower, digits)],
                [plain(upper, Kind::Upper, 4), plain(lower, Kind::Lower, 4)],
            ],
        })
    };
    pairs.map(row).into_iter().collect()
}

#[test]
fn a_stale_file_is_reported() {
    if std::env::var_os("BLESS").is_none() {
        assert!(stale("types.d.ts", "no types").is_some_and(|problem| problem.contains("BLESS")));
        assert!(stale("none.json", "{}").is_some());
    }
}

#[test]
fn each_schema_is_printed_and_listed() {
    let printed = crate::dpscope("schema").exits(0).stdout;
    assert_eq!(printed.lines().collect::<Vec<_>>(), dpscope_report::DOCUMENTS);
    for name in dpscope_report::DOCUMENTS {
        let schema = schema_of(name).unwrap();
        let name = schema["properties"]["schema"]["const"].as_str().unwrap();
        assert!(name.starts_with("dpscope."), "{name}");
    }
    assert_eq!(schema_of("none"), None);
    let report = crate::dpscope("schema report").exits(0);
    assert_eq!(report.json(), schema_of("report").unwrap());
    assert_eq!(report.json()["title"], "Report");
    crate::dpscope("schema none").exits(2);
}

/// What is wrong with a document by its schema.
pub(crate) fn problems(name: &str, document: &Value) -> Vec<String> {
    static SCHEMAS: OnceLock<HashMap<&str, Value>> = OnceLock::new();
    let of_name = |&name: &&'static str| (name, schema_of(name).unwrap());
    let schemas = SCHEMAS.get_or_init(|| dpscope_report::DOCUMENTS.iter().map(of_name).collect());
    let schema = &schemas[name];
    mismatches(schema, schema, document, name)
}

/// Mismatches of the fields of a map, which has no named ones.
fn in_map(schema: &Value, root: &Value, map: &Value, place: &str) -> Vec<String> {
    let fields = map.as_object().into_iter().flatten();
    let check = |(name, field)| mismatches(schema, root, field, &format!("{place}/{name}"));
    fields.flat_map(check).collect()
}

/// Where a document differs from a schema. By hand: the generator uses few keywords, others are
/// refused here, and `jsonschema` brings thirty crates.
fn mismatches(schema: &Value, root: &Value, document: &Value, place: &str) -> Vec<String> {
    let Value::Object(keywords) = schema else {
        return Vec::new(); // `true` accepts everything
    };
    let here = |message: String| vec![format!("{place}: {message}")];
    let all = |schemas: &Value| -> Vec<Vec<String>> {
        let schemas = schemas.as_array().unwrap();
        schemas.iter().map(|schema| mismatches(schema, root, document, place)).collect()
    };
    let check = |(keyword, value): (&String, &Value)| match keyword.as_str() {
        "$schema" | "$defs" | "title" | "description" | "default" | "tsType" => Vec::new(),
        "$ref" => {
            let path = value.as_str().unwrap().trim_start_matches('#');
            mismatches(root.pointer(path).unwrap(), root, document, place)
        }
        "const" if value != document => here(format!("{document} is not {value}")),
        "enum" if !value.as_array().unwrap().contains(document) => {
            here(format!("{document} is not in {value}"))
        }
        "type" if !is_of_type(document, value) => here(format!("{document} is no {value}")),
        "minimum" | "maximum" => {
            let (limit, number) = (value.as_f64().unwrap(), document.as_f64());
            let is_inside =
                |number| if keyword == "minimum" { number >= limit } else { number <= limit };
            if number.is_none_or(is_inside) { Vec::new() } else { here(format!("{document}")) }
        }
        "minItems" | "maxItems" => {
            let (limit, length) = (value.as_u64().unwrap(), document.as_array().map(Vec::len));
            let is_inside = |length| {
                if keyword == "minItems" { length as u64 >= limit } else { length as u64 <= limit }
            };
            if length.is_none_or(is_inside) { Vec::new() } else { here(keyword.clone()) }
        }
        "required" => {
            let missing = |name: &&Value| {
                document.is_object() && document.get(name.as_str().unwrap()).is_none()
            };
            let missing = value.as_array().unwrap().iter().filter(missing);
            missing.map(|name| format!("{place}: no {name}")).collect()
        }
        "properties" => {
            let fields = value.as_object().unwrap().iter();
            let found =
                fields.filter_map(|(name, schema)| Some((name, schema, document.get(name)?)));
            let check = |(name, schema, field): (&String, &Value, &Value)| {
                mismatches(schema, root, field, &format!("{place}/{name}"))
            };
            found.flat_map(check).collect()
        }
        // the fields of a map are all of one kind, or of any if it is `true`
        "additionalProperties" if *value != Value::Bool(false) => {
            in_map(value, root, document, place)
        }
        "items" => {
            let items = document.as_array().into_iter().flatten().enumerate();
            let check = |(index, item)| mismatches(value, root, item, &format!("{place}/{index}"));
            items.flat_map(check).collect()
        }
        "allOf" => all(value).concat(),
        "anyOf" | "oneOf" => {
            let kinds = all(value);
            let fitting = kinds.iter().filter(|problems| problems.is_empty()).count();
            match (keyword.as_str(), fitting) {
                (_, 0) => here(format!("fits no kind: {kinds:?}")),
                ("oneOf", 2..) => here("fits several kinds".to_owned()),
                _ => Vec::new(),
            }
        }
        "const" | "enum" | "type" => Vec::new(),
        other => here(format!("unknown keyword {other}")),
    };
    keywords.iter().flat_map(check).collect()
}

fn is_of_type(document: &Value, kinds: &Value) -> bool {
    let is_kind = |kind: &Value| match kind.as_str().unwrap() {
        "null" => document.is_null(),
        "boolean" => document.is_boolean(),
        "string" => document.is_string(),
        "array" => document.is_array(),
        "object" => document.is_object(),
        "number" => document.is_number(),
        "integer" => document.is_u64() || document.is_i64(),
        _ => false,
    };
    match kinds {
        Value::Array(kinds) => kinds.iter().any(is_kind),
        kind => is_kind(kind),
    }
}

const OPTIMISED: &str = "canaries optimise --count 8 --records 40 --steps 3 --batch-size 20 \
                         --metasteps 2 --seed 1 --out optimised.npz";

const CLAIMED_TRAINING: &str =
    "audit one-run --canaries 99 --guesses 40 --correct 30 --noise-multiplier 9 --steps 5";

/// Records of 24 bits, all different, in two classes.
fn bits() -> String {
    let row = |at: u32| {
        let bits = at.wrapping_mul(2_654_435_761) >> 8;
        let cells: String = (0..24).map(|bit| format!(",{}", bits >> bit & 1)).collect();
        format!("{}{cells}\n", at % 2)
    };
    (0..3_600).map(row).collect()
}

/// Command lines and the schemas of their documents, in a folder of [`inputs`].
pub(crate) fn documents_of_commands() -> Vec<(&'static str, String)> {
    let training = "--noise-multiplier 1 --steps 10";
    let counts = "audit counts --false-positives 12 --target-trials 1000 --false-negatives 480 \
                  --zero-out-trials 1000";
    let mut documents = vec![
        ("report", format!("{SMALL} --claim 0.5 --fail-above 20")),
        ("report", format!("{SMALL} --threshold-rule max-uncorrected --claim 9")),
        ("report", format!("{SMALL} --out whole.json --checkpoint begun")),
        ("report", "merge whole.json --claim 0.5".to_owned()),
        ("report", "resume begun".to_owned()),
        ("report", counts.to_owned()),
        ("recomputation", "recompute counts.json".to_owned()),
        ("report", format!("{counts} --claim 9 {training}")),
        (
            "report",
            format!(
                "audit outputs --target in.npy --zero-out out.npy {}",
                Trainer::SHUFFLE.words()
            ),
        ),
        ("report", "audit scores --target scores.npy --zero-out scores-out.npy".to_owned()),
        (
            "report",
            "audit dpsgd --batch-size 20 --records 200 --noise-multiplier 1 --runs 60 --seed 7"
                .to_owned(),
        ),
        ("bound", format!("bound poisson {training}")),
        ("bound", format!("bound shuffle --epsilon 1 {training}")),
        ("bound", format!("bound pair --side lower --observations 1e3 --seed 1 {training}")),
        ("calibrate", "calibrate noise --epsilon 2 --steps 100".to_owned()),
        ("calibrate", format!("calibrate epochs --sampler shuffle --epsilon 9 {training}")),
        ("comparison", format!("compare --seed 1 {training}")),
        ("comparison", format!("compare --observations 1e3 --seed 1 {training}")),
        ("sweep", "sweep settings.csv".to_owned()),
        ("sweep", "sweep settings.csv --pair --observations 1e3 --seed 1".to_owned()),
        (
            "one_run",
            "audit one-run --canaries 1000 --guesses 100 --correct 95 --claim 2".to_owned(),
        ),
        ("one_run", "audit one-run --scores canary-scores.npy --coins coins.npy".to_owned()),
        ("one_run_sizes", "plan one-run --canaries 100 --mu 1 --epsilon 1".to_owned()),
        (
            "canaries",
            "canaries make directions --dimension 50 --count 10 --out canaries.npz".to_owned(),
        ),
        ("canaries", "canaries verify canaries.npz".to_owned()),
        ("plan", "plan bgm --epsilon 9".to_owned()),
        ("one_run", CLAIMED_TRAINING.to_owned()),
        ("canary_optimisation", OPTIMISED.to_owned()),
        ("plan", format!("plan --observations 1e4 --seed 1 {training}")),
        ("devices", "devices".to_owned()),
        ("completions", "completions bash".to_owned()),
        ("bench", "bench --seconds 0.1 --device cpu --quiet".to_owned()),
        ("generator", "audit generator generated".to_owned()),
        ("pategan", "audit pategan --runs 20 --iterations 2 --seed 1".to_owned()),
    ];
    documents.extend(crate::secrets::DOCUMENTS.map(|(schema, words)| (schema, words.to_owned())));
    documents.extend(check_documents());
    documents.extend(federated_documents());
    documents.extend(reproductions());
    documents.extend(utility_documents());
    documents.extend(launch_documents());
    documents
}

/// What follows the audit is an option of it.
fn launch_documents() -> Vec<(&'static str, String)> {
    let engines = ["slurm", "kubernetes --image i", "ray --storage s3://bucket/run"];
    engines.map(|engine| ("launch", format!("launch {engine} --json -- {SMALL} --claim 3"))).into()
}

fn check_documents() -> Vec<(&'static str, String)> {
    vec![
        (
            "check",
            "check --dataset-size 60000 --batch-size 256 --epochs 20 --noise-multiplier 0.8 \
             --loader shuffle --claim 3 --delta 1e-5 --drop-last"
                .to_owned(),
        ),
        (
            "check",
            "check --dataset-size 600 --batch-size 25 --epochs 2 --noise-multiplier 0.8 \
             --loader=DataLoader(shuffle=True) --claim 3 --delta 1e-5"
                .to_owned(),
        ),
        ("loaders", "check --list-loaders".to_owned()),
        ("imported", "check --import history.json --delta 1e-5 --claim 1".to_owned()),
    ]
}

fn utility_documents() -> Vec<(&'static str, String)> {
    vec![
        (
            "pategan",
            "audit pategan --data patients.csv --columns patients.toml --label ill --rows 9 --runs 20 \
             --iterations 2 --target-row 0 --seed 1 --utility 1"
                .to_owned(),
        ),
        ("utility", "generator utility labelled --test-data labelled.csv --label c --runs 1".to_owned()),
    ]
}

fn reproductions() -> Vec<(&'static str, String)> {
    vec![
        (
            "reproduction",
            "reproduce pategan --data patients.csv --columns patients.toml --label ill --rows 9 \
             --runs 40 --average-runs 40 --utility 1 --seed 1"
                .to_owned(),
        ),
        ("reproduction", "reproduce fedavg-gaussianity --runs 2 --seed 1".to_owned()),
        ("reproduction", "reproduce one-shot-table-2 --runs 20 --seed 1".to_owned()),
        ("reproduction", "reproduce figure-3 --observations 2e3 --seed 1 --quiet".to_owned()),
        ("reproduction", "reproduce dpsgd-worst-case --runs 1000 --seed 1".to_owned()),
        (
            "reproduction",
            "reproduce metagradient-canaries --data bits.csv --canaries 20 --runs 2 --metasteps 1 \
             --seed 1"
                .to_owned(),
        ),
        ("reproduction", "reproduce one-run-validity --canaries 100 --runs 20 --seed 1".to_owned()),
    ]
}

fn federated_documents() -> Vec<(&'static str, String)> {
    vec![
        (
            "one_shot",
            "audit federated --cosines cosines.csv --dimension 1e5 --unseen cosines.csv --claim 8"
                .to_owned(),
        ),
        (
            "one_shot",
            "audit fedavg --noise-multiplier 1 --clients 40 --records-per-client 2 --rounds 2 \
             --participation epochs:1 --local-epochs 1 --design fixed:9 --delta 1e-6"
                .to_owned(),
        ),
        (
            "one_shot",
            "audit gaussian --noise-multiplier 1 --dimension 1e4 --design fixed:50 --repeats 3"
                .to_owned(),
        ),
        (
            "one_shot",
            "audit one-run --scores coins.npy --null-scores canary-scores.npy --design poisson:300"
                .to_owned(),
        ),
        ("federated_sizes", "plan federated --design poisson:50 --delta 1e-6".to_owned()),
        (
            "federated_sizes",
            "plan federated --design fixed:50 --dimension 99 --out federated-plan".to_owned(),
        ),
        (
            "matrix",
            "bound matrix --strategy blt --steps 40 --participation min-separation:5,3 \
             --noise-multiplier 1 --participant-steps 1,9"
                .to_owned(),
        ),
        (
            "matrix",
            "calibrate matrix --strategy all --steps 40 --participation cyclic-poisson:4,.1 \
             --epsilon 2"
                .to_owned(),
        ),
        ("pate", "bound pate --teachers 5 --gamma 1e-3 --votes 20".to_owned()),
        ("pate", "bound pate --teachers 9 --gamma .1 --vote-counts votes.csv".to_owned()),
        ("pate", "calibrate pate --teachers 5 --gamma 1e-3 --epsilon .1".to_owned()),
        ("direction", "canaries direction --plan federated-plan --index 1 --out c.npy".to_owned()),
    ]
}

/// A folder with the files that the commands read.
pub(crate) fn inputs() -> Folder {
    let folder = Folder::new();
    let worlds = Trainer::SHUFFLE.worlds(1000, 1);
    for (name, world) in ["in.npy", "out.npy"].iter().zip(&worlds) {
        folder.write(name, npy_f8(&[1000, 10], world));
    }
    for (name, world) in ["scores.npy", "scores-out.npy"].iter().zip(&worlds) {
        folder.write(name, npy_f8(&[10_000], world));
    }
    folder.write("settings.csv", "sigma,T\n1,10\n");
    let counts = "audit counts --false-positives 12 --target-trials 1000 --false-negatives 480 \
                  --zero-out-trials 1000 --json";
    let report = folder.run(counts).stdout;
    folder.write("counts.json", report);
    write_patients(&folder);
    write_labelled(&folder, "labelled");
    folder.write("history.json", "[[1.1, 0.01, 100], [2, 0.01, 50]]");
    let (coins, scores) = canaries(300, 1.0, 1);
    folder.write("coins.npy", npy_f8(&[300], &coins));
    crate::generated::write_generated(&folder, "generated");
    folder.write("votes.csv", "votes\n0\n9\n4\n");
    folder.write("cosines.csv", cosines(100, 1.0, 1));
    folder.write("bits.csv", bits());
    folder.write("canary-scores.npy", npy_f8(&[300], &scores));
    folder
}

/// What a command with `--json` printed, and the page of a report.
pub(crate) struct Document {
    pub(crate) kind: &'static str,
    pub(crate) words: String,
    pub(crate) code: Option<i32>,
    pub(crate) json: Value,
    pub(crate) page: Option<String>,
}

/// A document of each command, printed once for all tests.
pub(crate) fn printed_documents() -> &'static [Document] {
    static DOCUMENTS: OnceLock<Vec<Document>> = OnceLock::new();
    DOCUMENTS.get_or_init(|| {
        let folder = inputs();
        let commands = documents_of_commands().into_iter();
        let document = |(kind, words): (&'static str, String)| {
            let report = if is_report(kind) { " --report page.html" } else { "" };
            let ended = folder.run(&format!("{words} --json{report}"));
            let page = is_report(kind).then(|| {
                let page = String::from_utf8(folder.read("page.html")).unwrap();
                fs::remove_file(folder.at("page.html")).unwrap();
                page
            });
            Document { kind, words, code: ended.code, json: ended.json(), page }
        };
        commands.map(document).collect()
    })
}

#[test]
fn documents_obey_their_schemas() {
    for Document { kind, words, json, .. } in printed_documents() {
        assert_eq!(problems(kind, json), Vec::<String>::new(), "{words}");
    }
}

#[test]
fn curve_files_obey_their_schema() {
    let folder = Folder::new();
    for words in
        [format!("{SMALL} --claim 0.5"), "compare --noise-multiplier 1 --steps 10".to_owned()]
    {
        folder.run(&format!("{words} --curves curves.json"));
        let document = serde_json::from_slice(&folder.read("curves.json")).unwrap();
        assert_eq!(problems("curves", &document), Vec::<String>::new(), "{words}");
    }
}

/// Commands that take `--json`, from their help.
fn commands_with_json(command: &str) -> Vec<String> {
    let help = crate::dpscope(&format!("{command} --help")).exits(0).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<&str> = names.filter(|name| !["", "help"].contains(name)).collect();
    if names.is_empty() {
        let has_json = help.lines().any(|line| line.trim_start().starts_with("--json"));
        return has_json.then(|| command.to_owned()).into_iter().collect();
    }
    let children = names.iter().map(|name| format!("{command} {name}").trim().to_owned());
    children.flat_map(|child| commands_with_json(&child)).collect()
}

#[test]
fn every_command_with_json_has_a_schema() {
    let mut documents = documents_of_commands();
    documents.push(("serve", "serve".to_owned())); // runs until it is stopped: in serve.rs
    let commands = commands_with_json("");
    assert!(commands.len() > 15, "{commands:?}");
    let has_document = |command: &&String| {
        documents.iter().any(|(_, words)| format!("{words} ").starts_with(&format!("{command} ")))
    };
    let missing: Vec<&String> = commands.iter().filter(|command| !has_document(command)).collect();
    assert_eq!(missing, Vec::<&String>::new());
    let is_printed = |name: &str| documents.iter().any(|(known, _)| *known == name);
    let known = dpscope_report::DOCUMENTS.iter().copied();
    let unused: Vec<&str> = known.filter(|name| !is_printed(name)).collect();
    assert_eq!(unused, ["curves", "error"]);
}

#[test]
fn errors_obey_their_schema_and_keep_exit_code_and_message() {
    let folder = Folder::new();
    folder.write("bad.npy", "no array");
    for (words, code, file) in [
        ("plan", 2, None),
        ("audit bgm --steps", 2, None),
        ("audit scores --target bad.npy --zero-out bad.npy", 2, Some("bad.npy")),
        ("resume bad.npy", 5, Some("bad.npy")),
        ("bench --device no-such-device", 4, None),
    ] {
        let ended = folder.run(&format!("{words} --json"));
        assert_eq!(ended.code, Some(code), "{words}: {ended:?}");
        let document = ended.json();
        assert_eq!(problems("error", &document), Vec::<String>::new(), "{words}");
        assert_eq!(document["exit_code"], code, "{words}");
        assert_eq!(document["file"].as_str(), file, "{words}");
        let first = document["message"].as_str().unwrap().lines().next().unwrap();
        assert!(ended.stderr.contains(first), "{words}: {ended:?}");
    }
}

#[test]
fn a_document_without_a_field_is_refused() {
    let mut document = crate::dpscope("plan --epsilon 9 --json").json();
    document.as_object_mut().unwrap().remove("cuts");
    assert_eq!(problems("plan", &document).len(), 1);
    document["schema"] = "dpscope.plan/0".into();
    assert_eq!(problems("plan", &document).len(), 2);
}
