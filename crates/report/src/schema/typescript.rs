//! TypeScript declarations from JSON Schemas.
//!
//! By hand, as `ts-rs` would be a second derive with attributes of its own on every record, and
//! `json-schema-to-typescript` needs Node where the tests of the crates do not.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Declarations of named schemas.
pub(super) fn declarations(schemas: &BTreeMap<String, Value>) -> String {
    let declared: Vec<String> =
        schemas.iter().map(|(name, schema)| declaration(name, schema, schemas)).collect();
    declared.join("\n")
}

fn declaration(name: &str, schema: &Value, schemas: &BTreeMap<String, Value>) -> String {
    let comment = comment(schema, "");
    match plain_fields(schema) {
        Some(fields) => {
            let base = schema.get("tsExtends").and_then(Value::as_str);
            let inherited = base.and_then(|base| plain_fields(schemas.get(base)?));
            let is_own = |name: &str| inherited.is_none_or(|fields| !fields.contains_key(name));
            let own = fields.iter().filter(|(name, _)| is_own(name));
            let own = own.map(|(name, field)| (name.clone(), field.clone())).collect();
            let extends = base.map_or(String::new(), |base| format!(" extends {base}"));
            format!("{comment}export interface {name}{extends} {}\n", members(&own, schema, ""))
        }
        None => format!("{comment}export type {name} = {};\n", expression(schema, "")),
    }
}

/// The fields of an object that is nothing else.
fn plain_fields(schema: &Value) -> Option<&Map<String, Value>> {
    let is_more = ["oneOf", "anyOf", "allOf", "tsType"].iter().any(|key| schema.get(key).is_some());
    schema.get("properties").and_then(Value::as_object).filter(|_| !is_more)
}

/// The documentation without its headings, which are for Rust.
fn comment(schema: &Value, indent: &str) -> String {
    let text = schema.get("description").and_then(Value::as_str);
    let Some(text) = text else { return String::new() };
    let lines: Vec<&str> = text.split("\n\n# ").next().unwrap_or(text).lines().collect();
    match &lines[..] {
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let inner: String = lines
                .iter()
                .map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n")
                .collect();
            format!("{indent}/**\n{inner}{indent} */\n")
        }
    }
}

fn members(fields: &Map<String, Value>, schema: &Value, indent: &str) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
    let deeper = format!("{indent}  ");
    let lines: String = fields
        .iter()
        .map(|(name, field)| {
            let mark = if is_required(name) { "" } else { "?" };
            let comment = comment(field, &deeper);
            let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let name = if is_word { name.clone() } else { format!("{name:?}") };
            format!("{comment}{deeper}{name}{mark}: {};\n", expression(field, &deeper))
        })
        .collect();
    format!("{{\n{lines}{indent}}}")
}

fn expression(schema: &Value, indent: &str) -> String {
    if let Some(text) = schema.get("tsType").and_then(Value::as_str) {
        return text.to_owned();
    }
    let mut parts = Vec::new();
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        parts.push(name.rsplit('/').next().unwrap_or_default().to_owned());
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
        parts.push(members(fields, schema, indent));
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(kinds) = schema.get(key).and_then(Value::as_array) {
            parts.push(union(kinds.iter().map(|kind| expression(kind, indent))));
        }
    }
    if let Some(kinds) = schema.get("allOf").and_then(Value::as_array) {
        parts.extend(kinds.iter().map(|kind| expression(kind, indent)));
    }
    match &parts[..] {
        [] => kinds(schema, indent),
        [part] => part.clone(),
        parts => {
            let grouped = parts.iter().map(|part| grouped(part));
            grouped.collect::<Vec<_>>().join(" & ")
        }
    }
}

/// By the keyword `type`.
fn kinds(schema: &Value, indent: &str) -> String {
    let one = |kind: &str| match kind {
        "number" | "integer" => "number".to_owned(),
        "array" => array(schema, indent),
        "object" => match schema.get("additionalProperties") {
            Some(values) => format!("Record<string, {}>", expression(values, indent)),
            None => "object".to_owned(),
        },
        kind => kind.to_owned(),
    };
    match schema.get("type") {
        Some(Value::String(kind)) => one(kind),
        Some(Value::Array(kinds)) => union(kinds.iter().filter_map(Value::as_str).map(one)),
        _ => "unknown".to_owned(),
    }
}

fn array(schema: &Value, indent: &str) -> String {
    let items = schema.get("items").map_or("unknown".to_owned(), |items| expression(items, indent));
    let length = |key: &str| schema.get(key).and_then(Value::as_u64);
    match (length("minItems"), length("maxItems")) {
        (Some(least), Some(most)) if least == most && most <= 4 => {
            format!("[{}]", vec![items; most as usize].join(", "))
        }
        _ => format!("{}[]", grouped(&items)),
    }
}

fn union(kinds: impl Iterator<Item = String>) -> String {
    let mut kinds: Vec<String> = kinds.collect();
    kinds.dedup();
    kinds.join(" | ")
}

/// In brackets, where the part of a larger type is several, outside the braces of objects.
fn grouped(part: &str) -> String {
    let mut depth = 0_i32;
    let is_several = part.char_indices().any(|(at, c)| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0 && (part[at..].starts_with(" | ") || part[at..].starts_with(" & "))
    });
    if is_several { format!("({part})") } else { part.to_owned() }
}
