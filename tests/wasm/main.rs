//! Do native code and WebAssembly give the same bits?
//!
//! The package beside this file is built for WebAssembly, plain and with `simd128`, and run by node;
//! its numbers are compared with those that this program computes itself. Without node or the
//! compile target the tests show as ignored, with the reason; with `CI=true` or `REQUIRE_WASM=1` they
//! fail.

mod comparison;
mod module;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::LazyLock;

use comparison::{BuildOutput, differences};
use dpscope_wasm_bits::exports::{
    LIST, dpscope_compiled_with_simd, dpscope_fingerprint_bits, dpscope_fingerprint_count,
    dpscope_mean_cosine,
};
use dpscope_wasm_bits::{List, PLATFORM, bits, groups, hash, with_the_platforms_exp};
use libtest_mimic::{Arguments, Failed, Trial};

/// What this program computes, without the broken twin at the end.
static NATIVE: LazyLock<List> =
    LazyLock::new(|| LIST.iter().filter(|(group, _)| *group != PLATFORM).copied().collect());

/// What node printed for each build, or why it could not.
static PRINTED: LazyLock<Result<Vec<BuildOutput>, String>> =
    LazyLock::new(|| module::BUILDS.iter().map(module::printed).collect());

/// What makes a broken twin of a list.
type Change<'a> = &'a dyn Fn(&mut List);

/// The check of one build.
type Check = fn(&BuildOutput) -> Result<(), String>;

fn main() -> ExitCode {
    let missing = module::missing();
    let required = ["CI", "REQUIRE_WASM"].iter().any(|name| is_set(name));
    let mut trials = vec![
        Trial::test("native_and_wasm_give_the_same_bits", || in_every_build(same_bits)),
        Trial::test("builds_are_compiled_as_named", || in_every_build(compiled_as_named)),
        Trial::test("the_platforms_exp_is_refused", || in_every_build(platform_is_refused)),
        Trial::test("a_changed_list_is_refused", || in_every_build(changes_are_refused)),
    ];
    for (build, module) in module::BUILDS.iter().enumerate() {
        for group in groups(&NATIVE).into_keys() {
            let name = format!("{}: {group}", module.name);
            trials.push(Trial::test(name, move || Ok(same_group(&all_printed()?[build], group)?)));
        }
    }
    if let Some(reason) = missing {
        trials = trials.into_iter().map(|trial| unable(&trial, &reason, required)).collect();
    }
    let native: [(&str, fn()); 4] = [
        ("every_part_has_its_groups", every_part_has_its_groups),
        ("numbers_of_a_group_differ", numbers_of_a_group_differ),
        ("one_bit_or_the_order_changes_a_hash", one_bit_or_the_order_changes_a_hash),
        ("exports_end_and_are_of_this_machine", exports_end_and_are_of_this_machine),
    ];
    trials.extend(native.map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test of that name that fails with the reason; ignored unless it is required.
fn unable(trial: &Trial, reason: &str, required: bool) -> Trial {
    let message = reason.to_string();
    Trial::test(trial.name(), move || Err(Failed::from(message)))
        .with_kind(reason)
        .with_ignored_flag(!required)
}

fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !["", "0", "false"].contains(&value.as_str()))
}

fn all_printed() -> Result<&'static [BuildOutput], String> {
    PRINTED.as_deref().map_err(String::clone)
}

fn in_every_build(check: Check) -> Result<(), Failed> {
    for (build, printed) in module::BUILDS.iter().zip(all_printed()?) {
        check(printed).map_err(|problem| format!("{}: {problem}", build.name))?;
    }
    Ok(())
}

fn same_group(printed: &BuildOutput, group: &str) -> Result<(), String> {
    let native = NATIVE.iter().filter(|(name, _)| *name == group);
    let wasm = printed.numbers.iter().filter(|number| number.group == group);
    differences(native, wasm)
}

fn same_bits(printed: &BuildOutput) -> Result<(), String> {
    differences(&*NATIVE, printed.shared())
}

fn compiled_as_named(printed: &BuildOutput) -> Result<(), String> {
    let expected: Vec<bool> = module::BUILDS.iter().map(|build| build.simd).collect();
    let found: Vec<bool> = all_printed()?.iter().map(|printed| printed.simd).collect();
    let twins = printed.numbers.iter().filter(|number| number.group == PLATFORM).count();
    match expected == found && printed.numbers.len() == NATIVE.len() + twins && twins > 0 {
        true => Ok(()),
        false => Err(format!("simd128 {found:?}, expected {expected:?}; {twins} twins")),
    }
}

fn platform_is_refused(printed: &BuildOutput) -> Result<(), String> {
    let twins = printed.numbers.iter().filter(|number| number.group == PLATFORM);
    match differences(&with_the_platforms_exp(), twins) {
        Ok(()) => Err("the standard library's exp is not distinguished from core's".to_string()),
        Err(_) => Ok(()),
    }
}

fn changes_are_refused(printed: &BuildOutput) -> Result<(), String> {
    let changed = |change: Change<'_>| {
        let mut list = NATIVE.clone();
        change(&mut list);
        differences(&list, printed.shared())
    };
    let last = NATIVE.len() - 1;
    let twins: [(&str, Change<'_>); 5] = [
        ("the lowest bit of the first", &|list| list[0].1 ^= 1),
        ("the sign of the last", &|list| list[last].1 ^= 1 << 63),
        ("another group", &|list| list[last].0 = "another"),
        ("one too few", &|list| list.truncate(last)),
        ("two swapped", &|list| list.swap(0, 1)),
    ];
    match twins.into_iter().find(|(_, change)| changed(change).is_ok()) {
        Some((name, _)) => Err(format!("{name}: not refused")),
        None => Ok(()),
    }
}

fn every_part_has_its_groups() {
    let sizes = groups(&NATIVE);
    assert_eq!(sizes.len(), 30, "{sizes:?}");
    assert!(sizes.values().all(|&size| size >= 4), "{sizes:?}");
    assert!(!sizes.contains_key(PLATFORM));
}

fn numbers_of_a_group_differ() {
    for (group, size) in groups(&NATIVE) {
        let of_group = NATIVE.iter().filter(|(name, _)| *name == group);
        let distinct: BTreeSet<u64> = of_group.map(|(_, bits)| *bits).collect();
        assert!(distinct.len() * 5 > size, "{group}: {} of {size}", distinct.len());
    }
}

fn one_bit_or_the_order_changes_a_hash() {
    let values = [3, 5, 8];
    assert_eq!(hash([]), 0xcbf2_9ce4_8422_2325); // published offset
    assert_eq!(hash(values), hash(values));
    for other in [[3, 5, 9], [5, 3, 8], [3, 5, 8 ^ 1 << 63]] {
        assert_ne!(hash(values), hash(other));
    }
    assert_ne!(bits(0.0), bits(-0.0));
    assert_eq!(bits(f64::NAN), bits(-f64::NAN));
}

/// The order of the exports is tested by node, which prints them.
fn exports_end_and_are_of_this_machine() {
    assert_eq!(dpscope_fingerprint_bits(u32::MAX), 0);
    assert_eq!(dpscope_fingerprint_bits(dpscope_fingerprint_count()), 0);
    assert_eq!(dpscope_compiled_with_simd(), 0);
    // a standard deviation of the mean of 30 cosines in 5,000 dimensions is 0.0026
    assert!(dpscope_mean_cosine(5_000, 30).abs() < 0.0104);
}
