//! Do native code and WebAssembly give the same bits?
//!
//! The package beside this file is built for WebAssembly, plain and with `simd128`, and run by node;
//! its numbers are compared with those that this program computes itself. Without node or the
//! compile target the tests show as ignored, with the reason; with `CI=true` or `REQUIRE_WASM=1` they
//! fail.

mod comparison;
mod module;

use std::process::ExitCode;
use std::sync::LazyLock;

use comparison::{BuildOutput, differences};
use dpscope_wasm_bits::{List, PLATFORM, fingerprints, groups, with_the_platforms_exp};
use libtest_mimic::{Arguments, Failed, Trial};

static NATIVE: LazyLock<List> = LazyLock::new(fingerprints);

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
