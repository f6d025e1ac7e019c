//! Audits by hold-outs, secrets and known odds, as in `without_coins.json`.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::anytime::AnytimeTest;
use dpscope_core::audit::one_run::{
    CanaryGame, Guesses, IndependentGame, KnownOdds, ListGuesses, MixedLists, OddsClass,
    SecretAttack, SecretRanks, SecretTokens, combined_e_value, combined_p_value, independent_mu,
};
use dpscope_core::audit::split::{
    BothSides, NamedRows, NamedStrata, SplitAttack, SplitSets, Stratum,
};
use dpscope_core::gdp::gdp_epsilon;

use super::Finding;
use super::document::{Case, GoldenError};
use super::library::Answer;
use super::one_run::{Tolerance, compared, each};

const GROUPS: [&str; 18] = [
    "split_sets_epsilon",
    "split_cut_p_value",
    "split_cut_epsilon",
    "split_cut_both_sides",
    "split_cut_strata",
    "list_p_value",
    "list_epsilon",
    "mixed_lists",
    "ranks",
    "partial_success",
    "individual_odds",
    "adaptive",
    "several_attacks",
    "independent_pairs",
    "e_process",
    "plan_split",
    "plan_secrets",
    "plan_cut",
];

/// Whether a group is one of these.
pub(super) fn is_group(group: &str) -> bool {
    GROUPS.contains(&group)
}

type Values = Vec<(String, Answer)>;

pub(super) fn evaluate(case: &Case<'_>) -> Result<Vec<Finding>, GoldenError> {
    let (inputs, expected) = (Inputs(case.at("inputs")?), case.at("expected")?);
    let within = Tolerance::of(case)?;
    let group = case.at("group")?;
    let values = match group.text()? {
        "split_sets_epsilon" => return split_sets(&inputs, &expected, &within),
        "split_cut_p_value" => cut_p_value(&inputs)?,
        "split_cut_epsilon" => bounds(&inputs.named()?, &inputs)?,
        "split_cut_both_sides" => both_sides(&inputs)?,
        "split_cut_strata" => return strata(&inputs, &expected, &within),
        "list_p_value" => list_p_value(&inputs)?,
        "list_epsilon" => list_bounds(&inputs.lists()?, &inputs)?,
        "mixed_lists" | "adaptive" => return p_at(group.text()?, &inputs, &expected, &within),
        "ranks" => return ranks(&inputs, &expected, &within),
        "partial_success" => return partial_success(&inputs, &expected),
        "individual_odds" => return odds(&inputs, &expected, &within),
        "several_attacks" => several_attacks(&inputs)?,
        "independent_pairs" => return independent_pairs(&inputs, &expected, &within),
        "e_process" => e_process(&inputs)?,
        "plan_split" => plan_split(&inputs)?,
        "plan_secrets" => plan_secrets(&inputs)?,
        "plan_cut" => plan_cut(&inputs)?,
        other => return Err(group.error(&format!("`{other}` is not a group of this format"))),
    };
    each(&expected, &within, |key| {
        values.iter().find(|(name, _)| name == key).map(|(_, answer)| answer.clone())
    })
}

/// Inputs by name.
struct Inputs<'a>(Case<'a>);

impl Inputs<'_> {
    fn number(&self, name: &str) -> Result<f64, GoldenError> {
        self.0.at(name)?.number()
    }

    fn count(&self, name: &str) -> Result<u64, GoldenError> {
        self.0.at(name)?.count()
    }

    fn counts(&self, name: &str) -> Result<Vec<u64>, GoldenError> {
        self.0.at(name)?.list()?.iter().map(Case::count).collect()
    }

    fn numbers(&self, name: &str) -> Result<Vec<f64>, GoldenError> {
        self.0.at(name)?.list()?.iter().map(Case::number).collect()
    }

    fn level(&self) -> Result<(f64, f64), GoldenError> {
        Ok((self.number("delta")?, self.number("significance")?))
    }

    fn named(&self) -> Result<NamedRows, GoldenError> {
        let [rows, side, guesses, correct] =
            ["rows", "rows_of_named_side", "guesses", "correct"].map(|name| self.count(name));
        let named = NamedRows::new(rows?, side?, guesses?, correct?);
        named.map_err(|error| self.0.error(&error.to_string()))
    }

    fn lists(&self) -> Result<ListGuesses, GoldenError> {
        let [canaries, values, length] =
            ["canaries", "values", "list_length"].map(|name| self.count(name));
        let lists = ListGuesses::new(canaries?, values?, length?);
        let lists = lists.map_err(|error| self.0.error(&error.to_string()))?;
        let counts = lists.with_counts(self.count("guesses")?, self.count("correct")?);
        counts.map_err(|error| self.0.error(&error.to_string()))
    }
}

