//! The state of a run as a file: checkpoints, shards and merged results have one format.

use dpscope_core::audit::bound::Statement;
use dpscope_core::audit::bound::max_uncorrected;
use dpscope_core::audit::trade_off::Trials;
use dpscope_core::audit::{AuditError, AuditHistograms, AuditResult, Finding, Outcome};
use dpscope_core::format::{self, excerpt};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::backend::FloatMode;
use crate::digest::hex;
use crate::plan::ValidPlan;
use crate::{ArtefactError, EngineError, Layout, ObservationRange, Plan, TrainingState};

/// Schema of artefacts that this version reads and writes.
pub const SCHEMA: &str = "dpscope.histograms/1";

/// Maximum number of devices that an artefact names.
pub(crate) const MAX_DEVICES: usize = 256;

/// Maximum length of the name of a device or version, in characters.
const MAX_NAME_CHARS: usize = 200;

/// Maximum sampling time, about 30,000 years: sums stay finite.
const MAX_SAMPLING_MS: f64 = 1e15;

/// Counts of some observations of a plan, with everything needed to resume or merge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artefact {
    schema: String,
    /// Version of the program that wrote it.
    pub version: String,
    /// The plan.
    pub plan: Plan,
    plan_hash: String,
    /// Bins and cuts of the plan.
    pub layout: Layout,
    /// The observations of this run.
    pub range: ObservationRange,
    /// The counted observations of each world: sorted, disjoint, not adjacent.
    pub counted: Vec<ObservationRange>,
    /// Their histograms.
    pub histograms: AuditHistograms,
    /// Devices used, at most 256.
    pub devices: Vec<String>,
    /// Float modes used.
    pub float_modes: Vec<FloatMode>,
    /// Number of waves counted by the CPU because a device failed.
    pub fallback_shards: u64,
    /// Wall time spent sampling, in milliseconds.
    pub sampling_ms: f64,
    /// The training, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainingState>,
    /// SHA-256 of this document with an empty checksum.
    checksum: String,
}

/// Whether a name is short and safe to print.
fn is_plain(name: &str) -> bool {
    name.chars().count() <= MAX_NAME_CHARS && name.chars().all(format::is_plain)
}

impl Artefact {
    /// Maximum size of an artefact, in bytes:
    /// [`MAX_BINS`](dpscope_core::audit::histogram::MAX_BINS) bins, two worlds, two halves, 21
    /// characters per count, and the other fields.
    pub const MAX_BYTES: usize = 16 << 20;

    /// The state before the first observation.
    #[must_use]
    pub fn empty(plan: &ValidPlan, layout: Layout, range: ObservationRange) -> Self {
        let plan = *plan.plan();
        Artefact {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            plan,
            plan_hash: plan.hash(),
            histograms: AuditHistograms::empty(&layout.bins),
            layout,
            range,
            counted: Vec::new(),
            devices: Vec::new(),
            float_modes: Vec::new(),
            fallback_shards: 0,
            sampling_ms: 0.0,
            training: None,
            checksum: String::new(),
        }
    }

    /// The same state for a run that trains; `description` is that of the trainer.
    #[must_use]
    pub fn with_training(self, description: &str) -> Self {
        Artefact { training: Some(TrainingState::new(description)), ..self }
    }

