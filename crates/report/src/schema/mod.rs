//! JSON Schemas and TypeScript types, generated from the records (feature `schema`).
//!
//! `BLESS=1 cargo test -p dpscope-tests --test cli schemas` writes them to `schemas/` and
//! `types.d.ts`, and the words that pages share to `web/numbers/words.json`.

mod pages;
mod typescript;
mod vocabulary;

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

pub use vocabulary::{leaks, library_loaders, vocabulary};

use crate::recompute::RecomputationReport;
use crate::record::{
    Bench, BoundReport, CalibrationReport, CanariesReport, CanaryOptimizationReport, CheckReport,
    Comparison, Completions, CurvesReport, Devices, DirectionReport, ErrorReport, FederatedSizes,
    GeneratorReport, ImportedReport, LaunchReport, LoaderTable, MatrixReport, OneRunReport,
    OneRunSizes, OneShotReport, PateGanReport, PateReport, PlanReport, Report, Reproduction,
    Serving, Sweep, UtilityReport,
};

fn document<T: JsonSchema>() -> Value {
    let schema = generator().into_root_schema_for::<T>();
    let mut schema = Value::from(schema);
    tidy(&mut schema);
    schema
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

/// The schema of each document that the program prints, by the name that `dpscope schema` takes.
#[must_use]
pub fn documents() -> Vec<(&'static str, Value)> {
    vec![
        ("bench", document::<Bench>()),
        ("bound", document::<BoundReport>()),
        ("calibrate", document::<CalibrationReport>()),
        ("canaries", document::<CanariesReport>()),
        ("canary_optimisation", document::<CanaryOptimizationReport>()),
        ("check", document::<CheckReport>()),
        ("comparison", document::<Comparison>()),
        ("completions", document::<Completions>()),
        ("curves", document::<CurvesReport<'static>>()),
        ("devices", document::<Devices>()),
        ("direction", document::<DirectionReport>()),
        ("error", document::<ErrorReport>()),
        ("federated_sizes", document::<FederatedSizes>()),
        ("generator", document::<GeneratorReport>()),
        ("imported", document::<ImportedReport>()),
        ("launch", document::<LaunchReport>()),
        ("loaders", document::<LoaderTable>()),
        ("matrix", document::<MatrixReport>()),
        ("one_run", document::<OneRunReport>()),
        ("one_run_sizes", document::<OneRunSizes>()),
        ("one_shot", document::<OneShotReport>()),
        ("pate", document::<PateReport>()),
        ("pategan", document::<PateGanReport>()),
        ("plan", document::<PlanReport>()),
        ("recomputation", document::<RecomputationReport>()),
        ("report", document::<Report>()),
        ("reproduction", document::<Reproduction>()),
        ("serve", document::<Serving>()),
        ("sweep", document::<Sweep>()),
        ("utility", document::<UtilityReport>()),
    ]
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
