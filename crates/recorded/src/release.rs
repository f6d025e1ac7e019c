//! What is kept of a release: its scale and digest.

use dpscope_formats::CanariesDigest;

use crate::hex;

/// Parameters that are digested together.
const BLOCK: u64 = 1 << 16;

/// Scale and digest of a release: an update, or the change of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReleaseSummary {
    /// √(‖x‖²/d): 0 if nothing changed, and infinite beyond f64.
    pub unit: f64,
    digest: [u8; 32],
}

impl ReleaseSummary {
    /// The summary of a release; `read` returns so many parameters from one on.
    ///
    /// # Errors
    /// The errors of `read`.
    pub fn of<E>(
        dimension: u64,
        mut read: impl FnMut(u64, usize) -> Result<Vec<f64>, E>,
    ) -> Result<Self, E> {
        // Σ x² in units of `most`, so that no square overflows or vanishes
        let (mut most, mut square) = (0.0_f64, 0.0);
        let mut digest = CanariesDigest::default();
        for first in (0..dimension).step_by(BLOCK as usize) {
            let count = (dimension - first).min(BLOCK) as usize;
            let values = read(first, count)?;
            let largest = values.iter().fold(most, |most, value| most.max(value.abs()));
            if largest > most {
                square *= (most / largest) * (most / largest);
                most = largest;
            }
            if most > 0.0 {
                square += values.iter().map(|x| (x / most) * (x / most)).sum::<f64>();
            }
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            digest = digest.with_array("update", "<f8", &[count as u64], &bytes);
        }
        let unit = most * (square / dimension as f64).sqrt();
        Ok(Self { unit, digest: digest.finish() })
    }

    /// Whether a direction can be compared with it.
    #[must_use]
    pub fn has_direction(&self) -> bool {
        self.unit > 0.0 && self.unit.is_finite()
    }

    /// SHA-256 of all releases in their order, and of what else determines the scores.
    #[must_use]
    pub fn digest_of(summaries: &[Self], statistic: &str) -> String {
        let start = CanariesDigest::default().with_array(statistic, "|u1", &[], &[]);
        let add = |digest: CanariesDigest, summary: &Self| {
            digest.with_array("server round", "|u1", &[32], &summary.digest)
        };
        hex(&summaries.iter().fold(start, add).finish())
    }
}
