//! The published tables, as printed.

use dpscope_core::mechanism::{SamplerKind, ThreatModel};

use crate::failure::{Exit, Failure};

const FIGURE_3: &str = include_str!("../../../data/shuffle_or_not/figure_3.csv");
const DP_SGD: &str = include_str!("../../../data/shuffle_or_not/dp_sgd.csv");
const TABLE_1: &str = include_str!("../../../data/shuffle_or_not/table_1.csv");

/// A row of a published table.
pub(super) struct Published {
    pub(super) name: String,
    pub(super) noise_multiplier: f64,
    pub(super) steps: u32,
    pub(super) epochs: u32,
    pub(super) claimed_epsilon: Option<f64>,
    pub(super) empirical_epsilon: Option<f64>,
}

pub(super) fn figure_3() -> Result<Vec<Published>, Failure> {
    let row = |cells: &[&str]| -> Option<Published> {
        let &[noise_multiplier, steps, claimed, empirical] = cells else { return None };
        Some(Published {
            name: format!("σ={noise_multiplier} T={steps}"),
            noise_multiplier: noise_multiplier.parse().ok()?,
            steps: steps.parse().ok()?,
            epochs: 1,
            claimed_epsilon: claimed.parse().ok(),
            empirical_epsilon: empirical.parse().ok(),
        })
    };
    parsed(FIGURE_3, row)
}

pub(super) fn table_1() -> Result<Vec<Published>, Failure> {
    let row = |cells: &[&str]| -> Option<Published> {
        let &[name, noise_multiplier, steps, epochs, claimed, empirical] = cells else {
            return None;
        };
        Some(Published {
            name: name.to_owned(),
            noise_multiplier: noise_multiplier.parse().ok()?,
            steps: steps.parse().ok()?,
            epochs: epochs.parse().ok()?,
            claimed_epsilon: claimed.parse().ok(),
            empirical_epsilon: empirical.parse().ok(),
        })
    };
    parsed(TABLE_1, row)
}

/// A setting of a DP-SGD experiment.
pub(super) struct Experiment {
    pub(super) name: String,
    /// None if no model is trained.
    pub(super) model: Option<String>,
    pub(super) sampler: SamplerKind,
    pub(super) buffer_examples: Option<u64>,
    pub(super) threat_model: ThreatModel,
    pub(super) batch_size: u32,
    /// Whether each run draws its own canary gradient, if models are trained.
    pub(super) has_fresh_canary: bool,
    pub(super) claimed_epsilon: f64,
    /// None if calibrated to the claim.
    pub(super) noise_multiplier: Option<f64>,
    pub(super) published: Option<f64>,
    /// Published as below the claim, without a number.
    pub(super) is_below_claim: bool,
    pub(super) published_times: Option<f64>,
}

/// The settings of one experiment.
pub(super) fn dp_sgd(what: &str) -> Result<Vec<Experiment>, Failure> {
    let row = |cells: &[&str]| -> Option<(bool, Experiment)> {
        let &[
            of,
            name,
            model,
            sampler,
            buffer,
            attacker,
            size,
            canary,
            claimed,
            noise,
            seen,
            times,
        ] = cells
        else {
            return None;
        };
        let experiment = Experiment {
            name: name.to_owned(),
            model: (!model.is_empty()).then(|| model.to_owned()),
            sampler: sampler.parse().ok()?,
            buffer_examples: buffer.parse().ok(),
            threat_model: attacker.parse().ok()?,
            batch_size: size.parse().ok()?,
            has_fresh_canary: canary != "fixed",
            claimed_epsilon: claimed.parse().ok()?,
            noise_multiplier: noise.parse().ok(),
            published: seen.parse().ok(),
            is_below_claim: seen == "below",
            published_times: times.parse().ok(),
        };
        Some((of == what, experiment))
    };
    let all = parsed(DP_SGD, row)?.into_iter();
    Ok(all.filter(|(is_of_it, _)| *is_of_it).map(|(_, experiment)| experiment).collect())
}

fn parsed<T>(csv: &str, row: impl Fn(&[&str]) -> Option<T>) -> Result<Vec<T>, Failure> {
    let cells = |line: &str| row(&line.split(',').collect::<Vec<_>>());
    let rows: Option<Vec<T>> = csv.lines().skip(1).map(cells).collect();
    rows.ok_or_else(|| Failure::with(Exit::Internal, "the published table cannot be read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_tables_parse() {
        assert_eq!(figure_3().unwrap().len(), 6);
        assert_eq!(table_1().unwrap().len(), 6);
    }
}
