//! Files that are made of the source and committed, so that building needs nothing that makes them.

/// Fails if a file of this crate is not what it would be now, or writes it anew if that is asked for.
pub(crate) fn compare(file: &str, current: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("MEMO_UPDATE").is_some() {
        std::fs::write(&path, current).unwrap();
    }
    let help = "is stale: run `MEMO_UPDATE=1 cargo nextest run -p memo-server committed`";
    assert!(std::fs::read_to_string(&path).unwrap_or_default() == current, "{file} {help}");
}
