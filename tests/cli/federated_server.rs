//! What `dpscope audit federated` finds about a server, and its control client.

use dpscope_formats::{Limits, read_npy};

use crate::codes;
use crate::federated_updates::Training;

const AUDIT: &str = "audit federated --plan plan --updates updates --claim 1000";

#[test]
fn noise_and_replies_that_are_not_as_stated_leave_the_claim_open() {
    let training = Training::with("sum-of-updates", |canary| vec![canary % 12]);
    training.write_updates();
    let folder = &training.folder;
    let audit = |words: &str, code: i32| folder.run(&format!("{AUDIT} {words} --json")).exits(code);
    let sound = audit("--noise-multiplier 0.1 --clip-norm 1", 0).json();
    assert_eq!(codes(&sound), [""; 0]);
    let small = audit("--noise-multiplier 0.2 --clip-norm 1", 6).json();
    assert_eq!(codes(&small), ["noise_below_stated"]);
    let divided = audit("--noise-multiplier 1 --clip-norm 1 --planned-clients 10", 0).json();
    assert_eq!(codes(&divided), [""; 0]);
    folder.write("equal.csv", "server_round,weight\n1,5\n1,5\n2,1\n2,1\n");
    folder.write("uneven.csv", "server_round,weight\n1,5\n1,5\n2,9\n2,1\n");
    folder.write("few.csv", "server_round,weight\n1,5\n1,5\n2,9\n");
    let of = |file: &str, code: i32| {
        let words = "--noise-multiplier 0.2 --clip-norm 1 --planned-clients 2 --replies";
        audit(&format!("{words} {file}"), code).json()
    };
    assert_eq!(codes(&of("equal.csv", 0)), [""; 0]);
    assert_eq!(codes(&of("uneven.csv", 6)), ["unequal_replies"]);
    assert_eq!(codes(&of("few.csv", 6)), ["few_replies"]);
    folder.write("bad.csv", "server_round,weight\n1,-5\n");
    let words = "--noise-multiplier 0.2 --clip-norm 1 --planned-clients 2 --replies bad.csv";
    folder.run(&format!("{AUDIT} {words}")).refuses(2, &["bad.csv", "weight -5", "row 1"]);
    let shown = folder.run(&format!("{AUDIT} --noise-multiplier 0.2 --clip-norm 1")).exits(6);
    assert!(shown.stdout.contains("noise or weights of the server"), "{}", shown.stdout);
    for words in ["--noise-multiplier 0.2", "--noise-multiplier 0 --clip-norm 1"] {
        folder.run(&format!("{AUDIT} {words}")).exits(2);
    }
}

#[test]
fn repeated_noise_is_detected() {
    let mut training = Training::with("sum-of-updates", |_| Vec::new());
    training.updates[7] = training.updates[2].iter().map(|x| x + 1e-6).collect();
    training.write_updates();
    let words = format!("{AUDIT} --noise-multiplier 0.1 --clip-norm 1 --json");
    let report = training.folder.run(&words).exits(6).json();
    assert_eq!(codes(&report), ["noise_reused"]);
    assert_eq!(report["findings"][0]["data"]["server_round"], 8);
}

#[test]
fn canaries_of_another_norm_are_detected() {
    let training = Training::with("known-server-rounds", |canary| vec![canary % 12]);
    training.write_updates();
    training.write_participation();
    let audit = |words: &str, code: i32| {
        let words = format!("{AUDIT} --participation participation.csv {words} --json");
        training.folder.run(&words).exits(code).json()
    };
    assert_eq!(codes(&audit("--noise-multiplier 0.1 --clip-norm 1", 0)), [""; 0]);
    // clipped to a third of what is stated
    let loud = audit("--noise-multiplier 0.03 --clip-norm 3", 6);
    assert_eq!(codes(&loud), ["canary_weight"]);
}

#[test]
fn a_control_client_must_be_seen_only_if_it_took_part() {
    let audit = |took_part: bool, words: &str, code: i32| {
        let mut training = Training::with("sum-of-updates", |_| Vec::new());
        training.folder.run("canaries direction --plan plan --control --out c.npy").exits(0);
        let control = read_npy(&training.folder.read("c.npy"), &Limits::default()).unwrap();
        for update in training.updates.iter_mut().filter(|_| took_part) {
            update.iter_mut().zip(control.data()).for_each(|(x, c)| *x += c);
        }
        training.write_updates();
        training.folder.run(&format!("{AUDIT} --control-client {words} --json")).exits(code).json()
    };
    let arrived = audit(true, "included", 0);
    assert_eq!((codes(&arrived), &arrived["has_arrived"]), (vec![], &true.into()));
    assert!(!arrived["claim"]["says"].as_str().unwrap().contains("no evidence"), "{arrived:#}");
    assert_eq!(codes(&audit(false, "excluded", 0)), [""; 0]);
    let unseen = audit(false, "included", 6);
    assert_eq!(codes(&unseen), ["control_not_seen"]);
    assert!(unseen["claim"]["says"].as_str().unwrap().contains("control"), "{unseen:#}");
    let seen = audit(true, "excluded", 6);
    assert_eq!((codes(&seen), &seen["kind"]), (vec!["control_seen"], &"estimate".into()));
}
