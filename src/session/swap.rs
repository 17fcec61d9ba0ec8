//! Replaces a session's file with a new one.
//!
//! S is the session. W is a file beside it, whose name contains a [`SwapState`] that identifies the
//! other files. *Old* is the file that was read, *new* is the rewritten one, and *other* is a file
//! that another writer put in their place.
//!
//! | S | W | when | to do |
//! |---|---|---|---|
//! | old | new | new is complete | remove W |
//! | new | old | after the exchange | append to S the rows that W received since it was read; keep W as a backup, or remove it |
//! | new | other | S had been replaced before the exchange | exchange again |
//! | other | new | after the second exchange | append to S the rows that W received while it was S; remove W |
//! | other | old | S was replaced later | as in the second row, except for rows that S has |
//! | other | other | several files replaced S | keep W as a backup |
//!
//! [`Swap::settle`] completes the swap. If the process that exchanged the files was killed, the
//! next repair calls it first. At any time, S is a complete file, and each row appended to S is in
//! S or W. Before a row is copied from W to S, W's name records the row and the length of S: after
//! a kill, a row that S received since then is not appended again.
//!
//! On file systems that cannot exchange names, W becomes a hard link to old, and new is renamed
//! over S. The states are those above, with two differences. S and W may both be old: nothing was
//! done, so remove W. A file that replaces S between the last check and the rename is lost.

use std::borrow::Cow;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::appended_file::{AppendedFile, hash_of};
use super::backup;
use super::beside::{self, Owner};
use super::failure::Failure;
use super::lock::has_no_links;
use super::note::{self, RepairNote};
use super::progress::Progress;
use super::row_format::is_blank;
use super::rows::{Rows, each_row};
use super::session_file::SessionFile;
use super::temp_file::{SwapState, TempFile, abandoned_name, left_behind, own_name};
use crate::platform::{self, number};

#[derive(Debug)]
pub struct Swap<'s> {
    session: &'s Path,
    progress: &'s Progress,
    /// W, while it exists.
    aside: Option<PathBuf>,
    state: SwapState,
    /// The owner of S: rows of W are not given to any other user.
    owner: u32,
    live: Option<AppendedFile>,
    /// The note of the repair, which tells of rows that are appended in another form.
    repairs: Option<RepairNote<'s>>,
    /// W is left to the next repair.
    is_left: bool,
    /// Rows appended to S.
    pub brought: u64,
}

/// Settles the files that killed repairs left beside a session, and returns the number of rows
/// recovered.
pub fn recover(session: &Path, progress: &Progress) -> Result<u64, Failure> {
    let mut brought = 0;
    for (path, state) in left_behind(session) {
        let Some(state) = state else {
            let _ = fs::remove_file(path);
            continue;
        };
        let Ok(live) = fs::symlink_metadata(session) else { continue };
        let is_trusted = beside::exists(&path, Owner::Of(platform::owner(&live))).is_ok();
        let Some(state) = SwapState::parse(&state).filter(|_| is_trusted) else { continue };
        let claimed = own_name(session, &state.text());
        if fs::rename(path, &claimed).is_ok() {
            let mut swap = Swap::of(session, &live, state, progress);
            swap.aside = Some(claimed);
            swap.settle()?;
            brought += swap.brought;
        }
    }
    note::tidy(session);
    Ok(brought)
}