/// An answer of the library, with its error in words.
fn answer<T, E: std::fmt::Display>(found: Result<T, E>) -> Result<T, String> {
    found.map_err(|error| error.to_string())
}

fn named_values<const N: usize>(values: [(&str, Answer); N]) -> Values {
    values.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

fn split_sets(
    inputs: &Inputs<'_>,
    expected: &Case<'_>,
    within: &Tolerance,
) -> Result<Vec<Finding>, GoldenError> {
    let [included, not_included] = [inputs.count("included")?, inputs.count("not_included")?];
    let sets = SplitSets::new(included, not_included);
    let sets = sets.map_err(|error| inputs.0.error(&error.to_string()))?;
    let guesses = sets.guesses(inputs.count("guesses")?, inputs.count("correct")?);
    let guesses = guesses.map_err(|error| inputs.0.error(&error.to_string()))?;
    let mut values = list_bounds(&guesses, inputs)?;
    values.extend(named_values([
        ("set_size", Ok(sets.set_size() as f64)),
        ("sets", Ok(sets.sets() as f64)),
        ("left_over", Ok(sets.left_over() as f64)),
    ]));
    let odd = if sets.odd_is_included() { "included" } else { "not_included" };
    let mut found = vec![expected.at("odd_one")?.compared_text(odd)?];
    for (name, value) in values {
        found.push(compared(&expected.at(&name)?, within, value)?);
    }
    Ok(found)
}

fn cut_p_value(inputs: &Inputs<'_>) -> Result<Values, GoldenError> {
    let (named, epsilon, delta) =
        (inputs.named()?, inputs.number("epsilon")?, inputs.number("delta")?);
    let limits = answer(named.add_remove_limits(epsilon, delta));
    let p = |adjacency| answer(named.p_value(adjacency, epsilon, delta));
    Ok(named_values([
        ("replace", p(Adjacency::Replace)),
        ("add_remove", p(Adjacency::AddRemove)),
        ("group", limits.clone().map(|limits| limits.group)),
        ("coins_over_size", limits.clone().map(|limits| limits.coins_over_size)),
        ("moments", limits.map(|limits| limits.moments)),
    ]))
}

fn bounds(named: &NamedRows, inputs: &Inputs<'_>) -> Result<Values, GoldenError> {
    let (delta, significance) = inputs.level()?;
    let bound = |adjacency| answer(named.epsilon_lower(adjacency, delta, significance));
    Ok(named_values([
        ("replace", bound(Adjacency::Replace)),
        ("add_remove", bound(Adjacency::AddRemove)),
    ]))
}

fn list_bounds(lists: &ListGuesses, inputs: &Inputs<'_>) -> Result<Values, GoldenError> {
    let (delta, significance) = inputs.level()?;
    let bound = |adjacency| answer(lists.epsilon_lower(adjacency, delta, significance));
    Ok(named_values([
        ("replace", bound(Adjacency::Replace)),
        ("add_remove", bound(Adjacency::AddRemove)),
    ]))
}

fn both_sides(inputs: &Inputs<'_>) -> Result<Values, GoldenError> {
    let [included, not_included] = [inputs.count("included")?, inputs.count("not_included")?];
    let rows = included + not_included;
    let side = |side: u64, guesses: &str, correct: &str| -> Result<_, GoldenError> {
        let named = NamedRows::new(rows, side, inputs.count(guesses)?, inputs.count(correct)?);
        named.map(Some).map_err(|error| inputs.0.error(&error.to_string()))
    };
    let sides = BothSides {
        members: side(included, "guesses_in", "correct_in")?,
        non_members: side(not_included, "guesses_out", "correct_out")?,
    };
    let (delta, significance) = inputs.level()?;
    let found = answer(sides.bounds(delta, significance));
    Ok(named_values([
        ("replace", found.clone().map(|bounds| bounds.replace)),
        ("add_remove", found.map(|bounds| bounds.add_remove)),
    ]))
}

fn strata(
    inputs: &Inputs<'_>,
    expected: &Case<'_>,
    within: &Tolerance,
) -> Result<Vec<Finding>, GoldenError> {
    let stratum = |row: &Case<'_>| -> Result<Stratum, GoldenError> {
        let count = |name: &str| row.at(name)?.count();
        let side = count("rows_of_named_side")?;
        Ok(Stratum { rows: count("rows")?, side, guesses: count("guesses")? })
    };
    let strata = inputs.0.at("strata")?.list()?;
    let strata = strata.iter().map(stratum).collect::<Result<Vec<_>, _>>()?;
    let named = NamedStrata::new(&strata, inputs.count("correct")?);
    let named = named.map_err(|error| inputs.0.error(&error.to_string()))?;
    let (delta, significance) = inputs.level()?;
    let p = |epsilon| answer(named.p_value(epsilon, delta));
    let mut found = at_each(&expected.at("replace_p_at")?, within, p)?;
    let bounds = answer(named.bounds(delta, significance));
    for (name, value) in [
        ("replace", bounds.clone().map(|bounds| bounds.replace)),
        ("add_remove", bounds.map(|bounds| bounds.add_remove)),
    ] {
        found.push(compared(&expected.at(name)?, within, value)?);
    }
    Ok(found)
}

