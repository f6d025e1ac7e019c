//! Checks of the kernel of the exact pair: validity, translation, layout, optimisation barriers.

use dpscope_core::accounting::{Training, pair::epsilon_proposal};
use dpscope_shaders::PairKernel;
use dpscope_shaders::pair::PairProgram;

use crate::wgsl::barriers::unprotected;
use crate::wgsl::edited;
use crate::wgsl::layout::check_host;
use crate::wgsl::translation::translated;

fn program() -> PairProgram {
    let run =
        Training { noise_multiplier: 1.0, steps_per_epoch: 100, epochs: 1, sampling_rate: None };
    PairKernel::new(&epsilon_proposal(&run, 1e-5).unwrap(), 7).unwrap().program()
}

#[test]
fn the_pair_kernel_is_valid_and_translates() {
    for source in [PairProgram::source(), PairProgram::source_without_barriers()] {
        let sizes = translated(&source).unwrap();
        assert!(sizes.iter().all(|&size| size > 1_000), "{sizes:?}");
    }
    let source = PairProgram::source();
    for (from, to) in [("fn component(", "fn components("), ("zero: u32,", "zero: f32,")] {
        assert!(translated(&edited(&source, from, to)).is_err(), "{from} -> {to}");
    }
}

/// Checks the assumptions of the host.
fn check(source: &str) -> Result<(), String> {
    let program = program();
    let dispatch = program.dispatch(0, 1);
    let expected = [
        "0/0 params uniform fields",
        "0/2 dispatch uniform fields",
        "0/4 thresholds read Uint",
        "0/6 values read_write Uint",
    ];
    let uniforms = [("params", program.params()), ("dispatch", &dispatch[..])];
    check_host(source, &uniforms, &expected, PairProgram::ENTRY)
}

#[test]
fn the_layout_of_the_pair_kernel_matches_the_host() {
    let source = PairProgram::source();
    assert_eq!(check(&source), Ok(()));
    for (from, to) in [
        ("slope: f32,\n", "slope: vec2<f32>,\n"),
        ("first_low: u32,\nfirst_high: u32,", "first_high: u32,\nfirst_low: u32,"),
        ("@binding(6)", "@binding(5)"),
        ("fn draw(", "fn count("),
    ] {
        assert!(check(&edited(&source, from, to)).is_err(), "{from} -> {to}");
    }
}

#[test]
fn nothing_in_the_pair_kernel_can_be_fused_or_reassociated() {
    let source = PairProgram::source();
    assert_eq!(unprotected(&source), []);
    for (from, to) in [
        ("rounded(largest - centre) > params.span", "largest - centre > params.span"),
        ("let square = rounded4(y * y);", "let square = y * y;"),
        ("let above = rounded4(z - centre);", "let above = z - centre + 1.0;"),
        ("rounded4(rounded4(lowest * scale) + sums)", "rounded4(lowest * scale + sums)"),
        ("middle = rounded4(middle + lowest);", "middle += lowest;"),
    ] {
        let twin = edited(&source, from, to);
        assert!(!unprotected(&twin).is_empty(), "{from} -> {to}");
    }
}
