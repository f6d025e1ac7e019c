//! Gauss–Legendre rules of fixed order.

/// ∫ f over [lower, upper] by the rule of 12 nodes.
pub(crate) fn gauss_legendre_12(lower: f64, upper: f64, f: impl FnMut(f64) -> f64) -> f64 {
    apply(&RULE_12, lower, upper, f)
}

/// ∫ f over [lower, upper] by the rule of 32 nodes.
pub(crate) fn gauss_legendre_32(lower: f64, upper: f64, f: impl FnMut(f64) -> f64) -> f64 {
    apply(&RULE_32, lower, upper, f)
}

fn apply(rule: &[(f64, f64)], lower: f64, upper: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let (centre, half) = (0.5 * (lower + upper), 0.5 * (upper - lower));
    let sum: f64 = rule
        .iter()
        .map(|&(node, weight)| weight * (f(centre - half * node) + f(centre + half * node)))
        .sum();
    half * sum
}

// Positive nodes and their weights: Newton on the Legendre polynomial at 50 digits.
const RULE_12: [(f64, f64); 6] = [
    (0.981_560_634_246_719_2, 0.047_175_336_386_511_83),
    (0.904_117_256_370_474_9, 0.106_939_325_995_318_43),
    (0.769_902_674_194_304_7, 0.160_078_328_543_346_22),
    (0.587_317_954_286_617_5, 0.203_167_426_723_065_92),
    (0.367_831_498_998_180_2, 0.233_492_536_538_354_8),
    (0.125_233_408_511_468_9, 0.249_147_045_813_402_77),
];
const RULE_32: [(f64, f64); 16] = [
    (0.997_263_861_849_481_6, 0.007_018_610_009_470_096),
    (0.985_611_511_545_268_4, 0.016_274_394_730_905_67),
    (0.964_762_255_587_506_4, 0.025_392_065_309_262_06),
    (0.934_906_075_937_739_7, 0.034_273_862_913_021_43),
    (0.896_321_155_766_052_1, 0.042_835_898_022_226_68),
    (0.849_367_613_732_57, 0.050_998_059_262_376_175),
    (0.794_483_795_967_942_4, 0.058_684_093_478_535_544),
    (0.732_182_118_740_289_7, 0.065_822_222_776_361_85),
    (0.663_044_266_930_215_2, 0.072_345_794_108_848_5),
    (0.587_715_757_240_762_3, 0.078_193_895_787_070_31),
    (0.506_899_908_932_229_4, 0.083_311_924_226_946_75),
    (0.421_351_276_130_635_33, 0.087_652_093_004_403_81),
    (0.331_868_602_282_127_67, 0.091_173_878_695_763_89),
    (0.239_287_362_252_137_06, 0.093_844_399_080_804_57),
    (0.144_471_961_582_796_5, 0.095_638_720_079_274_86),
    (0.048_307_665_687_738_32, 0.096_540_088_514_727_8),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math;

    #[test]
    fn a_rule_of_n_nodes_is_exact_to_degree_two_n_minus_one() {
        for degree in 0..64_i32 {
            let exact = (math::powi(3.0, degree + 1) - 1.0) / f64::from(degree + 1) / 2.0;
            let f = |x: f64| math::powi(x, degree);
            let seen = gauss_legendre_32(1.0, 3.0, f) / 2.0;
            assert!((seen / exact - 1.0).abs() < 1e-14, "degree {degree}: {seen} {exact}");
            if degree < 24 {
                let seen = gauss_legendre_12(1.0, 3.0, f) / 2.0;
                assert!((seen / exact - 1.0).abs() < 1e-14, "degree {degree}: {seen} {exact}");
            }
        }
    }

    #[test]
    fn the_exactness_check_rejects_too_high_a_degree() {
        let exact = 1.0 / 31.0;
        let seen = gauss_legendre_12(0.0, 1.0, |x| math::powi(x, 30));
        assert!((seen / exact - 1.0_f64).abs() > 1e-14);
    }
}
