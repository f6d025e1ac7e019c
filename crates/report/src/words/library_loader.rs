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

/// Numbers in the call of a loader that were not compared with the training.
#[must_use]
pub fn unread_arguments_sentence(arguments: &[String]) -> String {
    format!(
        "numbers in the call of the loader are not read: {}. Enter their effect on batches, noise \
         and steps as options, and leave them out of the call.",
        arguments.join(", ")
    )
}
