//! A random forest for two classes. Own code: libraries that compile to wasm return votes of trees, not
//! shares of leaves, and then most scores are tied.

use dpscope_core::random::{Purpose, Words};

/// How a forest is grown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForestOptions {
    /// Number of trees.
    pub trees: u32,
    /// Seed.
    pub seed: u64,
}

impl Default for ForestOptions {
    /// 100 trees, seed 0.
    fn default() -> Self {
        ForestOptions { trees: 100, seed: 0 }
    }
}

#[derive(Debug, Clone, Copy)]
enum Node {
    /// Share of the class 1.
    Leaf(f64),
    /// Values up to the threshold belong to the next node, others to `right`.
    Split { feature: usize, threshold: f64, right: usize },
}

/// A random forest: bootstrap samples, ⌊√d⌋ features per split, Gini impurity, leaves of one class or of
/// equal examples.
///
/// # Guarantee
/// Its AUC is within 0.01 of scikit-learn's on frozen features
/// (`crates/synth/tests/forest.rs::areas_are_those_of_scikit_learn`).
///
/// # Reference
/// L. Breiman, Random forests, 2001, with the mean of leaf shares in place of votes, as scikit-learn's
/// `RandomForestClassifier.predict_proba`.
#[derive(Debug, Clone)]
pub struct Forest {
    trees: Vec<Vec<Node>>,
}

impl Forest {
    /// Grows a forest.
    ///
    /// | argument | meaning | shape |
    /// |---|---|---|
    /// | `examples` | features | n × d, finite |
    /// | `classes` | whether an example is of class 1 | n |
    #[must_use]
    pub fn grow(examples: &[Vec<f64>], classes: &[bool], options: &ForestOptions) -> Self {
        let trees = 0..u64::from(options.trees);
        Forest {
            trees: trees.map(|tree| Self::tree(examples, classes, options.seed, tree)).collect(),
        }
    }

    fn tree(examples: &[Vec<f64>], classes: &[bool], seed: u64, tree: u64) -> Vec<Node> {
        let mut words = Words::new(seed, Purpose::GeneratorAttack, tree);
        let count = examples.len().min(classes.len()) as u32;
        let mut drawn: Vec<usize> = (0..count).map(|_| words.below(count) as usize).collect();
        let mut grower = Grower { examples, classes, words, nodes: Vec::new() };
        grower.grow(&mut drawn);
        grower.nodes
    }

    /// The mean share of class 1 in the leaves of an example; ½ without trees.
    #[must_use]
    pub fn score(&self, example: &[f64]) -> f64 {
        let shares = self.trees.iter().map(|tree| {
            let mut at = 0;
            loop {
                match tree.get(at) {
                    None => break 0.5,
                    Some(Node::Leaf(share)) => break *share,
                    Some(Node::Split { feature, threshold, right }) => {
                        let is_left = example.get(*feature).is_some_and(|x| x <= threshold);
                        at = if is_left { at + 1 } else { *right };
                    }
                }
            }
        });
        if self.trees.is_empty() { 0.5 } else { shares.sum::<f64>() / self.trees.len() as f64 }
    }
}

struct Grower<'a> {
    examples: &'a [Vec<f64>],
    classes: &'a [bool],
    words: Words,
    nodes: Vec<Node>,
}

struct BestSplit {
    impurity: f64,
    feature: usize,
    threshold: f64,
}

