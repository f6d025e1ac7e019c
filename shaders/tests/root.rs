//! The square root of exact mode is correctly rounded, whatever the accuracy of the device's own.
//!
//! A transcription of `root` of `float.wgsl`: an initial guess, one Newton step, and a correction
//! in 32-bit integers.

/// Behaviour that WGSL leaves open: the error of the inverse square root in units in the last
/// place, and whether the residual is fused.
#[derive(Debug, Clone, Copy)]
struct Device {
    units: i32,
    fused: bool,
}

/// `near` of the kernel.
fn near(x: f32, device: Device) -> f32 {
    let exact = (1.0 / f64::from(x).sqrt()) as f32;
    let inverse = f32::from_bits(exact.to_bits().wrapping_add_signed(device.units));
    let guess = x * inverse;
    let half = 0.5 * inverse;
    let (x64, guess64) = (f64::from(x), f64::from(guess));
    if device.fused {
        let residual = (x64 - guess64 * guess64) as f32;
        (guess64 + f64::from(half) * f64::from(residual)) as f32
    } else {
        guess + half * (x - guess * guess)
    }
}

/// Faults of the correction.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Twist {
    None,
    Uncorrected,
    OnlyUp,
    OffByOne,
    OtherParity,
}

/// The correction of `near`, as in the kernel.
fn corrected(x: f32, near: f32, twist: Twist) -> f32 {
    let bits = x.to_bits();
    let base = (((bits.wrapping_add(0x3f80_0000)) >> 1) & 0x7f80_0000).wrapping_sub(0x0080_0000);
    let parity = (bits >> 23) & 1;
    let shift = 24 - if twist == Twist::OtherParity { 1 - parity } else { parity };
    let square = bits << shift;
    let s = near.to_bits().wrapping_sub(base);
    let off = square.wrapping_sub(s.wrapping_mul(s)) as i32;
    let limit = if twist == Twist::OffByOne { s + 2 } else { s } as i32;
    let up = u32::from(off > limit && twist != Twist::Uncorrected);
    let down = u32::from(off <= -limit && !matches!(twist, Twist::OnlyUp | Twist::Uncorrected));
    f32::from_bits(base.wrapping_add(s).wrapping_add(up).wrapping_sub(down))
}

/// All mantissas of two consecutive exponents, with which the mantissas of roots repeat.
fn mantissas(exponent: u32) -> impl Iterator<Item = f32> {
    (0..1 << 24).map(move |i: u32| f32::from_bits((exponent << 23) + i))
}

/// The first number with a wrong root if the guess is off by `units`.
fn wrong(exponent: u32, units: i32, twist: Twist) -> Option<f32> {
    mantissas(exponent).find(|&x| {
        let root = x.sqrt();
        let guess = f32::from_bits(root.to_bits().wrapping_add_signed(units));
        corrected(x, guess, twist).to_bits() != root.to_bits()
    })
}

#[test]
fn every_root_is_the_nearest() {
    for units in [-1, 0, 1] {
        assert_eq!(wrong(126, units, Twist::None), None, "{units}");
    }
    // −2 ln u lies between 6e-8 and 90: exponents 103 to 133.
    for exponent in (1..254).step_by(9).chain([103, 133, 253]) {
        for x in mantissas(exponent).step_by(4_099) {
            for units in [-1, 0, 1] {
                let guess = f32::from_bits(x.sqrt().to_bits().wrapping_add_signed(units));
                assert_eq!(corrected(x, guess, Twist::None), x.sqrt(), "{x:e} {units}");
            }
        }
    }
}

#[test]
fn one_newton_step_is_accurate_enough() {
    for x in mantissas(126).step_by(7) {
        let root = x.sqrt();
        for units in -4..=4 {
            for fused in [false, true] {
                let device = Device { units, fused };
                let near = near(x, device);
                let off = near.to_bits().abs_diff(root.to_bits());
                assert!(off <= 1, "{x:e} {device:?}: {off} units off");
                assert_eq!(corrected(x, near, Twist::None), root, "{x:e} {device:?}");
            }
        }
    }
}

#[test]
fn broken_corrections_are_detected() {
    for (twist, units) in [
        (Twist::Uncorrected, 1),
        (Twist::Uncorrected, -1),
        (Twist::OnlyUp, 1),
        (Twist::OffByOne, 1),
        (Twist::OffByOne, -1),
        (Twist::OtherParity, 0),
    ] {
        assert!(wrong(126, units, twist).is_some(), "{twist:?} {units}");
    }
    assert!(wrong(126, 2, Twist::None).is_some(), "the correction covers one unit only");
}

#[test]
fn the_transcription_matches_the_kernel() {
    let kernel = include_str!("../src/float.wgsl");
    let lines = [
        "let inverse = inverseSqrt(x);",
        "let guess = x * inverse;",
        "let near = guess + (0.5 * inverse) * (x - guess * guess);",
        "let base = (((bits + 0x3f800000u) >> vec2<u32>(1u)) & vec2<u32>(0x7f800000u)) - 0x800000u;",
        "let square = bits << (vec2<u32>(24u) - ((bits >> vec2<u32>(23u)) & vec2<u32>(1u)));",
        "let s = bitcast<vec2<u32>>(near) - base;",
        "let off = bitcast<vec2<i32>>(square - s * s);",
        "let up = select(vec2<u32>(0u), vec2<u32>(1u), off > bitcast<vec2<i32>>(s));",
        "let down = select(vec2<u32>(0u), vec2<u32>(1u), off <= -bitcast<vec2<i32>>(s));",
        "let nearest = bitcast<vec2<f32>>(base + s + up - down);",
    ];
    for line in lines {
        assert!(kernel.contains(line), "`{line}` is missing: update the transcription of `root`");
    }
}
