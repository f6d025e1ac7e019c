//! `bound`, `calibrate`, `compare`, `sweep`: theory, through the program.

mod bound;
mod calibrate;
mod compare;
mod lengths;
mod matrix;
mod pate;
mod refused;
mod samplers;
mod sweep;

use serde_json::Value;

use crate::dpscope;

/// The document that a command prints.
#[track_caller]
fn json(words: &str) -> Value {
    dpscope(&format!("{words} --json")).exits(0).json()
}

/// Names of all fields of an object, sorted.
#[track_caller]
fn fields(document: &Value) -> Vec<&str> {
    let object = document.as_object();
    assert!(object.is_some(), "no object: {document:#}");
    let mut names: Vec<&str> = object.unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}