fn list_p_value(inputs: &Inputs<'_>) -> Result<Values, GoldenError> {
    let (lists, epsilon, delta) =
        (inputs.lists()?, inputs.number("epsilon")?, inputs.number("delta")?);
    let limits = answer(lists.add_remove_limits(epsilon, delta));
    let p = |adjacency| answer(lists.p_value(adjacency, epsilon, delta));
    Ok(named_values([
        ("replace", p(Adjacency::Replace)),
        ("add_remove", p(Adjacency::AddRemove)),
        ("group", limits.clone().map(|limits| limits[0])),
        ("moments", limits.map(|limits| limits[1])),
    ]))
}

/// p at several ε, and the bound.
fn p_at(
    group: &str,
    inputs: &Inputs<'_>,
    expected: &Case<'_>,
    within: &Tolerance,
) -> Result<Vec<Finding>, GoldenError> {
    let (delta, significance) = inputs.level()?;
    let (canaries, correct) = (inputs.count("canaries")?, inputs.count("correct")?);
    let refused = |error: &dyn std::fmt::Display| inputs.0.error(&error.to_string());
    let (p, bound): (Box<dyn Fn(f64) -> Answer>, Answer) = if group == "adaptive" {
        let game = CanaryGame::coins(canaries).map_err(|error| refused(&error))?;
        let guesses = Guesses::new(game, inputs.count("guesses")?, correct);
        let guesses = guesses.map_err(|error| refused(&error))?;
        let bound = answer(guesses.adaptive_epsilon_lower(delta, significance));
        (Box::new(move |epsilon| answer(guesses.adaptive_p_value(epsilon, delta))), bound)
    } else {
        let (values, lengths) = (inputs.count("values")?, inputs.counts("list_lengths")?);
        let lists = MixedLists::new(canaries, values, lengths, correct);
        let lists = lists.map_err(|error| refused(&error))?;
        let bound = answer(lists.epsilon_lower(delta, significance));
        (Box::new(move |epsilon| answer(lists.p_value(epsilon, delta))), bound)
    };
    let mut found = at_each(&expected.at("p_at")?, within, p)?;
    found.push(compared(&expected.at("epsilon")?, within, bound)?);
    Ok(found)
}

