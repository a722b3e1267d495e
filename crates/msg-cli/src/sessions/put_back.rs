//! Putting a mended session in the place of the old one (SE-92): a synced backup first, then each file
//! replaced as a whole. A crash at any step leaves the old file or the new one.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use msg_file::store;
use msg_session::Blob;
use tempfile::{Builder, NamedTempFile};

use super::load::Loaded;
use super::stamp::Stamp;
use crate::hooks::step;
use crate::paths::folder;

/// A backup that was made.
pub(crate) struct Backup {
    pub(crate) path: PathBuf,
    /// Each file with the place of its old bytes; none if the file is new.
    files: Vec<(PathBuf, Option<PathBuf>)>,
}

/// Writes the blobs that differ from what was loaded; gives the backup.
pub(crate) fn put_back(loaded: &Loaded, blobs: &[Blob]) -> io::Result<Backup> {
    let root = loaded.path.as_deref().ok_or_else(|| io::Error::other("it is no file"))?;
    let changes = changes(root, loaded, blobs);
    let backup = back_up(root, &changes)?;
    if !loaded.stamps.iter().all(Stamp::holds) {
        return Err(io::Error::other("it changed since it was read: it is in use"));
    }
    step();
    // What comes is written before what goes is removed, so that nothing is missing in between.
    for (path, bytes) in changes.iter().filter_map(|it| Some((&it.path, it.new?))) {
        replace(path, bytes)?;
    }
    for path in changes.iter().filter(|it| it.new.is_none()).map(|it| &it.path) {
        fs::remove_file(path)?;
        step();
        sync_folder(path);
    }
    Ok(backup)
}

/// Puts a mended file in the place of the one that was read; gives the backup.
pub(crate) fn put_back_file(stamp: &Stamp, mended: NamedTempFile) -> io::Result<Backup> {
    let path = free_name(&stamp.path);
    copy_synced(&stamp.path, &path)?;
    step();
    if !stamp.holds() {
        return Err(io::Error::other("it changed since it was read: it is in use"));
    }
    replace_by(&stamp.path, mended)?;
    let files = vec![(stamp.path.clone(), Some(path.clone()))];
    Ok(Backup { path, files })
}

/// A new file beside this one, that of a link beside its target.
pub(crate) fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    held(tempfile::Builder::new().prefix(".msg-"), folder(&real))
}

/// A temporary file in a folder that nobody takes for one that a killed program left.
pub(crate) fn held(builder: &mut Builder<'_, '_>, folder: &Path) -> io::Result<NamedTempFile> {
    store::remove_left_over(&folder.join("x"));
    loop {
        let made = builder.tempfile_in(folder)?;
        if store::hold_temporary(made.as_file(), made.path()) {
            return Ok(made);
        }
    }
}

/// A file that gets other bytes, or goes.
struct Change<'a> {
    path: PathBuf,
    new: Option<&'a [u8]>,
    is_there: bool,
}

fn changes<'a>(root: &Path, loaded: &Loaded, blobs: &'a [Blob]) -> Vec<Change<'a>> {
    let is_folder = root.is_dir();
    let path_of = |name: &str| if is_folder { root.join(name) } else { root.to_owned() };
    let mut res = Vec::new();
    let old: HashMap<&str, &Blob> = loaded.blobs.iter().map(|it| (&*it.name, it)).collect();
    let stays: HashSet<&str> = blobs.iter().map(|it| &*it.name).collect();
    for new in blobs {
        let old = old.get(&*new.name);
        if old.is_none_or(|it| it.bytes != new.bytes) {
            let path = path_of(&new.name);
            res.push(Change { path, new: Some(&new.bytes), is_there: old.is_some() });
        }
    }
    for old in &loaded.blobs {
        if !stays.contains(&*old.name) {
            res.push(Change { path: path_of(&old.name), new: None, is_there: true });
        }
    }
    res
}

