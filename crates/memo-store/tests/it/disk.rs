//! Small disks of their own, to be filled: where this user may mount one.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mounted file system in RAM, unmounted when it is dropped.
pub(crate) struct Disk(PathBuf);

impl Disk {
    /// Mounts a disk of a size such as `24m` at a new folder; `None`, said on standard error, where that is not allowed.
    pub(crate) fn mount(at: &Path, size: &str) -> Option<Self> {
        std::fs::create_dir(at).ok()?;
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(at);
        let done = mount.output().is_ok_and(|output| output.status.success());
        if !done {
            eprintln!("no disk can be mounted here: not tested");
        }
        done.then(|| Disk(at.to_owned()))
    }

    /// The file that takes the room.
    pub(crate) fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    /// Takes all room but for some bytes.
    pub(crate) fn fill(&self, but: usize) {
        fill(&self.filler(), but);
    }

    /// Gives the room back.
    pub(crate) fn clear(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output();
    }
}

/// Fills the disk of a file with it, but for some bytes.
pub(crate) fn fill(filler: &Path, but: usize) {
    let mut size = 1 << 22;
    let mut file = std::fs::File::create(filler).unwrap();
    while size >= 4096 {
        let chunk = vec![7; size];
        while file.write_all(&chunk).is_ok() {}
        size /= 2;
    }
    let full = file.metadata().unwrap().len();
    file.set_len(full.saturating_sub(but as u64)).unwrap();
}
