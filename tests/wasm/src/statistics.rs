//! Counts → limits → ε, Gaussian differential privacy, credible limits, special functions.

use dpscope_core::audit::bayesian::{ConfusionCounts, JointBetaPosterior};
use dpscope_core::audit::bound::ceiling;
use dpscope_core::audit::bound::{at_fixed_cut, epsilon_from_rates};
use dpscope_core::audit::planner::observations_for_ceiling;
use dpscope_core::audit::trade_off::{Cut, ErrorCounts, Trials};
use dpscope_core::gdp::{gdp_delta, gdp_epsilon, gdp_mu_for, gdp_mu_lower_bound};
use dpscope_core::interval::{
    clopper_pearson_lower, clopper_pearson_upper, jeffreys_lower, jeffreys_upper,
};
use dpscope_core::math;
use dpscope_core::random::Purpose;
use dpscope_core::recorded::independence::{
    RecordedRuns, lag_one_correlation, repeated_positions_over_epochs, shared_noise,
};
use dpscope_core::special::{
    BetaDistribution, ln_binomial_pmf, ln_gamma, normal_cdf, normal_ln_cdf, normal_ln_pdf,
    normal_pdf, normal_quantile, normal_quantile_from_ln, normal_survival, stirling_error,
};
use dpscope_shaders::random::stream_normals;

use crate::{Fingerprints, grid};

const TRIALS: [u64; 9] = [1, 7, 100, 5_085, 99_991, 1_000_000, 892_973_313, 2_610_333_747, 1 << 34];
const TAILS: [f64; 6] = [0.25, 0.05, 0.025, 1.1e-3, 1e-6, 1.56e-8];
const DELTAS: [f64; 5] = [1e-12, 1e-9, 1e-5, 1e-3, 0.1];

const INSIDE: &str = "arguments inside their domains";

/// No event, few, half, nearly all, all.
fn events_of(trials: u64) -> [u64; 7] {
    [0, 1, trials / 1_000, trials / 7, trials / 2, trials - 1, trials].map(|n| n.min(trials))
}

pub(crate) fn collect(found: &mut Fingerprints) {
    intervals(found);
    normal(found);
    special(found);
    rates(found);
    gaussian(found);
    credible(found);
    planner(found);
    independence(found);
}

fn intervals(found: &mut Fingerprints) {
    for trials in TRIALS {
        for (events, tail) in
            events_of(trials).into_iter().flat_map(|events| TAILS.map(|tail| (events, tail)))
        {
            for limit in
                [clopper_pearson_lower, clopper_pearson_upper, jeffreys_lower, jeffreys_upper]
            {
                found.float("interval limits", limit(events, trials, tail).expect(INSIDE));
            }
        }
    }
}

fn normal(found: &mut Fingerprints) {
    const GROUP: &str = "normal distribution";
    for x in grid(-38.4, 38.4, 193) {
        for function in [normal_pdf, normal_ln_pdf, normal_cdf, normal_survival, normal_ln_cdf] {
            found.float(GROUP, function(x));
        }
    }
    for power in grid(-300.0, -0.3, 300) {
        let probability = math::powf(10.0, power);
        found.float(GROUP, normal_quantile(probability).expect(INSIDE));
        found.float(GROUP, normal_quantile_from_ln(10.0 * power).expect(INSIDE));
    }
    for probability in grid(1e-3, 0.999, 400) {
        found.float(GROUP, normal_quantile(probability).expect(INSIDE));
    }
}

fn special(found: &mut Fingerprints) {
    for power in grid(-2.0, 18.0, 101) {
        let x = math::powf(10.0, power);
        found.float("gamma", ln_gamma(x).expect(INSIDE));
        found.float("gamma", stirling_error(x).expect(INSIDE));
    }
    for trials in TRIALS {
        for events in events_of(trials) {
            let beta = BetaDistribution::new(events as f64 + 0.5, (trials - events) as f64 + 0.5);
            let beta = beta.expect(INSIDE);
            for probability in [1e-9, 0.01, 0.5, 0.999] {
                let (low, high) = (beta.quantile(probability), beta.upper_quantile(probability));
                let (low, high) = (low.expect(INSIDE), high.expect(INSIDE));
                found.float("beta distribution", low.value());
                found.float("beta distribution", high.complement());
                found.float(
                    "beta distribution",
                    beta.cdf(1.01 * high.value().min(0.9)).expect(INSIDE),
                );
                found.float(
                    "beta distribution",
                    beta.ln_survival(0.99 * low.value()).expect(INSIDE),
                );
                let pmf = ln_binomial_pmf(events, trials, probability);
                found.float("beta distribution", pmf.expect(INSIDE));
            }
        }
    }
}