impl<'s> Swap<'s> {
    fn of(session: &'s Path, found: &Metadata, state: SwapState, progress: &'s Progress) -> Swap<'s> {
        let owner = platform::owner(found);
        Swap {
            session,
            progress,
            aside: None,
            state,
            owner,
            live: None,
            repairs: None,
            brought: 0,
            is_left: false,
        }
    }

    /// Replaces a session with a new file. Fails if another file has taken its place, and leaves
    /// that there.
    pub fn begin(
        mut new: TempFile,
        session: &'s SessionFile,
        state: SwapState,
        repairs: Option<RepairNote<'s>>,
        progress: &'s Progress,
    ) -> Result<Swap<'s>, Failure> {
        let mut swap = Swap::of(&session.path, &session.found, state, progress);
        swap.repairs = repairs;
        new.rename(own_name(&session.path, &state.text()))?;
        progress.step()?;
        match exchange(new.path(), &session.path, state.old, progress) {
            Ok(is_done) => {
                swap.aside = Some(new.leave());
                progress.commit();
                if is_done { Ok(swap) } else { Err(swap.undone(session.changed("was replaced"))) }
            }
            Err(error) if error.kind() == ErrorKind::Unsupported => swap.rename_over(new, session),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(session.changed("was removed")),
            Err(error) => Err(error.into()),
        }
    }

    /// Like [`Swap::begin`], for file systems that cannot exchange names.
    fn rename_over(mut self, mut new: TempFile, session: &SessionFile) -> Result<Swap<'s>, Failure> {
        let (path, state) = (&session.path, self.state);
        let linked = TempFile::make(path, &state.text(), |name| fs::hard_link(path, name));
        let held = match linked {
            Ok((held, ())) => Some(held),
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(session.changed("was removed")),
            Err(error) if !has_no_links(&error) => return Err(error.into()),
            Err(_) if state.backup => Some(backup::copy(session)?),
            Err(_) => None,
        };
        self.progress.step()?;
        session.check_name()?;
        new.rename(path.clone())?;
        new.leave();
        self.progress.commit();
        self.aside = held.map(TempFile::leave);
        // A copy has an inode number of its own.
        let old = self.aside.as_deref().and_then(number_at).unwrap_or(state.old);
        match self.note(SwapState { old, ..state }) {
            Err(error) => Err(Failure::from(error).after_rename(self.abandon())),
            Ok(()) => Ok(self),
        }
    }

    /// Restores the session's file after it turned out to differ from the file that was read.
    pub fn give_back(mut self, why: Failure) -> Failure {
        let Some(aside) = &self.aside else { return why };
        let (session, expected) = (self.session, self.state.new);
        match exchange(aside, session, expected, self.progress) {
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                if number_at(session) == Some(expected) && fs::rename(aside, session).is_ok() {
                    self.aside = None;
                }
                why
            }
            Err(error) => Failure::from(error).after_rename(self.abandon()),
            Ok(_) => self.undone(why),
        }
    }

    fn undone(mut self, why: Failure) -> Failure {
        match self.settle() {
            Ok(()) => why,
            Err(failure) => failure.after_rename(self.abandon()),
        }
    }

    /// Completes the swap from any state.
    fn settle(&mut self) -> Result<(), Failure> {
        while let Some(aside) = &self.aside {
            self.progress.note();
            let (found, live) = (fs::symlink_metadata(aside)?, number_at(self.session));
            let SwapState { old, new, written, .. } = self.state;
            let of = number(&found);
            if of == old && live == Some(old) || of == new && found.len() <= written {
                self.state.backup = false;
                self.end()?;
            } else if of == old {
                self.bring()?;
                self.end()?;
            } else if of == new {
                let new = live.unwrap_or_default();
                self.note(SwapState { old: of, new, read: written, ..SwapState::default() })?;
            } else if live == Some(new) {
                exchange(aside, self.session, new, self.progress)?;
            } else {
                self.state.backup = true;
                self.end()?;
            }
        }
        Ok(())
    }

    /// Appends to S the rows that W received since it was read. A host writes a document anew, so
    /// nothing is taken from another W, which is kept.
    fn bring(&mut self) -> Result<(), Failure> {
        let Some(aside) = &self.aside else { return Ok(()) };
        let Some((file, found)) = beside::open(aside, Owner::Of(self.owner))? else { return Ok(()) };
        let is_other = found.len() != self.state.read;
        // A document was read as one row.
        if is_other && self.state.rest == self.state.read && self.is_document()? {
            self.state.backup = true;
            return Ok(());
        }
        if found.len() <= self.state.read {
            return Ok(());
        }
        let mut at = self.state.read.saturating_sub(self.state.rest);
        (&file).seek(SeekFrom::Start(at))?;
        let mut rows = Rows::of(&file);
        while let Some(block) = rows.next(|_| Ok::<(), Failure>(()))? {
            for row in each_row(block) {
                self.append_row(row, row, at)?;
                at += row.len() as u64;
            }
        }
        if !is_blank(rows.rest()) {
            self.append_row(rows.rest(), rows.rest(), at)?;
            at += rows.rest().len() as u64;
        }
        self.sync(at)
    }

    /// Returns true if S, or W, is one JSON value and not rows.
    fn is_document(&self) -> Result<bool, Failure> {
        for path in [Some(self.session), self.aside.as_deref()].into_iter().flatten() {
            if SessionFile::open_any(path.to_owned())?.document.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Appends rows to S that old received from offset `at` on, each with its new form, unless S
    /// has them. Returns the number of bytes appended.
    pub fn append(&mut self, rows: &[(&[u8], Cow<[u8]>)], mut at: u64) -> Result<u64, Failure> {
        let cut = rows.iter().filter(|(row, new)| **row != **new);
        let cut: Vec<(u64, u64)> = cut.map(|(row, new)| (hash_of(row), hash_of(new))).collect();
        self.repairs.as_mut().map_or(Ok(()), |repairs| repairs.add_late(&cut))?;
        let mut added = 0;
        for (row, new) in rows {
            added += self.append_row(row, new, at)?;
            at += row.len() as u64;
        }
        Ok(added)
    }

    fn append_row(&mut self, row: &[u8], new: &[u8], at: u64) -> Result<u64, Failure> {
        let begun = if at == self.state.read { self.state.row } else { 0 };
        let mut live = self.live.take().map_or_else(|| self.open(), Ok)?;
        let mut added = 0;
        if !live.has(row, begun) {
            let written = live.length()?;
            self.note(SwapState { read: at, rest: 0, written, row: hash_of(new), ..self.state })?;
            added = live.append(new, written)?;
            self.progress.note();
            self.brought += 1;
        }
        self.live = Some(live);
        Ok(added)
    }

    /// Opens S and records the rows that it has. In new, only the row begun before a kill can come
    /// from old.
    fn open(&self) -> io::Result<AppendedFile> {
        let mut live = AppendedFile::open(self.session, self.owner)?;
        let SwapState { new, written, row, .. } = self.state;
        if live.number != new || live.length()? < written {
            live.know(0, |_| true)?;
        } else if row != 0 {
            live.know(written, |hash| hash == row)?;
        }
        Ok(live)
    }

    /// Syncs the appended rows to disk, and records that old was carried over up to `read`.
    pub fn sync(&mut self, read: u64) -> Result<(), Failure> {
        let Some(live) = self.live.take() else { return Ok(()) };
        live.sync()?;
        Ok(self.note(SwapState { read, rest: 0, row: 0, ..self.state })?)
    }

    /// Keeps W as a backup and returns its path, or removes it.
    pub fn end(&mut self) -> Result<Option<PathBuf>, Failure> {
        let Some(aside) = &self.aside else { return Ok(None) };
        let mut kept = None;
        if self.state.backup {
            kept = Some(backup::keep(aside, self.session)?);
        } else {
            fs::remove_file(aside)?;
        }
        self.progress.note();
        self.aside = None;
        Ok(kept)
    }

    /// Leaves W to the next repair, and returns its path.
    pub fn abandon(&mut self) -> Option<PathBuf> {
        let aside = self.aside.take()?;
        self.is_left = true;
        let name = abandoned_name(self.session, &self.state.text());
        Some(fs::rename(&aside, &name).map_or(aside, |()| name))
    }

    /// Records a state in W's name.
    fn note(&mut self, state: SwapState) -> io::Result<()> {
        if let Some(aside) = &mut self.aside {
            let name = own_name(self.session, &state.text());
            fs::rename(&*aside, &name)?;
            *aside = name;
            self.progress.note();
        }
        self.state = state;
        Ok(())
    }
}

impl Drop for Swap<'_> {
    fn drop(&mut self) {
        // The backup that W will be needs the note.
        self.abandon();
        if !self.is_left {
            note::tidy(self.session);
        }
    }
}

