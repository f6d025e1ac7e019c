//! The questions about files that pages ask the program: their options, from which pages make forms, links
//! and commands.

use serde_json::{Map, Value, json};

/// Commands that a page runs.
const ASKED: [&str; 5] =
    ["audit scores", "audit outputs", "audit counts", "audit one-run", "audit federated"];

/// Options that a page leaves out: it has its own ways to show and save a report and no choice of devices,
/// and updates of every server round are larger than what a page reads.
const LEFT_OUT: [&str; 25] = [
    "allow_gaps",
    "ascii",
    "brief",
    "curves",
    "device",
    "fail_above",
    "fail_on_finding",
    "float_mode",
    "format",
    "json",
    "metrics",
    "models",
    "momentum",
    "participation",
    "participations",
    "planned_clients",
    "plot",
    "quiet",
    "replies",
    "report",
    "sarif",
    "server_learning_rate",
    "threads",
    "updates",
    "yes",
];

/// Words of the help that are about a terminal.
const OF_TERMINALS: [&str; 3] = [
    "; exit with code 3 if it is refuted",
    "; `-` for standard input",
    "; repeat the option for a model in several files",
];

/// The questions, as JSON.
pub(crate) fn questions() -> Value {
    let text = dpscope::option_table().unwrap();
    for words in OF_TERMINALS {
        assert!(text.contains(words), "no help has `{words}`");
    }
    for name in LEFT_OUT {
        assert!(text.contains(&format!("\"name\":\"{name}\"")), "no option is `{name}`");
    }
    let table: Value = serde_json::from_str(&text).unwrap();
    let of_command = |command: &&str| {
        let entry = table.as_array().unwrap().iter().find(|entry| entry["name"] == **command);
        let entry = entry.unwrap();
        let is_federated = *command == "audit federated";
        let is_left_out = |option: &Value| {
            let name = option["name"].as_str().unwrap();
            // of a federated server they are tested against updates alone
            match name {
                "noise_multiplier" | "clip_norm" => is_federated,
                _ => LEFT_OUT.contains(&name),
            }
        };
        let options = entry["options"].as_array().unwrap().iter();
        let options: Vec<Value> =
            options.filter(|option| !is_left_out(option)).map(shown).collect();
        let about = &entry["about"];
        ((*command).to_owned(), json!({ "about": about, "options": options }))
    };
    Value::Object(ASKED.iter().map(of_command).collect())
}

/// What a form needs of an option.
fn shown(option: &Value) -> Value {
    let mut fields: Map<String, Value> = Map::new();
    for name in ["name", "kind"] {
        fields.insert(name.to_owned(), option[name].clone());
    }
    let help = option["help"].as_str().unwrap();
    let help = OF_TERMINALS.iter().fold(help.to_owned(), |help, words| help.replace(words, ""));
    fields.insert("help".to_owned(), help.into());
    for name in ["is_positional", "is_required", "is_list"] {
        if option[name] == true {
            fields.insert(name.to_owned(), true.into());
        }
    }
    for name in ["default", "value_name"] {
        if !option[name].is_null() {
            fields.insert(name.to_owned(), option[name].clone());
        }
    }
    if option["choices"].as_array().is_some_and(|choices| !choices.is_empty()) {
        fields.insert("choices".to_owned(), option["choices"].clone());
    }
    let conflicts = option["conflicts"].as_array().unwrap().iter();
    let conflicts: Vec<&Value> =
        conflicts.filter(|name| !LEFT_OUT.contains(&name.as_str().unwrap())).collect();
    if !conflicts.is_empty() {
        fields.insert("conflicts".to_owned(), json!(conflicts));
    }
    Value::Object(fields)
}
