//! Bounds without coins against linear programs over all mechanisms of small games.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::one_run::{CanaryGame, Guesses, KnownOdds, ListGuesses, OddsClass};
use dpscope_core::audit::split::NamedRows;
use serde_json::Value;

const PROGRAMS: &str = include_str!("without_coins/values.json");
/// Optima have ten decimals.
const ROUNDING: f64 = 1e-9;

/// A game, and what the best mechanism attains.
struct Game<'a> {
    inputs: &'a Value,
    attained: f64,
}

impl Game<'_> {
    fn count(&self, name: &str) -> u64 {
        self.inputs[name].as_u64().unwrap_or_else(|| panic!("{name} of {}", self.inputs))
    }

    fn number(&self, name: &str) -> f64 {
        self.inputs[name].as_f64().unwrap_or_else(|| panic!("{name} of {}", self.inputs))
    }

    fn level(&self) -> (f64, f64) {
        (self.number("epsilon"), self.number("delta"))
    }

    fn lists(&self, adjacency: Adjacency) -> f64 {
        let [records, values, length] =
            ["records", "values", "list_length"].map(|name| self.count(name));
        let lists = ListGuesses::new(records, values, length).unwrap();
        let lists = lists.with_counts(self.count("guesses"), self.count("correct")).unwrap();
        let (epsilon, delta) = self.level();
        lists.p_value(adjacency, epsilon, delta).unwrap()
    }

    fn split(&self, adjacency: Adjacency) -> f64 {
        let [rows, side, guesses, correct] =
            ["rows", "side", "guesses", "correct"].map(|name| self.count(name));
        let (epsilon, delta) = self.level();
        let named = NamedRows::new(rows, side, guesses, correct).unwrap();
        named.p_value(adjacency, epsilon, delta).unwrap()
    }
}

/// The limit at the named canaries, and their sides, that favour the attack most.
fn odds(game: &Game<'_>) -> f64 {
    let priors: Vec<f64> = game.inputs["inclusion"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_f64().unwrap())
        .collect();
    let are_both = game.inputs["guesses_side"] == "both";
    let (guesses, correct) = (game.count("guesses"), game.count("correct"));
    let (epsilon, delta) = game.level();
    // each canary is named as included, as not included, or not at all
    let choices = (0..3_usize.pow(priors.len() as u32)).map(|code| {
        let said = |place: usize| code / 3_usize.pow(place as u32) % 3;
        (0..priors.len()).map(said).collect::<Vec<usize>>()
    });
    let allowed = choices.filter(|said| {
        said.iter().filter(|&&it| it > 0).count() as u64 == guesses
            && (are_both || said.iter().all(|&it| it < 2))
    });
    let limit = |said: Vec<usize>| {
        let class = |(&inclusion, &said): (&f64, &usize)| OddsClass {
            inclusion,
            canaries: 1,
            guesses_in: u64::from(said == 1),
            guesses_out: u64::from(said == 2),
        };
        let classes = priors.iter().zip(&said).map(class).collect();
        let known = KnownOdds::new(classes, correct).unwrap();
        let known = if are_both { known.with_both_sides() } else { known };
        known.p_value(epsilon, delta, 1.0).unwrap()
    };
    allowed.map(limit).fold(0.0, f64::max)
}

fn adaptive(game: &Game<'_>) -> f64 {
    let coins = CanaryGame::coins(game.count("canaries")).unwrap();
    let guesses = Guesses::new(coins, game.count("guesses"), game.count("correct")).unwrap();
    let (epsilon, delta) = game.level();
    guesses.adaptive_p_value(epsilon, delta).unwrap()
}

type Limit = fn(&Game<'_>) -> f64;

#[test]
fn limits_are_never_exceeded_and_those_of_replacement_are_attained() {
    let programs: Value = serde_json::from_str(PROGRAMS).unwrap();
    let limits: [(&str, usize, bool, Limit); 6] = [
        ("lists_replace", 108, true, |game| game.lists(Adjacency::Replace)),
        ("lists_add_remove", 96, false, |game| game.lists(Adjacency::AddRemove)),
        ("split_replace", 72, true, |game| game.split(Adjacency::Replace)),
        ("split_add_remove", 76, false, |game| game.split(Adjacency::AddRemove)),
        ("odds", 44, false, odds),
        ("adaptive", 32, false, adaptive),
    ];
    for (group, count, is_attained, limit) in limits {
        let cases = programs[group].as_array().unwrap();
        assert_eq!(cases.len(), count, "{group}");
        for case in cases {
            let game =
                Game { inputs: &case["inputs"], attained: case["attained"].as_f64().unwrap() };
            let (found, attained) = (limit(&game), game.attained);
            assert!(found >= attained - ROUNDING, "{group} {case}: {found}");
            let excess = found - attained;
            assert!(!is_attained || excess < 1e-7, "{group} {case}: {found}");
        }
    }
}

/// Wrong limits that mechanisms exceed, and the right ones, which they do not.
#[test]
fn mechanisms_exceed_the_mutants() {
    let programs: Value = serde_json::from_str(PROGRAMS).unwrap();
    let mutant = |name: &str| {
        let found = programs["mutants"].as_array().unwrap().iter().find(|it| it["name"] == name);
        found.unwrap_or_else(|| panic!("{name}")).clone()
    };
    let of = |name: &str, limit: Limit| {
        let case = mutant(name);
        let attained = case["attained"].as_f64().unwrap();
        let found = limit(&Game { inputs: &case["inputs"], attained });
        assert!(case["wrong_limit"].as_f64().unwrap() < attained - 1e-3, "{case}");
        (found, attained)
    };
    let (found, attained) = of("lists_budget_m_delta", |game| game.lists(Adjacency::Replace));
    assert!((found - attained).abs() < 1e-7, "{found} {attained}");
    let (found, attained) = of("add_remove_binomial", |game| game.lists(Adjacency::AddRemove));
    assert!(found >= attained - ROUNDING, "{found} {attained}");
    // the limit of guesses that learn does not cover guesses that use each other's coins
    let (found, attained) = of("cross_fitting_both_ways", adaptive);
    assert!(found < attained - 0.1, "{found} {attained}");
}