fn ranks(
    inputs: &Inputs<'_>,
    expected: &Case<'_>,
    within: &Tolerance,
) -> Result<Vec<Finding>, GoldenError> {
    let (lengths, correct) = (inputs.counts("list_lengths")?, inputs.counts("correct")?);
    let (canaries, values) = (inputs.count("canaries")?, inputs.count("values")?);
    let ranks = SecretRanks::new(canaries, values, lengths, correct);
    let ranks = ranks.map_err(|error| inputs.0.error(&error.to_string()))?;
    let (delta, significance) = inputs.level()?;
    let bound = answer(ranks.epsilon_lower(Adjacency::Replace, delta, significance));
    let mut found = vec![compared(&expected.at("epsilon")?, within, bound)?];
    for (epsilon, row) in expected.at("smallest_p_joint_p_and_bound_at")?.entries()? {
        let epsilon = epsilon.parse().map_err(|_| row.error("its key is no number"))?;
        let seen = [
            answer(ranks.smallest_p_value(epsilon)),
            answer(ranks.joint_p_value(epsilon)),
            answer(ranks.p_value(epsilon, delta)),
        ];
        for (cell, seen) in row.list()?.iter().zip(seen) {
            found.push(compared(cell, within, seen)?);
        }
    }
    Ok(found)
}

fn partial_success(inputs: &Inputs<'_>, expected: &Case<'_>) -> Result<Vec<Finding>, GoldenError> {
    let tokens = SecretTokens {
        tokens: inputs.count("tokens")? as u32,
        values: inputs.count("values_per_token")?,
    };
    let wrong = inputs.count("wrong_tokens")? as u32;
    let text = |value: Option<u64>| value.map_or("too many".to_owned(), |it| it.to_string());
    let mut found = Vec::new();
    for (key, seen) in [
        ("values", tokens.all_values()),
        ("list_length", tokens.strings_with_wrong_tokens(wrong)),
        ("list_length_of_prefix", tokens.strings_with_prefix(wrong)),
    ] {
        found.push(expected.at(key)?.compared_text(&text(seen))?);
    }
    Ok(found)
}

fn odds(
    inputs: &Inputs<'_>,
    expected: &Case<'_>,
    within: &Tolerance,
) -> Result<Vec<Finding>, GoldenError> {
    let mut correct = 0;
    let mut classes = Vec::new();
    for row in inputs.0.at("classes")?.list()? {
        let count = |name: &str| row.at(name)?.count();
        correct += count("correct_in")? + count("correct_out")?;
        classes.push(OddsClass {
            inclusion: row.at("inclusion_probability")?.number()?,
            canaries: count("canaries")?,
            guesses_in: count("guesses_in")?,
            guesses_out: count("guesses_out")?,
        });
    }
    let odds = KnownOdds::new(classes, correct);
    let odds = odds.map_err(|error| inputs.0.error(&error.to_string()))?;
    let (delta, significance) = inputs.level()?;
    let p = |epsilon| answer(odds.p_value(epsilon, delta, 1.0));
    let mut found = at_each(&expected.at("p_at")?, within, p)?;
    let bound = |factor| answer(odds.epsilon_lower(delta, significance, factor));
    for (key, value) in [
        ("epsilon", bound(1.0)),
        ("odds_that_explain_it", answer(odds.odds_that_explain(significance))),
        ("epsilon_if_odds_known_up_to_1.5", bound(1.5)),
    ] {
        found.push(compared(&expected.at(key)?, within, value)?);
    }
    Ok(found)
}

fn several_attacks(inputs: &Inputs<'_>) -> Result<Values, GoldenError> {
    let weights = inputs.numbers("weights")?;
    let e_value = combined_e_value(&inputs.numbers("e_values")?, &weights);
    Ok(named_values([
        ("p_value", Ok(combined_p_value(&inputs.numbers("p_values")?, &weights))),
        ("e_value", Ok(e_value)),
        ("p_value_of_e", Ok(1.0 / e_value)),
    ]))
}

/// μ and its ε; the share of correct guesses is that of an interval, which other files have.
fn independent_pairs(
    inputs: &Inputs<'_>,
    expected: &Case<'_>,
    within: &Tolerance,
) -> Result<Vec<Finding>, GoldenError> {
    let game = match inputs.0.at("game")?.text()? {
        "pairs" => IndependentGame::Pairs,
        _ => IndependentGame::FixedThreshold,
    };
    let [guesses, correct] = [inputs.count("guesses")?, inputs.count("correct")?];
    let mu = answer(independent_mu(game, guesses, correct, inputs.number("significance")?));
    let epsilon = mu.clone().and_then(|mu| answer(gdp_epsilon(mu, 1e-5)));
    Ok(vec![
        compared(&expected.at("mu")?, within, mu)?,
        compared(&expected.at("epsilon_at_1e_5")?, within, epsilon)?,
    ])
}