    /// Number of counted observations of each world.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.counted.iter().map(ObservationRange::len).sum()
    }

    /// Whether all observations of [`range`](Self::range) are counted.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.range.is_empty() || self.counted == [self.range]
    }

    /// Whether exactly the planned observations are counted; only then is there a bound.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.counted == [ObservationRange { first: 0, end: self.plan.observations_per_world() }]
    }

    /// The first uncounted observations of [`range`](Self::range); empty if none are left.
    #[must_use]
    pub fn remaining(&self) -> ObservationRange {
        self.range.first_gap(&self.counted)
    }

    /// Evaluates the counts by the plan's rule.
    ///
    /// # Errors
    /// Nothing is counted yet.
    pub fn outcome(&self) -> Result<Outcome, EngineError> {
        let Plan { threshold_rule, delta, significance, .. } = self.plan;
        let Layout { bins, thresholds } = &self.layout;
        let complete = self.is_complete();
        let at = Statement { delta, significance };
        Ok(self.histograms.evaluate(bins, threshold_rule, thresholds, at, complete)?)
    }

    /// The outcome with the uncorrected maximum of all counts and the statistics of the run.
    ///
    /// # Errors
    /// Nothing is counted yet.
    pub fn result(&self) -> Result<AuditResult, EngineError> {
        let Plan { delta, significance, observations, .. } = self.plan;
        let trade_off = self.histograms.trade_off(&self.layout.bins)?;
        let uncorrected = max_uncorrected(&trade_off, delta, significance);
        let uncorrected = uncorrected.map_err(AuditError::from)?;
        let Trials { target, zero_out } = self.histograms.trials();
        let counted = target + zero_out;
        let partial = Finding::PartialRun { counted, planned: observations };
        Ok(AuditResult::new(self.outcome()?, significance)
            .with_uncorrected_maximum(Some(uncorrected))
            .with_findings((!self.is_complete()).then_some(partial)))
    }

    /// SHA-256 of bins and counts, in hexadecimal.
    #[must_use]
    pub fn histogram_digest(&self) -> String {
        let json = serde_json::to_vec(&(&self.layout.bins, &self.histograms)).unwrap_or_default();
        hex(&Sha256::digest(json))
    }

    /// The document, with its checksum.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let checksum = self.computed_checksum();
        let document = Artefact { checksum, ..self.clone() };
        serde_json::to_vec(&document).unwrap_or_default()
    }

    fn computed_checksum(&self) -> String {
        let blank = Artefact { checksum: String::new(), ..self.clone() };
        hex(&Sha256::digest(serde_json::to_vec(&blank).unwrap_or_default()))
    }

    /// Reads a document and checks everything in it.
    ///
    /// # Errors
    /// Too large, not of this schema, damaged, or inconsistent.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ArtefactError> {
        #[derive(Deserialize)]
        struct Header {
            schema: String,
        }
        if bytes.len() > Self::MAX_BYTES {
            return Err(ArtefactError::TooLarge { bytes: bytes.len(), max: Self::MAX_BYTES });
        }
        let malformed = |error: serde_json::Error| ArtefactError::Malformed {
            reason: excerpt(&error.to_string(), 200),
        };
        let Header { schema } = serde_json::from_slice(bytes).map_err(malformed)?;
        if schema != SCHEMA {
            let found = excerpt(&schema, 60);
            return Err(ArtefactError::Schema { found, expected: SCHEMA });
        }
        let artefact: Artefact = serde_json::from_slice(bytes).map_err(malformed)?;
        // Also the bytes: the last digit of a float may change without changing its value.
        let intact = artefact.checksum == artefact.computed_checksum()
            && serde_json::to_vec(&artefact).is_ok_and(|written| written == bytes);
        if !intact {
            return Err(ArtefactError::Checksum);
        }
        artefact.consistent()
    }

    fn consistent(self) -> Result<Self, ArtefactError> {
        let wrong = |what| Err(ArtefactError::Inconsistent { what });
        if self.plan.validated().is_err() || self.plan_hash != self.plan.hash() {
            return wrong("its plan is invalid or does not match its hash");
        }
        if !self.has_plain_names() {
            return wrong("its version or devices are too long, too many or not printable");
        }
        if !self.layout.fits(&self.plan) {
            return wrong(
                "its thresholds are not finite, ascending and within the limit of its rule",
            );
        }
        if !self.histograms.fits(&self.layout.bins) {
            return wrong("its histograms do not match the bins of its layout");
        }
        let per_world = self.plan.observations_per_world();
        let mut end = None;
        for range in &self.counted {
            if range.is_empty() || end.is_some_and(|end| range.first <= end) {
                return wrong("its counted ranges are empty, overlapping or adjacent");
            }
            end = Some(range.end);
        }
        let first = self.counted.first().map(|range| range.first);
        let outside = first.is_some_and(|first| first < self.range.first)
            || end.is_some_and(|end| end > self.range.end);
        if self.range.end > per_world || outside {
            return wrong("it counts observations outside its range or plan");
        }
        if !(self.sampling_ms >= 0.0 && self.sampling_ms <= MAX_SAMPLING_MS) {
            return wrong("its sampling time is out of range");
        }
        let modes = self.float_modes.len();
        if modes > 2 || (modes == 2 && self.float_modes[0] == self.float_modes[1]) {
            return wrong("its float modes are repeated");
        }
        if modes == 0 && !self.counted.is_empty() {
            return wrong("its float mode is missing");
        }
        let Ok(trials) = self.histograms.checked_trials() else {
            return wrong("its counts exceed 2^64 - 1");
        };
        if trials.target != self.done() || trials.zero_out != self.done() {
            return wrong("the totals of its histograms do not match its counted ranges");
        }
        self.check_training()?;
        Ok(self)
    }

    /// Checks that the training is that of the plan, with tallies of all runs.
    pub(crate) fn check_training(&self) -> Result<(), ArtefactError> {
        let fits = match (self.plan.training, &self.training) {
            (Some(digest), Some(training)) => training.fits(digest, self.done()),
            (digest, training) => digest.is_none() && training.is_none(),
        };
        let what = "its training does not match its plan or its counted ranges";
        if fits { Ok(()) } else { Err(ArtefactError::Inconsistent { what }) }
    }

    fn has_plain_names(&self) -> bool {
        let names = || std::iter::once(&self.version).chain(&self.devices);
        self.devices.len() <= MAX_DEVICES && names().all(|name| is_plain(name))
    }

    pub(crate) fn note_device(&mut self, device: String) {
        if self.devices.len() < MAX_DEVICES && !self.devices.contains(&device) {
            self.devices.push(device);
        }
    }

    pub(crate) fn note_float_mode(&mut self, mode: FloatMode) {
        if !self.float_modes.contains(&mode) {
            self.float_modes.push(mode);
        }
    }
}