fn rates(found: &mut Fingerprints) {
    const GROUP: &str = "epsilon from counts";
    for fpr in grid(1e-7, 0.999, 40) {
        for fnr in grid(1e-7, 0.999, 40) {
            let delta = DELTAS[(1e3 * fpr) as usize % DELTAS.len()];
            found.float(GROUP, epsilon_from_rates(fpr, fnr, delta).epsilon);
        }
    }
    for observations in TRIALS {
        let trials = Trials { target: observations, zero_out: observations - observations / 3 };
        for (i, false_positives) in events_of(trials.zero_out).into_iter().enumerate() {
            let false_negatives = events_of(observations)[(2 * i) % 7];
            let errors = ErrorCounts { false_positives, false_negatives };
            let cut = Cut { threshold: 0.0, errors };
            let bound = at_fixed_cut(cut, trials, DELTAS[i % 5], 0.05).expect(INSIDE);
            let evidence = bound.evidence();
            for value in [bound.value(), evidence.ceiling, evidence.gain_at_10x] {
                found.float(GROUP, value);
            }
        }
    }
}

fn gaussian(found: &mut Fingerprints) {
    const GROUP: &str = "Gaussian differential privacy";
    for power in grid(-6.0, 3.0, 37) {
        let gdp_mu = math::powf(10.0, power);
        for delta in DELTAS {
            let epsilon = gdp_epsilon(gdp_mu, delta).expect(INSIDE);
            found.float(GROUP, epsilon);
            found.float(GROUP, gdp_delta(gdp_mu, 0.9 * epsilon).expect(INSIDE));
            found.float(GROUP, gdp_mu_for(gdp_mu, delta).expect(INSIDE));
        }
    }
    for fpr in grid(1e-6, 0.5, 30) {
        found.float(GROUP, gdp_mu_lower_bound(fpr, 0.3 * fpr).expect(INSIDE));
    }
}

fn credible(found: &mut Fingerprints) {
    let counts = [
        [20, 5, 3, 22],
        [0, 1, 1, 0],
        [100, 0, 0, 100],
        [400, 99_600, 13, 99_987],
        [0, 3, 500_000_000, 500_000_000],
        [750_000_000, 250_000_000, 250_000_000, 750_000_000],
    ];
    for [true_positives, false_negatives, false_positives, true_negatives] in counts {
        let counts =
            ConfusionCounts { true_positives, false_negatives, false_positives, true_negatives };
        for delta in [0.0, 1e-5, 0.01] {
            let posterior = JointBetaPosterior::new(counts, delta).expect(INSIDE);
            found.float("credible limits", posterior.probability_within(0.7).expect(INSIDE));
            for significance in [0.05, 1e-6] {
                let credible = posterior.credible_interval(significance).expect(INSIDE);
                found.float("credible limits", credible.lower);
                found.float("credible limits", credible.upper);
            }
        }
    }
}

fn planner(found: &mut Fingerprints) {
    for epsilon in [0.1, 1.0, 4.0, 9.0, 15.0, 20.0] {
        let needed = observations_for_ceiling(epsilon, 1e-9, 0.025).expect(INSIDE);
        found.integer("planner", needed);
        let trials = Trials { target: needed, zero_out: needed };
        found.float("planner", ceiling(trials, 1e-5, 1e-3).expect(INSIDE));
    }
}

fn independence(found: &mut Fingerprints) {
    const GROUP: &str = "independence";
    for count in 20..220_u64 {
        let draw = |stream| -> Vec<f64> {
            let normals = stream_normals(count, Purpose::Test, stream, count as usize);
            normals.into_iter().map(f64::from).collect()
        };
        let (target, zero_out) = (draw(0), draw(1));
        found.float(GROUP, lag_one_correlation(&target).p_value);
        let whole = target.len() / 10 * 10;
        let target = RecordedRuns::new(&target[..whole], 2, 5).expect(INSIDE);
        let zero_out = RecordedRuns::new(&zero_out[..whole], 2, 5).expect(INSIDE);
        found.float(GROUP, repeated_positions_over_epochs(target).p_value);
        found.float(GROUP, shared_noise(target, zero_out).expect(INSIDE).p_value);
    }
}
