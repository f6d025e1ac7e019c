//! The state of a run as a file: checkpoints, shards and merged results have one format.

use dpscope_core::foreign_text::{self, ForeignText};
use serde::{Deserialize, Serialize};

use crate::digest::sha256;
use crate::{ArtefactError, FloatMode, Plan, UnitRange};

/// Maximum number of devices that an artefact names.
const MAX_DEVICES: usize = 256;

/// Maximum length of the name of a device or version, in characters.
const MAX_NAME_CHARS: usize = 200;

/// Maximum sampling time, about 30,000 years: sums stay finite.
const MAX_SAMPLING_MS: f64 = 1e15;

/// Evidence of some units of a plan, with everything needed to resume or merge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "P: Plan")]
pub struct Artefact<P: Plan> {
    schema: String,
    /// Version of the program that wrote it.
    pub version: String,
    /// The plan.
    pub plan: P,
    plan_hash: String,
    /// What was fixed before the units were computed.
    #[serde(rename = "layout")] // as artefacts have named it from the start
    pub stage: P::Stage,
    /// The units of this run.
    pub range: UnitRange,
    /// The computed units: sorted, disjoint, not adjacent.
    pub counted: Vec<UnitRange>,
    /// Their evidence.
    #[serde(rename = "histograms")] // as artefacts have named it from the start
    pub evidence: P::Evidence,
    /// Devices used, at most 256.
    pub devices: Vec<String>,
    /// Float modes used.
    pub float_modes: Vec<FloatMode>,
    /// Number of waves computed by the CPU because a device failed.
    pub fallback_shards: u64,
    /// Wall time spent on waves, in milliseconds.
    pub sampling_ms: f64,
    /// SHA-256 of this document with an empty checksum.
    checksum: String,
}

/// Whether a name is short and safe to print.
fn is_plain(name: &str) -> bool {
    name.chars().count() <= MAX_NAME_CHARS && name.chars().all(foreign_text::is_plain)
}

/// The schema of a saved state, of which a program reads several.
///
/// # Errors
/// No JSON object with a schema.
pub fn schema_of(bytes: &[u8]) -> Result<String, ArtefactError> {
    #[derive(Deserialize)]
    struct Header {
        schema: String,
    }
    serde_json::from_slice(bytes).map(|Header { schema }| schema).map_err(malformed)
}

fn malformed(error: serde_json::Error) -> ArtefactError {
    ArtefactError::Malformed { reason: ForeignText::of(error) }
}

impl<P: Plan> Artefact<P> {
    /// Maximum size of an artefact, in bytes.
    pub const MAX_BYTES: usize = P::MAX_BYTES;

    /// The state of a stage before its first unit.
    #[must_use]
    pub fn empty(plan: P, stage: P::Stage, range: UnitRange) -> Self {
        Artefact {
            schema: P::SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            plan_hash: sha256(&plan),
            evidence: plan.empty(&stage),
            plan,
            stage,
            range,
            counted: Vec::new(),
            devices: Vec::new(),
            float_modes: Vec::new(),
            fallback_shards: 0,
            sampling_ms: 0.0,
            checksum: String::new(),
        }
    }