impl Grower<'_> {
    /// Nodes in depth-first order, with a stack of its own: a path may be as long as the examples.
    fn grow(&mut self, drawn: &mut [usize]) {
        // range of examples, and the split whose right part it is
        let mut open = vec![(0, drawn.len(), None)];
        while let Some((from, to, parent)) = open.pop() {
            let position = self.nodes.len();
            if let Some(parent) = parent
                && let Some(Node::Split { right, .. }) = self.nodes.get_mut::<usize>(parent)
            {
                *right = position;
            }
            let part = &mut drawn[from..to];
            let ones = part.iter().filter(|at| self.classes[**at]).count();
            let is_pure = ones == 0 || ones == part.len();
            let best = if is_pure { None } else { self.split(part, ones) };
            let Some(best) = best else {
                let share = if part.is_empty() { 0.5 } else { ones as f64 / part.len() as f64 };
                self.nodes.push(Node::Leaf(share));
                continue;
            };
            let BestSplit { feature, threshold, .. } = best;
            part.sort_by_key(|at| self.examples[*at][feature] > threshold);
            let left = part.partition_point(|at| self.examples[*at][feature] <= threshold);
            self.nodes.push(Node::Split { feature, threshold, right: 0 });
            open.push((from + left, to, Some(position)));
            open.push((from, from + left, None));
        }
    }

    /// The best split of ⌊√d⌋ random features that are not constant here.
    fn split(&mut self, part: &[usize], ones: usize) -> Option<BestSplit> {
        let width = self.examples.first().map_or(0, Vec::len);
        let mut features: Vec<usize> = (0..width).collect();
        self.words.shuffle(&mut features);
        let wanted = (width as f64).sqrt() as usize;
        let mut best: Option<BestSplit> = None;
        let mut looked_at = 0;
        for feature in features {
            if looked_at >= wanted.max(1) {
                break;
            }
            let mut values: Vec<(f64, bool)> =
                part.iter().map(|at| (self.examples[*at][feature], self.classes[*at])).collect();
            values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            if values.first().map(|first| first.0) == values.last().map(|last| last.0) {
                continue;
            }
            looked_at += 1;
            let found = best_threshold(&values, ones, feature);
            if let Some(found) = found
                && best.as_ref().is_none_or(|best| found.impurity < best.impurity)
            {
                best = Some(found);
            }
        }
        best
    }
}

/// Sum of the Gini impurities of both parts, weighted by their size, at each midpoint.
fn best_threshold(values: &[(f64, bool)], ones: usize, feature: usize) -> Option<BestSplit> {
    let gini = |ones: f64, all: f64| ones * (all - ones) / all;
    let (all, total) = (values.len() as f64, ones as f64);
    let mut left = 0.0;
    let mut best: Option<BestSplit> = None;
    for (at, pair) in values.windows(2).enumerate() {
        left += f64::from(u8::from(pair[0].1));
        if pair[0].0 == pair[1].0 {
            continue;
        }
        let count = (at + 1) as f64;
        let impurity = gini(left, count) + gini(total - left, all - count);
        if best.as_ref().is_none_or(|best| impurity < best.impurity) {
            let middle = f64::midpoint(pair[0].0, pair[1].0);
            // of neighbouring numbers, the midpoint may be the upper one
            let threshold = if middle < pair[1].0 { middle } else { pair[0].0 };
            best = Some(BestSplit { impurity, feature, threshold });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forest_learns_what_no_single_feature_shows() {
        let mut words = Words::new(1, Purpose::Test, 0);
        let mut draw = |_| vec![words.uniform(), words.uniform(), 1.0];
        let examples: Vec<Vec<f64>> = (0..400).map(&mut draw).collect();
        let is_one = |x: &Vec<f64>| (x[0] > 0.5) != (x[1] > 0.5);
        let classes: Vec<bool> = examples.iter().map(is_one).collect();
        let forest = Forest::grow(&examples, &classes, &ForestOptions { trees: 30, seed: 2 });
        let fresh: Vec<Vec<f64>> = (0..400).map(draw).collect();
        let correct = |x: &&Vec<f64>| (forest.score(x) > 0.5) == is_one(x);
        assert!(fresh.iter().filter(correct).count() > 360);
    }

    #[test]
    fn examples_without_difference_have_their_share() {
        let options = ForestOptions { trees: 200, seed: 1 };
        let forest = Forest::grow(&vec![vec![1.0]; 8], &[true, false].repeat(4), &options);
        assert!((forest.score(&[1.0]) - 0.5).abs() < 0.05);
        let none = Forest::grow(&[], &[], &options);
        assert!((none.score(&[1.0]) - 0.5).abs() < 1e-12);
    }
}
