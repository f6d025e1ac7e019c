//! What a backend counts, and the result of a wave.

use dpscope_core::audit::AuditHistograms;
use dpscope_core::audit::histogram::ScoreBins;
use dpscope_shaders::bgm::ScoreKernel;

use crate::ObservationRange;
use crate::control::Control;
use crate::tally::TrainingTally;

/// What is counted.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub(crate) kernel: &'a ScoreKernel,
    pub(crate) bins: &'a ScoreBins,
    pub(crate) control: &'a dyn Control,
}

/// Histograms of a wave.
#[derive(Debug)]
pub(crate) struct WaveCounts {
    /// The wave, or the start of it if the CPU replaced a failed device.
    pub(crate) range: ObservationRange,
    pub(crate) histograms: AuditHistograms,
    /// Wall time; that of overlapping waves is not counted twice.
    pub(crate) sampling_ms: f64,
    /// Whether the CPU replaced a failed device.
    pub(crate) is_fallback: bool,
    /// Statistics of trained runs, per world.
    pub(crate) tallies: Option<[TrainingTally; 2]>,
}
