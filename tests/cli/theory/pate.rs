//! `bound pate` and `calibrate pate`: noisy votes of teachers.

use dpscope_tests::cli::number;

use super::{fields, json};
use crate::{Folder, dpscope};

const VOTE: &str = "--teachers 5 --gamma 1e-3";

#[test]
fn iterations_are_votes() {
    let by_iterations = json(&format!("bound pate {VOTE} --iterations 32"));
    let by_votes = json(&format!("bound pate {VOTE} --votes 10240"));
    assert_eq!(by_iterations, by_votes);
    // published for 32 iterations: below 1, and 33 exceed it
    let moments = number(&by_votes, "/moments/epsilon");
    assert!((0.99..1.0).contains(&moments), "{moments}");
    assert!(number(&json(&format!("bound pate {VOTE} --iterations 33")), "/moments/epsilon") > 1.0);
    let [lower, upper] = ["/composed/lower", "/composed/upper"].map(|at| number(&by_votes, at));
    assert!(0.99 * upper < lower && lower <= upper && upper < 0.4 * moments, "{lower} {upper}");
    let names = [
        "composed",
        "delta",
        "gamma",
        "moments",
        "noise",
        "orders",
        "schema",
        "teachers",
        "unanimous",
        "version",
        "vote_epsilon",
        "votes",
    ];
    assert_eq!(fields(&by_votes), names);
}

#[test]
fn calibrated_iterations_reach_the_target() {
    let document = json(&format!("calibrate pate --epsilon 1 {VOTE}"));
    assert_eq!(document["target"]["iterations_by_moments"], 32);
    let iterations = document["target"]["iterations"].as_u64().unwrap();
    assert_eq!(document["votes"], 320 * iterations);
    let at = |iterations: u64| {
        number(&json(&format!("bound pate {VOTE} --iterations {iterations}")), "/composed/upper")
    };
    assert!(at(iterations) <= 1.0 && at(iterations + 1) > 1.0);
    dpscope("calibrate pate --epsilon 1 --teachers 5 --gamma 1")
        .refuses(2, &["a single iteration of 320 votes has ε ≥", "--gamma", "--epsilon"]);
}

#[test]
fn counted_votes_are_not_for_publication() {
    let folder = Folder::new();
    folder.write("votes.csv", "label,votes\n1,12\n0,0\n1,7\n");
    folder.write("plain.csv", "12\n0\n7\n");
    let words = "bound pate --teachers 12 --gamma 2 --vote-counts";
    let mut document = folder.run(&format!("{words} votes.csv --json")).exits(0).json();
    let labels = document.as_object_mut().unwrap().remove("labels").unwrap();
    assert_eq!(labels["is_fault"], false);
    assert_eq!(document, folder.run(&format!("{words} plain.csv --json")).exits(0).json());
    let [moments, exact, reverse] = ["moments", "exact", "exact_reverse"]
        .map(|name| number(&document, &format!("/counted/{name}/epsilon")));
    assert!(
        exact <= moments && moments < number(&document, "/composed/upper"),
        "{exact} {moments}"
    );
    assert!(reverse > 0.0);
    let text = folder.run(&format!("{words} votes.csv")).exits(0).stdout;
    assert!(text.contains("private data"), "{text}");
    for (content, part) in [
        ("votes\n13\n", "13 in row 1"),
        ("votes\n3\n-1\n", "-1 in row 2"),
        ("votes\n2.5\n", "2.5 in row 1"),
        ("votes,label\n2,1\n3,2\n", "the label 2 in row 2"),
        ("votes\n", "votes.csv"),
        ("a,b\n1,2\n", "votes.csv"),
    ] {
        folder.write("votes.csv", content);
        folder.run(&format!("{words} votes.csv")).refuses(2, &["votes.csv", part]);
    }
    folder.run(&format!("{words} missing.csv")).refuses(2, &["missing.csv"]);
}

#[test]
fn labels_without_the_stated_noise_are_reported() {
    let folder = Folder::new();
    let words = "bound pate --teachers 5 --gamma 0.5 --vote-counts votes.csv";
    // a unanimous vote keeps its label with probability 0.91 at γ = 0.5
    let record = |flipped: u32| {
        let row = |at: u32| if at % 100 < flipped { "5,0\n" } else { "5,1\n" };
        "votes,label\n".to_owned() + &(0..1000).map(row).collect::<String>()
    };
    folder.write("votes.csv", record(8));
    let sound = folder.run(&format!("{words} --json")).exits(0).json();
    assert_eq!(sound["labels"]["is_fault"], false, "{sound:#}");
    assert!(folder.run(words).exits(0).stdout.contains("consistent with the stated noise"));
    folder.write("votes.csv", record(0));
    let exact = folder.run(&format!("{words} --json")).exits(0).json();
    assert_eq!(exact["labels"]["is_fault"], true, "{exact:#}");
    assert!(number(&exact, "/labels/more_majorities") > 60.0);
    let text = folder.run(words).exits(0).stdout;
    assert!(text.contains("FAULT: ") && text.contains("no ε above holds"), "{text}");
}

#[test]
fn options_outside_their_domain_are_rejected() {
    for (words, parts) in [
        ("bound pate --teachers 0 --gamma 1 --votes 5", &["--teachers", "10000"][..]),
        ("bound pate --teachers 10001 --gamma 1 --votes 5", &["--teachers"]),
        ("bound pate --teachers 5 --gamma 0 --votes 5", &["--gamma"]),
        ("bound pate --teachers 5 --gamma nan --votes 5", &["--gamma"]),
        ("bound pate --teachers 5 --gamma 1 --votes 0", &["--votes"]),
        ("bound pate --teachers 5 --gamma 1 --votes 2e9", &["--votes"]),
        ("bound pate --teachers 5 --gamma 1 --iterations 1e15", &["--votes"]),
        (
            "bound pate --teachers 5 --gamma 1 --votes 5 --iterations 3",
            &["--votes", "--iterations"],
        ),
        ("bound pate --teachers 5 --gamma 1", &["--votes", "--iterations"]),
        ("bound pate --teachers 5 --gamma 1 --votes 5 --orders 0", &["--orders"]),
        ("bound pate --teachers 5 --gamma 1 --votes 5 --delta 0", &["--delta", "above 0"]),
        ("bound pate --teachers 5 --gamma 1 --votes 5 --steps 3", &["--steps"]),
        ("bound --steps 3 pate --teachers 5 --gamma 1 --votes 5", &["--teachers"]),
        ("calibrate pate --teachers 5 --gamma 1 --epsilon 0", &["--epsilon"]),
        ("calibrate pate --teachers 5 --gamma 1 --epsilon inf", &["--epsilon"]),
        (
            "calibrate pate --teachers 5 --gamma 1 --epsilon 1 --batch-size 1e15",
            &["--batch-size times --student-steps"],
        ),
    ] {
        dpscope(words).refuses(2, parts);
    }
}
