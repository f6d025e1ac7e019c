//! The JSON Schema of the documents that the program prints.
//!
//! Feature `schema` generates it from the records: `BLESS=1 cargo test -p dpscope-tests --test cli
//! schemas` writes it to `schema.json`, with `types.d.ts` and the words that pages share,
//! `web/numbers/words.json`.

#[cfg(feature = "schema")]
mod generated;
#[cfg(feature = "schema")]
mod pages;
#[cfg(feature = "schema")]
mod typescript;
#[cfg(feature = "schema")]
mod vocabulary;

#[cfg(feature = "schema")]
pub use generated::type_declarations;
#[cfg(feature = "schema")]
pub use vocabulary::{leaks, library_loaders, vocabulary};

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// All documents in one schema: a reference for each, under its name, to one of the types in `$defs`.
const WHOLE: &str = include_str!("../../schema.json");

macro_rules! documents {
    ($($name:literal => $record:ty,)*) => {
        /// Names of the documents, as `dpscope schema` takes them.
        pub const DOCUMENTS: &[&str] = &[$($name),*];

        /// The schema as the records have it now.
        #[cfg(feature = "schema")]
        #[must_use]
        pub fn schema_of_records() -> Value {
            generated::whole(|generator| vec![$(($name, generator.subschema_for::<$record>())),*])
        }
    };
}

/// The JSON Schema of a document by its name, with the types that it refers to.
#[must_use]
pub fn schema_of(name: &str) -> Option<Value> {
    let whole: Value = serde_json::from_str(WHOLE).ok()?;
    let documents = whole["oneOf"].as_array()?;
    let document = documents.iter().find(|document| document["title"] == name)?;
    let kind = type_of(document)?;
    let types = whole["$defs"].as_object()?;
    let mut schema = types.get(kind)?.clone();
    let mut reached = BTreeSet::new();
    reach(&schema, types, &mut reached);
    let reached = reached.into_iter().filter_map(|name| Some((name.to_owned(), types.get(name)?)));
    let reached: Map<String, Value> = reached.map(|(name, kind)| (name, kind.clone())).collect();
    let fields = schema.as_object_mut()?;
    if !reached.is_empty() {
        fields.insert("$defs".to_owned(), reached.into());
    }
    fields.insert("$schema".to_owned(), whole["$schema"].clone());
    fields.insert("title".to_owned(), kind.into());
    Some(schema)
}

/// The name of the type that a schema refers to.
fn type_of(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/$defs/")
}

/// Adds the types that a schema refers to, and those that these refer to.
fn reach<'a>(schema: &'a Value, types: &'a Map<String, Value>, reached: &mut BTreeSet<&'a str>) {
    if let Some(name) = type_of(schema)
        && reached.insert(name)
    {
        types.get(name).into_iter().for_each(|kind| reach(kind, types, reached));
    }
    let (fields, items) = (schema.as_object(), schema.as_array());
    let parts = fields.into_iter().flat_map(Map::values).chain(items.into_iter().flatten());
    parts.for_each(|part| reach(part, types, reached));
}

documents! {
    "anytime" => crate::record::AnytimeReport,
    "bench" => crate::record::Bench,
    "bound" => crate::record::BoundReport,
    "calibrate" => crate::record::CalibrationReport,
    "canaries" => crate::record::CanariesReport,
    "canary_optimisation" => crate::record::CanaryOptimizationReport,
    "check" => crate::record::CheckReport,
    "comparison" => crate::record::Comparison,
    "completions" => crate::record::Completions,
    "curves" => crate::record::CurvesReport<'static>,
    "devices" => crate::record::Devices,
    "direction" => crate::record::DirectionReport,
    "error" => crate::record::ErrorReport,
    "federated_sizes" => crate::record::FederatedSizes,
    "generator" => crate::record::GeneratorReport,
    "imported" => crate::record::ImportedReport,
    "launch" => crate::record::LaunchReport,
    "loaders" => crate::record::LoaderTable,
    "matrix" => crate::record::MatrixReport,
    "one_run" => crate::record::OneRunReport,
    "one_run_sizes" => crate::record::OneRunSizes,
    "one_shot" => crate::record::OneShotReport,
    "drawn" => crate::record::DrawnReport,
    "drawn_sizes" => crate::record::DrawnSizes,
    "pate" => crate::record::PateReport,
    "pategan" => crate::record::PateGanReport,
    "plan" => crate::record::PlanReport,
    "recomputation" => crate::recompute::RecomputationReport,
    "report" => crate::record::Report,
    "reproduction" => crate::record::Reproduction,
    "serve" => crate::record::Serving,
    "sweep" => crate::record::Sweep,
    "utility" => crate::record::UtilityReport,
}
