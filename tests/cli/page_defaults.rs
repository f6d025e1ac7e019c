//! The defaults of the program that pages leave out of the commands that they print.

use serde_json::{Value, json};

/// Commands whose options pages print.
const PRINTED: [&str; 4] = ["audit dpsgd", "audit fedavg", "audit pategan", "canaries optimise"];

/// The defaults of their options, as JSON.
pub(crate) fn defaults() -> Value {
    let table: Value = serde_json::from_str(&dpscope::option_table().unwrap()).unwrap();
    let of_command = |command: &&str| {
        let entry = table.as_array().unwrap().iter().find(|entry| entry["name"] == **command);
        let options = entry.unwrap()["options"].as_array().unwrap().iter();
        let of_option = |option: &Value| {
            let default = default_of(option)?;
            let default = default.parse::<f64>().map_or_else(|_| json!(default), Value::from);
            Some((option["name"].as_str().unwrap().to_owned(), default))
        };
        (command.replace(' ', "_"), Value::Object(options.filter_map(of_option).collect()))
    };
    Value::Object(PRINTED.iter().map(of_command).collect())
}

/// The default that clap or the end of the help states, if it is one word.
fn default_of(option: &Value) -> Option<&str> {
    let stated = option["default"].as_str().filter(|default| !["", "false"].contains(default));
    let help = option["help"].as_str().unwrap().trim_end_matches('.').strip_suffix(']');
    let in_help = help.and_then(|help| help.rsplit_once("[default: ")).map(|(_, default)| default);
    stated.or(in_help).filter(|default| default.split_whitespace().count() == 1)
}
