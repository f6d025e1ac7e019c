//! Loaders of libraries in words.

use dpscope_core::training_check::LibraryLoader;

use super::loader_batches;

/// What a library's loader is documented to do, with the source.
#[must_use]
pub fn library_loader_sentence(loader: &LibraryLoader) -> String {
    let LibraryLoader { name, behaviour, batches, source, .. } = loader;
    format!(
        "{name}: {behaviour} Checked as {} ({batches}). Source: {source}.",
        loader_batches(*batches)
    )
}