fn e_process(inputs: &Inputs<'_>) -> Result<Values, GoldenError> {
    let scores = inputs.numbers("scores")?;
    let others = inputs.numbers("other_scores")?;
    let pairs: Vec<[f64; 2]> =
        scores.iter().zip(&others).map(|(&one, &other)| [one, other]).collect();
    let test = AnytimeTest::new(inputs.numbers("thresholds")?, inputs.numbers("fractions")?);
    let wealth = answer(test.wealth(&pairs, inputs.number("epsilon")?, inputs.number("delta")?));
    Ok(named_values([
        ("log_e_value", wealth.clone().map(|wealth| wealth.ln_last)),
        ("largest_log_e_value", wealth.clone().map(|wealth| wealth.ln_largest)),
        ("pairs_at_largest", wealth.map(|wealth| wealth.pairs_at_largest as f64)),
    ]))
}

fn plan_split(inputs: &Inputs<'_>) -> Result<Values, GoldenError> {
    let (sets, size) = (inputs.count("sets")?, inputs.count("set_size")?);
    let (guesses, (delta, significance)) = (inputs.count("guesses")?, inputs.level()?);
    let attack = answer(SplitAttack::new(inputs.number("mu")?));
    let sets = answer(SplitSets::new(sets, sets * (size - 1)));
    let (Ok(attack), Ok(sets)) = (attack, sets) else {
        return Err(inputs.0.error("impossible sets"));
    };
    let expected = answer(attack.sets(&sets, guesses));
    let replace = expected.clone().and_then(|expected| {
        answer(expected.epsilon_lower(Adjacency::Replace, delta, significance))
    });
    Ok(named_values([
        ("accuracy", Ok(attack.accuracy_of_sets(&sets, guesses))),
        ("correct", expected.map(|expected| expected.correct() as f64)),
        ("replace", replace),
    ]))
}

fn plan_secrets(inputs: &Inputs<'_>) -> Result<Values, GoldenError> {
    let [canaries, values, length] =
        [inputs.count("canaries")?, inputs.count("values")?, inputs.count("list_length")?];
    let attack = SecretAttack::new(inputs.number("mu")?);
    let attack = attack.map_err(|error| inputs.0.error(&error.to_string()))?;
    let expected = attack.expected(canaries, values, length, 0.0);
    let expected = expected.map_err(|error| inputs.0.error(&error.to_string()))?;
    let mut found = list_bounds(&expected, inputs)?;
    found.extend(named_values([
        ("accuracy", answer(attack.accuracy(values, length))),
        ("correct", Ok(expected.correct() as f64)),
    ]));
    Ok(found)
}

fn plan_cut(inputs: &Inputs<'_>) -> Result<Values, GoldenError> {
    let [rows, side, guesses] =
        [inputs.count("rows")?, inputs.count("rows_of_named_side")?, inputs.count("guesses")?];
    let attack = SplitAttack::new(inputs.number("mu")?);
    let attack = attack.map_err(|error| inputs.0.error(&error.to_string()))?;
    let named = attack.named(rows, side, guesses);
    let named = named.map_err(|error| inputs.0.error(&error.to_string()))?;
    let mut found = bounds(&named, inputs)?;
    found.extend(named_values([
        ("threshold", Ok(attack.cut(rows, side, guesses))),
        ("correct", Ok(named.correct() as f64)),
    ]));
    Ok(found)
}

/// Values at the ε that are the keys.
fn at_each(
    expected: &Case<'_>,
    within: &Tolerance,
    value: impl Fn(f64) -> Answer,
) -> Result<Vec<Finding>, GoldenError> {
    let mut found = Vec::new();
    for (epsilon, expected) in expected.entries()? {
        let epsilon = epsilon.parse().map_err(|_| expected.error("its key is no number"))?;
        found.push(compared(&expected, within, value(epsilon))?);
    }
    Ok(found)
}