/// Copies the files that will change to `NAME.bakN`, a file or a folder, and syncs them.
fn back_up(root: &Path, changes: &[Change<'_>]) -> io::Result<Backup> {
    let path = free_name(root);
    let is_folder = root.is_dir();
    if is_folder {
        fs::create_dir(&path)?;
        step();
    }
    let mut files = Vec::new();
    for change in changes {
        let copy = match is_folder {
            true => path.join(change.path.strip_prefix(root).unwrap_or(&change.path)),
            false => path.clone(),
        };
        if change.is_there {
            if let Some(folder) = copy.parent() {
                fs::create_dir_all(folder)?;
            }
            copy_synced(&change.path, &copy)?;
        }
        files.push((change.path.clone(), change.is_there.then_some(copy)));
    }
    sync_folder(&path);
    Ok(Backup { path, files })
}

/// The first of `NAME.bak1`, `NAME.bak2` … that is free.
fn free_name(root: &Path) -> PathBuf {
    let name = |n: u64| {
        let mut name = root.as_os_str().to_owned();
        name.push(format!(".bak{n}"));
        PathBuf::from(name)
    };
    let is_free = |it: &PathBuf| fs::symlink_metadata(it).is_err();
    (1..).map(name).find(is_free).unwrap_or_else(|| name(0))
}

fn copy_synced(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let mut file = OpenOptions::new().write(true).create_new(true).open(to)?;
    step();
    io::copy(&mut source, &mut file)?;
    step();
    file.set_permissions(fs::metadata(from)?.permissions())?;
    file.sync_all()?;
    step();
    sync_folder(to);
    Ok(())
}

/// Replaces a file as a whole; that of a link, not the link.
fn replace(path: &Path, mut bytes: impl io::Read) -> io::Result<()> {
    let mut temporary = beside(path)?;
    step();
    io::copy(&mut bytes, &mut temporary)?;
    step();
    replace_by(path, temporary)
}

/// As [`replace`], by a file beside it. Mode and owner stay.
fn replace_by(path: &Path, temporary: NamedTempFile) -> io::Result<()> {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Ok(meta) = fs::metadata(&real) {
        temporary.as_file().set_permissions(meta.permissions())?;
        keep_owner(temporary.path(), &meta);
    }
    persist(temporary, &real)
}

/// Gives a file its name, in the place of the one that has it.
pub(crate) fn persist(temporary: NamedTempFile, path: &Path) -> io::Result<()> {
    sync(&temporary)?;
    step();
    temporary.persist(path).map_err(|it| it.error)?;
    step();
    sync_folder(path);
    Ok(())
}

/// Makes the bytes of a file durable, before it has its name.
pub(crate) fn sync(temporary: &NamedTempFile) -> io::Result<()> {
    temporary.as_file().flush()?;
    temporary.as_file().sync_all()
}

/// A synced copy of one file as `NAME.bakN`.
pub(crate) fn back_up_file(path: &Path) -> io::Result<PathBuf> {
    let copy = free_name(path);
    copy_synced(path, &copy)?;
    Ok(copy)
}

/// Gives `path` the owner that `meta` names.
#[cfg(unix)]
pub(crate) fn keep_owner(path: &Path, meta: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, chown};
    // Only the owner may give a file away; where that fails, the file was not another's before.
    let _ = chown(path, Some(meta.uid()), Some(meta.gid()));
}

#[cfg(not(unix))]
pub(crate) fn keep_owner(_: &Path, _: &fs::Metadata) {}

/// A new name is durable once its folder is; not every system can sync a folder.
fn sync_folder(path: &Path) {
    if let Ok(folder) = File::open(folder(path)) {
        let _ = folder.sync_all();
    }
}

impl Backup {
    /// Puts the old bytes back.
    pub(crate) fn restore(&self) -> io::Result<()> {
        for (path, copy) in &self.files {
            match copy {
                Some(copy) => replace(path, File::open(copy)?)?,
                None => fs::remove_file(path)?,
            }
        }
        Ok(())
    }
}
