//! Words and facts that pages need before a bundle is loaded.

use dpscope_core::accounting::{
    BOUNDS, BoundRow, Cost, Directions, Kind, KnownBound, Method, deciding_bounds,
};
use dpscope_core::adjacency::Scope;
use dpscope_core::audit::claim::Verdict;
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::LIBRARY_LOADERS;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::words::{
    BOUNDED, NO_LEAKAGE, SAMPLER_MENU, batches, bound_words, direction_in_words, method_in_words,
    sampler_words, scope_in_words, verdict_in_words,
};

/// The samplers, shared sentences, and the words for each part of an accounted value.
#[must_use]
pub fn vocabulary() -> Value {
    let methods = [
        Method::Analytic,
        Method::PrivacyLossDistribution,
        Method::MaxSlice,
        Method::Sum,
        Method::ImportanceSampling,
        Method::PlugIn,
    ];
    json!({
        "bounds": bounds(|row| {
            json!({ "cost": row.cost, "kind": row.kind, "sampler": row.sampler })
        }),
        "calculated": {
            "help": calculated().map(|(_, name, says)| format!("{name}: {says}")).collect::<Vec<_>>().join("; "),
            "samplers": calculated().map(|(sampler, name, _)| json!([sampler, name])).collect::<Vec<_>>(),
        },
        "deciding": table(&SamplerKind::ALL, |sampler| json!(deciding_bounds(sampler))),
        "directions": table(&[Directions::Remove, Directions::Add, Directions::Both], direction_in_words),
        "explore": {
            "lines": bounds(|row| {
                let words = bound_words(row.bound);
                json!({ "title": words.title, "says": words.says })
            }),
            "menu": SAMPLER_MENU.map(|(sampler, ..)| sampler),
            "samplers": SAMPLER_MENU
                .into_iter()
                .map(|(sampler, name, says)| {
                    let lines = BOUNDS.iter().filter(|row| row.is_shown_for(sampler));
                    let lines: Vec<_> = lines.map(|row| row.bound).collect();
                    (sampler.name().to_owned(), json!({ "name": name, "says": says, "lines": lines }))
                })
                .collect::<Map<String, Value>>(),
        },
        "methods": table(&methods, method_in_words),
        "no_leakage": NO_LEAKAGE,
        "samplers": table(&SamplerKind::ALL, sampler),
        "scopes": table(&[Scope::Mechanism, Scope::Pair], |scope| {
            table(&[Kind::Upper, Kind::Lower, Kind::Estimate], |kind| scope_in_words(scope, kind))
        }),
        "verdicts": table(
            &[Verdict::Refuted, Verdict::NotRefuted, Verdict::Inconclusive],
            verdict_in_words,
        ),
    })
}

/// The samplers of calculators: those with an accountant of their own.
fn calculated() -> impl Iterator<Item = (SamplerKind, &'static str, &'static str)> {
    let is_bounded = |sampler: SamplerKind| BOUNDED.iter().any(|(bounded, _)| *bounded == sampler);
    SAMPLER_MENU.into_iter().filter(move |(sampler, ..)| is_bounded(*sampler))
}

/// Why an epoch of each sampler leaks, for the page that draws one.
#[must_use]
pub fn leaks() -> Value {
    table(&SamplerKind::ALL, |sampler| sampler_words(sampler).leak)
}

/// The loaders of libraries, for pages that show the table.
#[must_use]
pub fn library_loaders() -> Value {
    json!(LIBRARY_LOADERS)
}

/// What `of` says of each bound, by its name.
fn bounds(of: impl Fn(&BoundRow) -> Value) -> Value {
    let bounds = BOUNDS.map(|row| row.bound);
    table(&bounds, |bound| of(bound.row()))
}

fn sampler(kind: SamplerKind) -> Value {
    let [_, upper] = deciding_bounds(kind);
    let is_of_subsets = |bound: KnownBound| bound.row().cost == Cost::Subsets;
    json!({
        "batches": batches(kind),
        "draws_subsets": upper.is_some_and(is_of_subsets),
        "has_adjacency": kind.limits_batch_size(),
        "needs_batch_size": kind.needs_batch_size(),
        "parameter": kind.parameter(),
        "threat_models": kind.threat_models(),
    })
}

/// What each of `keys` stands for, by its name in records.
fn table<K: Copy + Serialize, T: Into<Value>>(keys: &[K], of: impl Fn(K) -> T) -> Value {
    let entry = |key: &K| Some((json!(key).as_str()?.to_owned(), of(*key).into()));
    keys.iter().filter_map(entry).collect::<Map<String, Value>>().into()
}
