//! Checks of the kernel of canary directions: validity, translation, layout, optimisation barriers.

use dpscope_shaders::directions::DirectionProgram;

use crate::wgsl::barriers::unprotected;
use crate::wgsl::edited;
use crate::wgsl::layout::check_host;
use crate::wgsl::translation::translated;

#[test]
fn the_direction_kernel_is_valid_and_translates() {
    for source in [DirectionProgram::source(), DirectionProgram::source_without_barriers()] {
        let sizes = translated(&source).unwrap();
        assert!(sizes.iter().all(|&size| size > 1_000), "{sizes:?}");
    }
    let source = DirectionProgram::source();
    assert!(translated(&edited(&source, "zero: u32,", "zero: f32,")).is_err());
}

/// Checks the assumptions of the host.
fn check(source: &str) -> Result<(), String> {
    let program = DirectionProgram::new(7);
    let dispatch = DirectionProgram::dispatch(0, 1, 0, 1);
    let expected = [
        "0/0 params uniform fields",
        "0/2 dispatch uniform fields",
        "0/4 change read Float",
        "0/6 values read_write Float",
    ];
    let uniforms = [("params", program.params()), ("dispatch", &dispatch[..])];
    check_host(source, &uniforms, &expected, DirectionProgram::ENTRY)
}

#[test]
fn the_layout_of_the_direction_kernel_matches_the_host() {
    let source = DirectionProgram::source();
    assert_eq!(check(&source), Ok(()));
    for (from, to) in [
        ("blocks: u32,\nsums: u32,", "sums: u32,\nblocks: u32,"),
        ("@binding(6)", "@binding(5)"),
        ("fn multiply(", "fn count("),
    ] {
        assert!(check(&edited(&source, from, to)).is_err(), "{from} -> {to}");
    }
}

#[test]
fn nothing_in_the_direction_kernel_can_be_fused_or_reassociated() {
    let source = DirectionProgram::source();
    assert_eq!(unprotected(&source), []);
    for (from, to) in [
        ("rounded(product + rounded(normal * change[at]))", "product + normal * change[at]"),
        ("rounded(square + rounded(normal * normal))", "rounded(square + normal * normal)"),
    ] {
        let twin = edited(&source, from, to);
        assert!(!unprotected(&twin).is_empty(), "{from} -> {to}");
    }
}
