//! The JSON Schema of each document that the program prints.
//!
//! Feature `schema` generates them from the records: `BLESS=1 cargo test -p dpscope-tests --test cli
//! schemas` writes them to `schemas/` and `types.d.ts`, and the words that pages share to
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

macro_rules! documents {
    ($($name:literal => $record:ty,)*) => {
        /// The JSON Schema of each document, by the name that `dpscope schema` takes.
        pub const SCHEMAS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../schemas/", $name, ".json")))),*];

        /// The schemas as the records have them now.
        #[cfg(feature = "schema")]
        #[must_use]
        pub fn documents() -> Vec<(&'static str, serde_json::Value)> {
            vec![$(($name, generated::document::<$record>())),*]
        }
    };
}

documents! {
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
