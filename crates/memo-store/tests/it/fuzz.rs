//! Hostile files: whatever a checkpoint or `model.toml` says, opening it gives a model or an error, never a panic.
//!
//! Random changes alone would only ever reach the checksums, so these are made right again after each change.
//! `MEMO_FUZZ=20000 cargo test -p memo-store --test it fuzz::` tries more (`cargo xtask fuzz` does that).

use memo::random::{Draws as Random, Purpose, Stream};
use memo_store::{CompletionOptions, Snapshot};
use std::path::{Path, PathBuf};

fn golden(format: u32) -> PathBuf {
    let formats = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    formats.join(format!("format-{format}")).join("frozen")
}

fn cases() -> usize {
    std::env::var("MEMO_FUZZ").map_or(400, |n| n.parse().unwrap())
}

/// Changes some bytes: flips, overwrites, copies, or cuts.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len() as u64) as usize;
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = [0, 1, 127, 128, 255][random.below(5) as usize],
            2 => {
                let number = [u64::MAX, 1 << 63, 1 << 32, 0][random.below(4) as usize];
                let end = bytes.len().min(at + 8);
                bytes[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
            }
            3 => {
                let from = random.below(bytes.len() as u64) as usize;
                let len = (random.below(64) as usize).min(bytes.len() - at.max(from));
                bytes.copy_within(from..from + len, at);
            }
            4 => bytes.truncate(at),
            _ => bytes.insert(at, b'0' + random.below(10) as u8),
        }
    }
}

/// Makes the checksums of a checkpoint right for what it now contains, as far as its head can be read.
fn repair(file: &mut [u8]) -> Option<()> {
    let len = u32::from_le_bytes(file.get(12..16)?.try_into().ok()?) as usize;
    let mut head: serde_json::Value = serde_json::from_slice(file.get(16..16 + len)?).ok()?;
    // The first section is the index, with the place, the length and the checksum of each partition's entries.
    let index = head["sections"].get(0)?;
    let (start, size) = (index["start"].as_u64()? as usize, index["len"].as_u64()? as usize);
    for at in (start..start.checked_add(size)?.min(file.len())).step_by(20) {
        let Some(indexed) = file.get(at..at + 20) else { break };
        let place = u64::from_le_bytes(indexed[..8].try_into().ok()?) as usize;
        let len = u32::from_le_bytes(indexed[8..12].try_into().ok()?) as usize;
        let entries = place.checked_add(len).and_then(|end| file.get(place..end));
        if let Some(crc) = entries.map(crc32fast::hash) {
            file[at + 12..at + 16].copy_from_slice(&crc.to_le_bytes());
        }
    }
    for section in head["sections"].as_array_mut()? {
        let (start, size) =
            (section["start"].as_u64()? as usize, section["len"].as_u64()? as usize);
        let bytes = file.get(start..start.checked_add(size)?)?;
        section["crc"] = crc32fast::hash(bytes).into();
    }
    // There is room for a longer one before the entries.
    let json = serde_json::to_vec(&head).ok()?;
    let len = json.len();
    file.get_mut(16..16 + len)?.copy_from_slice(&json);
    file[12..16].copy_from_slice(&(len as u32).to_le_bytes());
    let crc = crc32fast::hash(file.get(..16 + len)?);
    file.get_mut(16 + len..20 + len)?.copy_from_slice(&crc.to_le_bytes());
    Some(())
}

fn try_opening(directory: &Path, what: &str) -> bool {
    let opened = std::panic::catch_unwind(|| {
        let reader = Snapshot::open(directory).map_err(|error| error.to_string())?;
        reader.complete("The owl", &CompletionOptions::greedy(4)).map_err(|error| error.to_string())
    });
    opened.unwrap_or_else(|_| panic!("{what}: opening panicked")).is_ok()
}

#[test]
fn a_hostile_checkpoint_is_refused_or_read() {
    hostile_checkpoints(2);
}

#[test]
fn a_hostile_frozen_checkpoint_is_refused_or_read() {
    hostile_checkpoints(3);
}

fn hostile_checkpoints(format: u32) {
    let home = tempfile::tempdir().unwrap();
    let name = "memory.000000000006";
    let good = std::fs::read(golden(format).join(name)).unwrap();
    std::fs::copy(golden(format).join("model.toml"), home.path().join("model.toml")).unwrap();
    let mut random = Stream::new(11, Purpose::Sampling, 0).draws();
    let head = 16 + u32::from_le_bytes(good[12..16].try_into().unwrap()) as usize;
    let said: serde_json::Value = serde_json::from_slice(&good[16..head]).unwrap();
    let index = said["sections"][0]["start"].as_u64().unwrap() as usize;
    let mut read = 0;
    for case in 0..cases() {
        let mut file = good.clone();
        // The head, the entries, what comes after it, or anything.
        let part = match case % 4 {
            0 => 16..head,
            1 => 64 << 10..index,
            2 => 64 << 10..good.len(),
            _ => 0..good.len(),
        };
        let mut some = file[part.clone()].to_vec();
        mutate(&mut some, &mut random);
        if some.len() == part.len() {
            file[part].copy_from_slice(&some);
        } else {
            file.splice(part, some);
        }
        let _ = repair(&mut file);
        std::fs::write(home.path().join(name), &file).unwrap();
        read += usize::from(try_opening(home.path(), &format!("case {case}")));
    }
    // If none could be read, the changes were too crude to test anything behind the checksums.
    assert!(read > cases() / 10, "{read} of {} could be read", cases());
}

#[test]
fn a_hostile_model_file_is_refused_or_read() {
    let home = tempfile::tempdir().unwrap();
    let good = std::fs::read(golden(2).join("model.toml")).unwrap();
    let name = "memory.000000000006";
    std::fs::copy(golden(2).join(name), home.path().join(name)).unwrap();
    let mut random = Stream::new(12, Purpose::Sampling, 0).draws();
    for case in 0..cases() {
        let mut file = good.clone();
        mutate(&mut file, &mut random);
        std::fs::write(home.path().join("model.toml"), &file).unwrap();
        try_opening(home.path(), &format!("case {case}: {:?}", String::from_utf8_lossy(&file)));
    }
}
