//! JSON Schemas and TypeScript types, generated from the records.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

use super::{pages, typescript};
use crate::answer::Answer;
use crate::reported::type_names;

/// One schema of all documents, from the references to their types by name.
pub(super) fn whole(
    references: impl FnOnce(&mut SchemaGenerator) -> Vec<(&'static str, Schema)>,
) -> Value {
    let mut generator = generator();
    let references = references(&mut generator);
    generator.subschema_for::<Answer>();
    let mut types = generator.take_definitions(true);
    types.values_mut().for_each(tidy);
    for name in type_names() {
        types.get_mut(&name).into_iter().for_each(add_answer);
    }
    let reference = |(name, reference): (&str, Schema)| {
        let mut reference = Value::from(reference);
        reference["title"] = name.into();
        reference
    };
    serde_json::json!({
        "$schema": SchemaSettings::draft2020_12().meta_schema,
        "title": "Documents of dpscope",
        "oneOf": references.into_iter().map(reference).collect::<Vec<_>>(),
        "$defs": types,
    })
}

/// Adds the answer to the fields of a report.
fn add_answer(schema: &mut Value) {
    let description = "What the report says, in the form that all kinds have in common.";
    schema["properties"]["answer"] =
        serde_json::json!({ "$ref": "#/$defs/Answer", "description": description });
    if let Some(required) = schema["required"].as_array_mut() {
        required.push("answer".into());
    }
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

/// The types that pages see, as TypeScript declarations.
#[must_use]
pub fn type_declarations() -> String {
    let (mut inputs, mut outputs) =
        (SchemaSettings::draft2020_12().for_deserialize().into_generator(), generator());
    pages::inputs(&mut inputs);
    pages::outputs(&mut outputs);
    let mut types: BTreeMap<String, Value> = BTreeMap::new();
    types.extend(inputs.take_definitions(false));
    types.extend(outputs.take_definitions(false));
    types.values_mut().for_each(tidy);
    for name in type_names() {
        types.get_mut(&name).into_iter().for_each(add_answer);
    }
    typescript::declarations(&types)
}

/// Drops formats that no other language knows, marks of fields that are only written, and null where a field is left out instead.
fn tidy(schema: &mut Value) {
    let Value::Object(schema) = schema else { return };
    schema.remove("format");
    schema.remove("readOnly");
    let required: Vec<String> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        .unwrap_or_default();
    for (keyword, value) in schema.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(fields)) => {
                for (name, field) in fields {
                    tidy(field);
                    if !required.contains(name) {
                        drop_null(field);
                    }
                }
            }
            ("$defs", Value::Object(definitions)) => definitions.values_mut().for_each(tidy),
            ("items" | "additionalProperties", value) => tidy(value),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(tidy);
            }
            _ => {}
        }
    }
}

/// Removes null from the schema of an optional field.
fn drop_null(field: &mut Value) {
    let Value::Object(schema) = field else { return };
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = &kinds[..] {
            let kind = kind.clone();
            schema.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(kinds)) = schema.get_mut("anyOf") {
        kinds.retain(|kind| kind != &serde_json::json!({ "type": "null" }));
        if let [Value::Object(kind)] = &kinds[..] {
            let kind: Map<String, Value> = kind.clone();
            schema.remove("anyOf");
            schema.extend(kind);
        }
    }
}
