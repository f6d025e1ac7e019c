//! Built-in data sets with the shapes of published ones, for a machine that has none.

mod clothes;
mod outline;
mod purchases;
mod vehicles;

use std::str::FromStr;

use super::draws::{Draws, Part};
use super::error::{DataError, excerpt};
use super::examples::{Examples, Features};
use crate::model::Shape;

/// A built-in data set: a law, from which any number of records is drawn.
///
/// They stand in for published sets where those are not at hand: shapes, sparsity and difficulty are
/// of their kind, no record is. Each record is a pure function of its number, with the same bits on
/// every machine.
///
/// | set | law | linear classifier¹ |
/// |---|---|---|
/// | `P100Like` | 600 binary features, 100 classes: popularities p ~ Beta(0.1, 3), to whose log-odds each class adds N(0, 2²) at 35 % of the features | 92.6 % |
/// | `FmnistLike` | 28×28, T-shirts (0) and trousers (1): outlines whose every measure varies, with patterns, folds and noise | 98.3 % |
/// | `CifarLike` | 3×32×32, airplanes (0) and cars (1): outlines at any place, size and, for airplanes, angle on 1/f fields of the colours of sky and street, which overlap | 88.4 % |
///
/// ¹ Share of 2,000 held-out records that a softmax regression on 10,000 gets right (scikit-learn's
/// `LogisticRegression`, C = 1, 0.01, 0.01, 100 iterations); the nearest class mean gets 93.1, 83.1 and 72.8 % right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SyntheticData {
    /// As Purchase-100: what 100 kinds of customers buy.
    P100Like,
    /// As two classes of Fashion-MNIST.
    FmnistLike,
    /// As two classes of CIFAR-10.
    CifarLike,
}

/// Draws one record: its label, and its features into a slice.
type Draw<'a, T> = dyn Fn(&mut Draws, &mut [T]) -> u32 + 'a;

impl SyntheticData {
    /// All of them.
    pub const ALL: [SyntheticData; 3] = [Self::P100Like, Self::FmnistLike, Self::CifarLike];

    /// Most records of either part.
    pub const MOST_RECORDS: usize = 1 << 20;

    /// What a command line calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::P100Like => "p100-like",
            Self::FmnistLike => "fmnist-like",
            Self::CifarLike => "cifar-like",
        }
    }

    /// Channels, height and width of a record.
    #[must_use]
    pub const fn shape(self) -> Shape {
        let (channels, height, width) = match self {
            Self::P100Like => (purchases::FEATURES, 1, 1),
            Self::FmnistLike => (1, clothes::SIDE, clothes::SIDE),
            Self::CifarLike => (3, vehicles::SIDE, vehicles::SIDE),
        };
        Shape { channels, height, width }
    }

    /// Draws `records` records to train on and `held_out` others.
    ///
    /// # Guarantee
    /// The same bits everywhere (`unit::content_does_not_change`), and the first records of a larger
    /// set (`unit::fewer_records_are_the_first_of_more`). Learnable and not trivially so
    /// (`unit::a_simple_classifier_learns_some_of_it`).
    ///
    /// # Errors
    /// No records or more than [`SyntheticData::MOST_RECORDS`], or no memory for them.
    pub fn generate(self, records: usize, held_out: usize) -> Result<Examples, DataError> {
        let most = Self::MOST_RECORDS;
        for (asked, least) in [(records, 1), (held_out, 0)] {
            if !(least..=most).contains(&asked) {
                return Err(DataError::Records { records: asked, most });
            }
        }
        let held_out = match held_out {
            0 => None,
            count => Some(self.part(Part::HeldOut, count)?),
        };
        Ok(self.part(Part::Record, records)?.with_held_out(held_out))
    }

    fn part(self, part: Part, records: usize) -> Result<Examples, DataError> {
        let shape = self.shape();
        let (labels, features, classes) = match self {
            Self::P100Like => {
                let law = purchases::Law::new(&mut Draws::new(self.number(), Part::Law, 0));
                let draw = |draws: &mut Draws, row: &mut [bool]| law.draw(draws, row);
                let (labels, rows) = self.rows(part, records, &draw)?;
                let bits = Features::bits(rows.into_iter(), shape.len());
                (labels, bits, purchases::CLASSES)
            }
            Self::FmnistLike | Self::CifarLike => {
                let draw: &Draw<'_, u8> =
                    if self == Self::FmnistLike { &clothes::draw } else { &vehicles::draw };
                let (labels, rows) = self.rows(part, records, draw)?;
                (labels, Features::Bytes(rows), 2)
            }
        };
        Ok(Examples::new(self.name(), shape, classes, labels, features))
    }

    /// Labels and rows, one after the other.
    fn rows<T: Copy + Default>(
        self,
        part: Part,
        records: usize,
        draw: &Draw<'_, T>,
    ) -> Result<(Vec<u32>, Vec<T>), DataError> {
        let features = self.shape().len();
        let bytes = features * size_of::<T>();
        let mut rows = Vec::new();
        if rows.try_reserve_exact(records * features).is_err() {
            return Err(DataError::OutOfMemory { records, bytes });
        }
        rows.resize(records * features, T::default());
        let mut labels = Vec::with_capacity(records);
        for (index, row) in (0..).zip(rows.chunks_exact_mut(features)) {
            labels.push(draw(&mut Draws::new(self.number(), part, index), row));
        }
        Ok((labels, rows))
    }

    /// Keeps the streams of the sets apart.
    const fn number(self) -> u8 {
        match self {
            Self::P100Like => 1,
            Self::FmnistLike => 2,
            Self::CifarLike => 3,
        }
    }
}

impl FromStr for SyntheticData {
    type Err = DataError;

    fn from_str(name: &str) -> Result<Self, DataError> {
        Self::ALL.into_iter().find(|set| set.name() == name).ok_or_else(|| {
            let known = "p100-like, fmnist-like and cifar-like";
            DataError::UnknownSyntheticData { name: excerpt(name), known }
        })
    }
}

#[cfg(test)]
mod tests;