/// Exchanges two names, and repeats that while the file taken out of the session is not the
/// expected one: a file that another writer put there stays. Returns true if the first exchange was
/// final.
fn exchange(aside: &Path, session: &Path, expected: u64, progress: &Progress) -> io::Result<bool> {
    let (mut expected, mut is_first) = (Some(expected), true);
    loop {
        let given = number_at(aside);
        match platform::exchange(aside, session) {
            Err(error) if is_first => return Err(error),
            Err(_) => return Ok(false),
            Ok(()) => progress.note(),
        }
        if number_at(aside) == expected {
            return Ok(is_first);
        }
        (expected, is_first) = (given, false);
    }
}

fn number_at(path: &Path) -> Option<u64> {
    fs::symlink_metadata(path).ok().map(|found| number(&found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::temp_file::with_end;

    /// Leaves two files as a repair does that is killed right after the exchange. `more`: what
    /// reaches the old one then. Returns the session, its latest backup, and the rows recovered.
    fn recovered(old: &str, new: &str, more: &str) -> (String, Option<String>, u64) {
        let dir = tempfile::tempdir().unwrap();
        let [session, aside] = ["s.json", "old"].map(|name| dir.path().join(name));
        fs::write(&session, new).unwrap();
        fs::write(&aside, [old, more].concat()).unwrap();
        let [of_old, of_new] = [&aside, &session].map(|path| number_at(path).unwrap());
        let read = old.len() as u64;
        let rest = old.len() - old.rfind('\n').map_or(0, |newline| newline + 1);
        let is_document = old.starts_with('[');
        let rest = if is_document { read } else { rest as u64 };
        let state = SwapState {
            old: of_old,
            new: of_new,
            read,
            rest,
            written: new.len() as u64,
            ..SwapState::default()
        };
        fs::rename(&aside, abandoned_name(&session, &state.text())).unwrap();
        let brought = recover(&session, &Progress::default()).unwrap();
        let text = |path: PathBuf| fs::read_to_string(path).ok();
        (text(session.clone()).unwrap(), text(with_end(&session, backup::LATEST)), brought)
    }

    #[test]
    fn a_document_is_not_appended_to_another() {
        let document = |text: &str| format!("[\n {{\"role\":\"user\",\"content\":\"{text}\"}}\n]");
        let (old, new) = (document("a long text"), document("a"));
        // A host writes the whole document anew.
        let other = format!("{}\n", document("b"));
        assert_eq!(recovered(&old, &new, ""), (new.clone(), None, 0));
        assert_eq!(recovered(&old, &new, &other), (new.clone(), Some([&*old, &other].concat()), 0));
        let row = "{\"role\":\"user\",\"content\":\"a\"}";
        assert_eq!(recovered(row, &format!("{row}\n"), "\n7\n").2, 2);
    }
}