    /// Number of computed units.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.counted.iter().map(UnitRange::len).sum()
    }

    /// Whether all units of [`range`](Self::range) are computed.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.range.is_empty() || self.counted == [self.range]
    }

    /// Whether all units of the last stage, and no others, are computed; only then is there a bound.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_whole() && self.plan.is_last(&self.stage)
    }

    /// Whether all units of the stage are computed.
    pub(crate) fn is_whole(&self) -> bool {
        self.counted == [UnitRange { first: 0, end: self.plan.units() }]
    }

    /// The first missing units of [`range`](Self::range); empty if none are left.
    #[must_use]
    pub fn remaining(&self) -> UnitRange {
        self.range.first_gap(&self.counted)
    }

    /// Checks that this is a state of the plan.
    ///
    /// # Errors
    /// Another plan.
    pub fn check_plan(&self, plan: &P) -> Result<(), ArtefactError> {
        if self.plan == *plan {
            return Ok(());
        }
        Err(ArtefactError::PlanMismatch { differences: plan.differences(&self.plan) })
    }

    /// The document, with its checksum.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let checksum = self.computed_checksum();
        let document = Artefact { checksum, ..self.clone() };
        serde_json::to_vec(&document).unwrap_or_default()
    }

    fn computed_checksum(&self) -> String {
        sha256(&Artefact { checksum: String::new(), ..self.clone() })
    }

    /// Reads a document and checks everything in it.
    ///
    /// # Errors
    /// Too large, not of this schema, damaged, or inconsistent.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ArtefactError> {
        if bytes.len() > Self::MAX_BYTES {
            return Err(ArtefactError::TooLarge { bytes: bytes.len(), max: Self::MAX_BYTES });
        }
        let schema = schema_of(bytes)?;
        if schema != P::SCHEMA {
            let found = ForeignText::new(&schema);
            return Err(ArtefactError::Schema { found, expected: P::SCHEMA });
        }
        let artefact: Self = serde_json::from_slice(bytes).map_err(malformed)?;
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
        if self.plan_hash != sha256(&self.plan) {
            return wrong("its plan does not match its hash");
        }
        if !self.has_plain_names() {
            return wrong("its version or devices are too long, too many or not printable");
        }
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
        if self.range.end > self.plan.units() || outside {
            return wrong("it counts units outside its range or plan");
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
        match self.plan.check(&self.stage, &self.evidence, self.done()) {
            Ok(()) => Ok(self),
            Err(what) => wrong(what),
        }
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
    use super::*;
    use crate::Shard;
    use crate::toy::{PLAN, Toy, ToyPlan, computed};

    type ToyArtefact = Artefact<ToyPlan>;

    fn bytes() -> Vec<u8> {
        computed(&Toy::new(PLAN), Shard::WHOLE, 250).to_bytes()
    }

    fn edited(from: &str, to: &str) -> Result<ToyArtefact, ArtefactError> {
        let text = String::from_utf8(bytes()).unwrap();
        assert!(text.contains(from), "{from}");
        Artefact::from_bytes(text.replacen(from, to, 1).as_bytes())
    }

    #[test]
    fn artefacts_round_trip_through_bytes() {
        let artefact = ToyArtefact::from_bytes(&bytes()).unwrap();
        assert_eq!(artefact.to_bytes(), bytes());
        assert!(artefact.is_complete() && artefact.is_finished());
    }

    #[test]
    fn damage_is_detected_at_every_byte() {
        let good = bytes();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert!(ToyArtefact::from_bytes(&bad).is_err(), "byte {at}");
        }
        for end in [0, 1, 100, good.len() - 1] {
            assert!(ToyArtefact::from_bytes(&good[..end]).is_err());
        }
    }

    #[test]
    fn an_edited_count_or_another_schema_is_refused() {
        assert_eq!(edited(r#""seed":7"#, r#""seed":8"#), Err(ArtefactError::Checksum));
        assert!(matches!(edited("toy/1", "toy/9"), Err(ArtefactError::Schema { .. })));
        assert!(matches!(edited("{", "["), Err(ArtefactError::Malformed { .. })));
        let large = vec![b' '; ToyArtefact::MAX_BYTES + 1];
        assert!(matches!(ToyArtefact::from_bytes(&large), Err(ArtefactError::TooLarge { .. })));
    }

    #[test]
    fn messages_escape_control_characters_of_the_file() {
        for text in [r#"{"schema":"\u001b[2J"}"#, r#"{"schema":"toy/1","\u001b":1}"#] {
            let message = ToyArtefact::from_bytes(text.as_bytes()).unwrap_err().to_string();
            assert!(message.contains(r"\u{1b}") && !message.contains('\u{1b}'), "{message}");
        }
    }

    #[test]
    fn inconsistent_artefacts_with_a_valid_checksum_are_refused() {
        let good = ToyArtefact::from_bytes(&bytes()).unwrap();
        let with = |change: &dyn Fn(&mut ToyArtefact)| {
            let mut bad = good.clone();
            change(&mut bad);
            ToyArtefact::from_bytes(&bad.to_bytes())
        };
        let changes: [&dyn Fn(&mut ToyArtefact); 17] = [
            &|a| a.float_modes.clear(),
            &|a| a.float_modes.push(FloatMode::Exact),
            &|a| a.range.first = 1,
            &|a| a.sampling_ms = -1.0,
            &|a| a.counted[0].end -= 1,
            &|a| a.counted.push(UnitRange { first: 10_000, end: 10_001 }),
            &|a| a.range.end += 1,
            &|a| a.plan.units = 4,
            &|a| a.stage.number = 2,
            &|a| a.evidence.units -= 1,
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
    fn devices_beyond_the_limit_are_omitted() {
        let mut state = ToyArtefact::from_bytes(&bytes()).unwrap();
        (0..1000).for_each(|i| state.note_device(i.to_string()));
        assert_eq!(state.devices.len(), MAX_DEVICES);
        assert!(ToyArtefact::from_bytes(&state.to_bytes()).is_ok());
    }
}
