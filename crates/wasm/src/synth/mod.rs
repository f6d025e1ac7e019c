//! PATE-GAN with faults as switches.
//!
//! As in `audits`, a page has one coordinator, which owns a [`PateGanAudit`], and counters in workers:
//! a [`PateGanCounter`] gets the coordinator's [`PateGanAudit::layout`] and returns the evidence of
//! ranges of runs. For any counters and any order, the report is that of the command line for the same
//! plan and seed.

mod audit;
mod facts;
mod generator;
mod plan;

use dpscope_core::adjacency::World;
use js_sys::{Object, Uint8Array};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::coordinator::coordinates;
use crate::failure::Failure;
use crate::input::read;
use crate::output::{JsResult, object, to_js, with};
use crate::reported::reported;
use audit::{Counter, WorstCase};
use generator::{Audited, FolderAudit, PageFile};

#[cfg(test)]
pub(crate) use {audit::tests::examples, generator::tests::example};

/// A running audit, on the coordinator's side.
#[wasm_bindgen]
#[derive(Debug)]
pub struct PateGanAudit(WorstCase);

coordinates!(PateGanAudit.0.coordinator);

#[wasm_bindgen]
impl PateGanAudit {
    /// An audit without runs.
    ///
    /// # Errors
    /// The first field outside its domain; more work than a page can wait for.
    pub fn open(
        #[wasm_bindgen(unchecked_param_type = "PateGanQuestion")] asked: &JsValue,
    ) -> Result<PateGanAudit, Failure> {
        Ok(PateGanAudit(WorstCase::open(&read(asked, "asked")?)?))
    }

    /// What the runs so far show: an estimate.
    ///
    /// # Errors
    /// No input from a page causes an error.
    #[wasm_bindgen(unchecked_return_type = "PateGanSoFar")]
    pub fn so_far(&self) -> JsResult {
        to_js(&self.0.so_far()?)
    }

    /// The report of all runs, as the program's, and what is drawn of it.
    ///
    /// # Errors
    /// Some runs are missing.
    #[wasm_bindgen(unchecked_return_type = "PateGanAnswer")]
    pub fn report(&self, elapsed_ms: f64) -> Result<Object, Failure> {
        let (report, picture) = self.0.report(elapsed_ms)?;
        with(reported(&report)?, [("picture", to_js(&picture)?)])
    }
}

/// What trains runs, in a worker.
#[wasm_bindgen]
#[derive(Debug)]
pub struct PateGanCounter(Counter);

#[wasm_bindgen]
impl PateGanCounter {
    /// Creates a counter for a layout.
    ///
    /// # Errors
    /// Bytes that are no layout.
    pub fn open(layout: &[u8]) -> Result<PateGanCounter, Failure> {
        Ok(PateGanCounter(Counter::open(layout)?))
    }

    /// Trains runs `first..end` in both worlds; blocks its worker.
    ///
    /// # Errors
    /// No input from a page causes an error.
    pub fn count(&self, first: f64, end: f64) -> Result<Vec<u8>, Failure> {
        self.0.count(first, end)
    }
}

/// Faults by where they were found, and implementations that were audited.
///
/// # Errors
/// No input from a page causes an error.
#[wasm_bindgen(unchecked_return_type = "PateGanFacts")]
pub fn pategan_facts() -> JsResult {
    to_js(&facts::facts())
}

/// Runs of a user's generator in two worlds, file by file.
#[wasm_bindgen]
#[derive(Debug)]
pub struct GeneratorRuns(FolderAudit);

#[wasm_bindgen]
impl GeneratorRuns {
    /// Opens a manifest of runs in two worlds.
    ///
    /// # Errors
    /// Another file; a manifest of one run, or with bounds from the data.
    pub fn open(name: &str, manifest: &[u8]) -> Result<GeneratorRuns, Failure> {
        Ok(GeneratorRuns(FolderAudit::open(PageFile { name, bytes: manifest })?))
    }

    /// Adds the released rows of a run, `0003.csv`, or the reason for a failure, `0003.failed`.
    ///
    /// # Errors
    /// A file that is no outcome of the manifest.
    pub fn add(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "\"with\" | \"without\"")] world: &str,
        name: &str,
        bytes: &[u8],
    ) -> Result<(), Failure> {
        let world = if world == "with" { World::Target } else { World::ZeroOut };
        self.0.add(world, PageFile { name, bytes })
    }

    /// The report of `dpscope audit generator` for the same folder without its data.
    ///
    /// # Errors
    /// Some runs are missing, or too few.
    #[wasm_bindgen(unchecked_return_type = "GeneratorAnswer")]
    pub fn report(self, elapsed_ms: f64) -> Result<Object, Failure> {
        answer(self.0.report(elapsed_ms)?)
    }
}

fn answer((report, scores): Audited) -> Result<Object, Failure> {
    with(reported(&report)?, [("scores", to_js(&scores)?)])
}

/// The attack on features that the user computed, one row per run.
///
/// # Errors
/// A file that is no table of numbers; too few runs.
#[wasm_bindgen(unchecked_return_type = "GeneratorAnswer")]
pub fn audit_features(
    names: Vec<String>,
    contents: Vec<Uint8Array>,
    #[wasm_bindgen(unchecked_param_type = "GeneratorOptions")] options: &JsValue,
) -> Result<Object, Failure> {
    let started = js_sys::Date::now();
    let contents: Vec<Vec<u8>> = contents.iter().map(Uint8Array::to_vec).collect();
    let ([one, other], [with, without]) = (&names[..], &contents[..]) else {
        return Err(Failure::missing("with"));
    };
    let files = [PageFile { name: one, bytes: with }, PageFile { name: other, bytes: without }];
    let (report, scores) = generator::audit_features(files, &read(options, "options")?, 0.0)?;
    let elapsed_ms = js_sys::Date::now() - started;
    answer((dpscope_report::record::GeneratorReport { elapsed_ms, ..report }, scores))
}

/// A score of each canary row from the released rows, as `scores.npy` of `dpscope audit one-run`.
///
/// | argument | meaning |
/// |---|---|
/// | `names` | of a manifest or a file of columns, the canaries, and the released rows |
/// | `contents` | their bytes |
/// | `scoring` | `nearest` or `count`, where no manifest says so |
///
/// # Errors
/// A file that cannot be read, with its place.
#[wasm_bindgen(unchecked_return_type = "{ scores: Uint8Array; claim?: number }")]
pub fn score_canaries(
    names: Vec<String>,
    contents: Vec<Uint8Array>,
    scoring: &str,
) -> Result<Object, Failure> {
    let contents: Vec<Vec<u8>> = contents.iter().map(Uint8Array::to_vec).collect();
    let ([a, b, c], [columns, canaries, released]) = (&names[..], &contents[..]) else {
        return Err(Failure::missing("canaries"));
    };
    let file = |name, bytes| PageFile { name, bytes };
    let found =
        generator::scores_of(file(a, columns), file(b, canaries), file(c, released), scoring);
    let (scores, claim) = found?;
    object([
        ("scores", Uint8Array::from(&scores[..]).into()),
        ("claim", claim.map_or(JsValue::UNDEFINED, JsValue::from_f64)),
    ])
}