#[cfg(test)]
mod tests {
    use dpscope_core::audit::bound::ThresholdRule;

    use super::*;
    use crate::Shard;
    use crate::plan::tests::plan;
    use crate::run::tests::counted;

    fn bytes() -> Vec<u8> {
        counted(plan(), Shard::WHOLE, 1, 250).to_bytes()
    }

    fn edited(from: &str, to: &str) -> Result<Artefact, ArtefactError> {
        let text = String::from_utf8(bytes()).unwrap();
        assert!(text.contains(from), "{from}");
        Artefact::from_bytes(text.replacen(from, to, 1).as_bytes())
    }

    #[test]
    fn artefacts_round_trip_through_bytes() {
        let artefact = Artefact::from_bytes(&bytes()).unwrap();
        assert_eq!(artefact.to_bytes(), bytes());
        assert!(artefact.is_complete() && artefact.is_finished());
    }

    #[test]
    fn damage_is_detected_at_every_byte() {
        let good = bytes();
        for at in (0..good.len()).step_by(7) {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert!(Artefact::from_bytes(&bad).is_err(), "byte {at}");
        }
        for end in [0, 1, 100, good.len() - 1] {
            assert!(Artefact::from_bytes(&good[..end]).is_err());
        }
    }

    #[test]
    fn an_edited_count_or_another_schema_is_refused() {
        assert_eq!(edited(r#""seed":"7""#, r#""seed":"8""#), Err(ArtefactError::Checksum));
        let schema = edited("dpscope.histograms/1", "dpscope.histograms/9");
        assert!(matches!(schema, Err(ArtefactError::Schema { .. })));
        assert!(matches!(edited("{", "["), Err(ArtefactError::Malformed { .. })));
    }

    #[test]
    fn messages_escape_control_characters_of_the_file() {
        for text in [r#"{"schema":"\u001b[2J"}"#, r#"{"schema":"dpscope.histograms/1","\u001b":1}"#]
        {
            let message = Artefact::from_bytes(text.as_bytes()).unwrap_err().to_string();
            assert!(message.contains(r"\u{1b}") && !message.contains('\u{1b}'), "{message}");
        }
    }

    #[test]
    fn inconsistent_artefacts_with_a_valid_checksum_are_refused() {
        let good = Artefact::from_bytes(&bytes()).unwrap();
        let with = |change: &dyn Fn(&mut Artefact)| {
            let mut bad = good.clone();
            change(&mut bad);
            Artefact::from_bytes(&bad.to_bytes())
        };
        let changes: [&dyn Fn(&mut Artefact); 19] = [
            &|a| a.float_modes.clear(),
            &|a| a.float_modes.push(FloatMode::Exact),
            &|a| a.range.first = 1,
            &|a| a.sampling_ms = -1.0,
            &|a| a.counted[0].end -= 1,
            &|a| a.counted.push(ObservationRange { first: 10_000, end: 10_001 }),
            &|a| a.range.end += 1,
            &|a| a.plan.observations = 4,
            &|a| a.layout.thresholds.reverse(),
            &|a| a.layout.thresholds[1] = a.layout.thresholds[0],
            &|a| a.layout.thresholds.clear(),
            &|a| a.layout.thresholds.extend((100..116).map(f64::from)),
            &|a| a.version = "1\u{1b}]0;title\u{7}".to_owned(),
            &|a| a.version = "1".repeat(201),
            &|a| a.devices[0].push('\u{9b}'),
            &|a| a.devices[0].push('\r'),
            &|a| a.devices[0].push('\u{202e}'),
            &|a| a.devices.push("é".repeat(201)),
            &|a| a.devices = (0..=256).map(|i| i.to_string()).collect(),
        ];
        for (i, change) in changes.into_iter().enumerate() {
            assert!(matches!(with(change), Err(ArtefactError::Inconsistent { .. })), "{i}");
        }
        assert!(with(&|_| {}).is_ok());
        assert!(with(&|a| a.devices = (1..=256).map(|i| "é".repeat(i.min(200))).collect()).is_ok());
    }

    #[test]
    fn only_the_simultaneous_rule_has_thresholds() {
        let rule = ThresholdRule::Split;
        let split = counted(Plan { threshold_rule: rule, ..plan() }, Shard::WHOLE, 1, 250);
        assert!(Artefact::from_bytes(&split.to_bytes()).is_ok());
        let mut bad = split;
        bad.layout.thresholds.push(0.5);
        let refused = Artefact::from_bytes(&bad.to_bytes());
        assert!(matches!(refused, Err(ArtefactError::Inconsistent { .. })));
    }

    #[test]
    fn devices_beyond_the_limit_are_omitted() {
        let mut state = Artefact::from_bytes(&bytes()).unwrap();
        (0..1000).for_each(|i| state.note_device(i.to_string()));
        assert_eq!(state.devices.len(), MAX_DEVICES);
        assert!(Artefact::from_bytes(&state.to_bytes()).is_ok());
    }
}
