//! Levels of simultaneous limits beside longer arithmetic and iterated integrals.

use dpscope_core::audit::one_shot::CumulativeBand;
use dpscope_tests::Table;

/// Whether a level lies at or below the root, by no more than is documented.
fn is_just_below(level: f64, root: f64, significance: f64) -> bool {
    // the roots have 12 digits
    level <= root * (1.0 + 2e-12)
        && (significance < 1e-8 || level >= root * (1.0 - 2e-8 - 1e-12 / significance))
}

/// The distance of a level from its root, as a share of it.
fn wrong(change: impl Fn(f64) -> f64) -> Vec<String> {
    let table = Table::parse(include_str!("one_shot/bands.csv"));
    let mut wrong = Vec::new();
    for row in table.rows() {
        let (kind, size) = (row.text("kind"), row.count("size"));
        let (significance, root) = (row.float("significance"), row.float("level"));
        let band = match kind {
            "arrivals" => CumulativeBand::of_arrivals(size as f64, significance),
            _ => CumulativeBand::of_uniforms(size, significance),
        };
        let level = change(band.expect("valid").local_level());
        if !is_just_below(level, root, significance) {
            let share = level / root - 1.0;
            wrong.push(format!("{kind} {size} {significance:e}: {level:e} {root:e}, {share:e}"));
        }
    }
    wrong
}

#[test]
fn levels_lie_just_below_the_roots() {
    let wrong = wrong(|level| level);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn levels_beside_the_roots_are_rejected() {
    for share in [-1e-6, 3e-8] {
        let found = wrong(|level| level * (1.0 + share));
        assert!(found.len() > 15, "{share}: {found:#?}");
    }
}
