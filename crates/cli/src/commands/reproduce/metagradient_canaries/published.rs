//! The published figures, from arXiv:2507.15836, table 2, and table 1 of its submission.

use dpscope_report::record::{CanarySetKind, PublishedCanaryFigure};

pub(super) const PUBLISHED: [PublishedCanaryFigure; 3] = [
    PublishedCanaryFigure {
        set: CanarySetKind::Random,
        scratch_coins: [0.204, 0.285],
        scratch_pairs: [0.150, 0.405],
        finetuned_coins: [0.218, 0.477],
        finetuned_pairs: [0.121, 0.687],
    },
    PublishedCanaryFigure {
        set: CanarySetKind::Mislabelled,
        scratch_coins: [0.187, 0.308],
        scratch_pairs: [0.128, 0.225],
        finetuned_coins: [0.271, 0.489],
        finetuned_pairs: [0.384, 0.632],
    },
    PublishedCanaryFigure {
        set: CanarySetKind::Optimised,
        scratch_coins: [0.408, 0.392],
        scratch_pairs: [0.320, 0.732],
        finetuned_coins: [0.362, 0.665],
        finetuned_pairs: [0.489, 1.207],
    },
];
