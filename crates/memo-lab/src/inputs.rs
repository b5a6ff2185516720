//! The files that an experiment reads, and their names in its journal.

use crate::Error;
use std::path::Path;

/// A whole file as text.
pub(crate) fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(Error::file(path))
}

/// The hash of a file's bytes, if it can be read.
pub(crate) fn hash(path: &Path) -> Option<String> {
    Some(blake3::hash(&std::fs::read(path).ok()?).to_hex().to_string())
}

/// A short name for what the files contain, so that a journal is not continued with other files.
pub(crate) fn fingerprint(contents: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for content in contents {
        hasher.update(&(content.len() as u64).to_le_bytes()).update(content.as_bytes());
    }
    let hash = hasher.finalize().to_hex();
    format!("text {}", &hash.as_str()[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_sees_every_file_and_where_it_ends() {
        assert_ne!(fingerprint(&["ab", "c"]), fingerprint(&["a", "bc"]));
        assert_ne!(fingerprint(&["ab"]), fingerprint(&["ac"]));
        assert_eq!(fingerprint(&["ab", "c"]), fingerprint(&["ab", "c"]));
    }
}
