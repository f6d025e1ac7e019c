//! The options that pages ask the program with. Of questions about files all, from which pages make forms,
//! links and commands; of other commands what the fields of pages and the commands that they print know.

use serde_json::{Map, Value, json};

/// Commands that a page runs.
const ASKED: [&str; 8] = [
    "audit scores",
    "audit outputs",
    "audit counts",
    "audit split",
    "audit one-run",
    "audit secrets",
    "audit guesses",
    "audit federated",
];

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

/// Commands whose settings are fields of a page, which prints them.
const PRINTED: [&str; 11] = [
    "audit bgm",
    "audit dpsgd",
    "audit fedavg",
    "audit gaussian",
    "audit pategan",
    "bound",
    "bound matrix",
    "calibrate matrix",
    "canaries optimise",
    "check",
    "compare",
];

/// Options of these commands that no page has, or that pages print whatever their default is.
const NOT_PRINTED: [&str; 31] = [
    "allocated_epochs",
    "candidate_runs",
    "candidates",
    "checks_significance",
    "classes",
    "count",
    "debias_records",
    "device",
    "device_memory",
    "direction",
    "format",
    "loader",
    "memory",
    "method",
    "participant_steps",
    "rows",
    "sampling_rate",
    "seed",
    "side",
    "splits",
    "start",
    "statement",
    "step_size",
    "subject",
    "target_row",
    "threads",
    "threshold_rule",
    "total_steps",
    "update",
    "utility",
    "validation_splits",
];

/// Commands with options that are numeric fields of a page: whether a number is whole is known of these.
const NUMERIC: [&str; 8] = [
    "audit bgm",
    "audit dpsgd",
    "audit fedavg",
    "audit gaussian",
    "audit pategan",
    "bound matrix",
    "canaries optimise",
    "check",
];

/// Options whose choices are those of a field.
const CHOSEN: [(&str, &[&str]); 6] = [
    ("audit bgm", &["float_mode", "threat_model"]),
    ("audit dpsgd", &["canary", "canary_kind", "score"]),
    ("audit fedavg", &["attack"]),
    ("bound", &["adjacency"]),
    ("bound matrix", &["objective", "strategy"]),
    ("check", &["claim_adjacency", "noise_on"]),
];

/// Options whose help is the hint of their field.
const EXPLAINED: [(&str, &[&str]); 5] = [
    ("audit dpsgd", &["canaries", "repeats", "reference_models"]),
    (
        "audit fedavg",
        &["clients", "concentration", "canary_presentations", "repeats", "without_canaries"],
    ),
    ("audit pategan", &["teachers", "gamma", "batch_size"]),
    ("bound matrix", &["bands"]),
    ("canaries optimise", &["steps"]),
];

/// What fields and printed commands know of the options of each command, as JSON: only what is not usual.
pub(crate) fn options() -> Value {
    let text = dpscope::option_table().unwrap();
    for name in NOT_PRINTED {
        assert!(text.contains(&format!("\"name\":\"{name}\"")), "no option is `{name}`");
    }
    let table: Value = serde_json::from_str(&text).unwrap();
    let options_of = |command: &str| {
        let entry = table.as_array().unwrap().iter().find(|entry| entry["name"] == command);
        entry.unwrap()["options"].as_array().unwrap()
    };
    for (command, names) in EXPLAINED.iter().chain(&CHOSEN) {
        for name in *names {
            let is_option = options_of(command).iter().any(|option| option["name"] == *name);
            assert!(is_option, "`{command}` has no option `{name}`");
        }
    }
    let of_command = |command: &&str| {
        let options = options_of(command).iter();
        let of_option = |option: &Value| {
            let name = option["name"].as_str().unwrap();
            let is_in = |list: &[(&str, &[&str])]| {
                list.iter().any(|(of, names)| of == command && names.contains(&name))
            };
            let mut known = known(option);
            if NUMERIC.contains(command) && option["kind"] == "integer" {
                known.insert("kind".to_owned(), "integer".into());
            }
            if is_in(&CHOSEN) {
                known.insert("choices".to_owned(), option["choices"].clone());
            }
            if is_in(&EXPLAINED) {
                known.insert("help".to_owned(), option["help"].clone());
            }
            let is_shown = !NOT_PRINTED.contains(&name) && !known.is_empty();
            is_shown.then(|| (name.to_owned(), Value::Object(known)))
        };
        // names of exports, of which a view loads its own alone
        (command.replace(' ', "_"), Value::Object(options.filter_map(of_option).collect()))
    };
    Value::Object(PRINTED.iter().map(of_command).collect())
}

/// The default of an option if it is one word.
fn known(option: &Value) -> Map<String, Value> {
    let mut known = Map::new();
    if let Some(default) = default_of(option) {
        let number = default.parse::<f64>().map(Value::from);
        known.insert("default".to_owned(), number.unwrap_or_else(|_| default.into()));
    }
    known
}

/// The default that clap or the end of the help states, if it is one word.
fn default_of(option: &Value) -> Option<&str> {
    let stated = option["default"].as_str().filter(|default| !["", "false"].contains(default));
    let help = option["help"].as_str().unwrap().trim_end_matches('.').strip_suffix(']');
    let in_help = help.and_then(|help| help.rsplit_once("[default: ")).map(|(_, default)| default);
    stated.or(in_help).filter(|default| default.split_whitespace().count() == 1)
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
