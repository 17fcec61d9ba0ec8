//! The exchange of a session's file for a new one.
//!
//! S is the session. W is a name beside it for what has not got that name: a [`State`] is part of it, so that whoever finds
//! it knows the two files. *Old* was read, *new* was written; *other* is what a writer put in the place of either.
//!
//! | S | W | when | what is left to do |
//! |---|---|---|---|
//! | old | new | new is complete | remove W |
//! | new | old | they were exchanged | append to S what came to W since it was read; keep W as a backup, or remove it |
//! | new | other | another was there first | exchange again |
//! | other | new | they were exchanged again | append to S what came to W while it was S; remove W |
//! | other | old | another came later | as in the second row, but for rows that S has |
//! | other | other | more than one came at once | keep W as a backup |
//!
//! [`Swap::settle`] does what is left. The process that exchanged them calls it; where that was killed, the next repair
//! does, before anything else. So whatever the instant, S is a whole file, and each row that was appended to a file that
//! was S is in S or in W. Before a row goes from W to S, W's name tells which, and how long S was: after a kill in between, a
//! row that is in S since then is not appended again.
//!
//! Where a file system exchanges no names, W becomes a second name of old, and new is renamed over S: the same states,
//! except that S may be old where W is (nothing was done: remove W), and that what takes the place of S between the last look
//! at it and that rename is lost.

use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::backup;
use super::entry::is_blank;
use super::failure::Failure;
use super::file::{Beside, State, abandoned_name, left_behind, own_name};
use super::live::{Live, hash_of};
use super::lock::has_no_links;
use super::rows::{Rows, each_row};
use super::stored::Session;
use super::watch::Watch;
use crate::system::{self, number};

#[derive(Debug)]
pub struct Swap<'s> {
    session: &'s Path,
    watch: &'s Watch,
    /// W, as long as there is one.
    aside: Option<PathBuf>,
    state: State,
    /// Who S belongs to: no other is given rows of W.
    owner: u32,
    live: Option<Live>,
    /// Rows that were appended to S.
    pub brought: u64,
}

/// Settles what repairs that were killed left beside a session, and tells how many rows that brought back.
pub fn recover(session: &Path, watch: &Watch) -> Result<u64, Failure> {
    let mut brought = 0;
    for (path, state) in left_behind(session) {
        let Some(state) = state else {
            let _ = fs::remove_file(path);
            continue;
        };
        let (Ok(found), Ok(live)) = (fs::symlink_metadata(&path), fs::symlink_metadata(session)) else {
            continue;
        };
        let is_trusted = found.is_file() && system::owner(&found) == system::owner(&live);
        let Some(state) = State::parse(&state).filter(|_| is_trusted) else { continue };
        let claimed = own_name(session, &state.text());
        if fs::rename(path, &claimed).is_ok() {
            let mut swap = Swap::of(session, &live, state, watch);
            swap.aside = Some(claimed);
            swap.settle()?;
            brought += swap.brought;
        }
    }
    Ok(brought)
}

impl<'s> Swap<'s> {
    fn of(session: &'s Path, found: &Metadata, state: State, watch: &'s Watch) -> Swap<'s> {
        Swap { session, watch, aside: None, state, owner: system::owner(found), live: None, brought: 0 }
    }

    /// Puts a new file in the place of a session. Where another file has taken that place, fails and leaves it there.
    pub fn begin(
        mut new: Beside,
        session: &'s Session,
        state: State,
        watch: &'s Watch,
    ) -> Result<Swap<'s>, Failure> {
        let mut swap = Swap::of(&session.path, &session.found, state, watch);
        new.rename(own_name(&session.path, &state.text()))?;
        watch.step()?;
        match exchange(new.path(), &session.path, state.old, watch) {
            Ok(is_done) => {
                swap.aside = Some(new.leave());
                watch.commit();
                if is_done { Ok(swap) } else { Err(swap.undone(session.changed("was replaced"))) }
            }
            Err(error) if error.kind() == ErrorKind::Unsupported => swap.rename_over(new, session),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(session.changed("was removed")),
            Err(error) => Err(error.into()),
        }
    }

    /// The same where names are not exchanged.
    fn rename_over(mut self, mut new: Beside, session: &Session) -> Result<Swap<'s>, Failure> {
        let (path, state) = (&session.path, self.state);
        let linked = Beside::make(path, &state.text(), |name| fs::hard_link(path, name));
        let held = match linked {
            Ok((held, ())) => Some(held),
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(session.changed("was removed")),
            Err(error) if !has_no_links(&error) => return Err(error.into()),
            Err(_) if state.backup => Some(backup::copy(session)?),
            Err(_) => None,
        };
        self.watch.step()?;
        session.check_name()?;
        new.rename(path.clone())?;
        new.leave();
        self.watch.commit();
        self.aside = held.map(Beside::leave);
        // A copy has a number of its own.
        let old = self.aside.as_deref().and_then(number_at).unwrap_or(state.old);
        match self.note(State { old, ..state }) {
            Err(error) => Err(Failure::from(error).after_rename(self.abandon())),
            Ok(()) => Ok(self),
        }
    }

    /// Gives the session back its file, of which it turned out that it is not what was read.
    pub fn give_back(mut self, why: Failure) -> Failure {
        let Some(aside) = &self.aside else { return why };
        let (session, expected) = (self.session, self.state.new);
        match exchange(aside, session, expected, self.watch) {
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

    /// Does what is left to do.
    fn settle(&mut self) -> Result<(), Failure> {
        while let Some(aside) = &self.aside {
            self.watch.note();
            let (found, live) = (fs::symlink_metadata(aside)?, number_at(self.session));
            let State { old, new, written, .. } = self.state;
            let of = number(&found);
            if of == old && live == Some(old) || of == new && found.len() <= written {
                self.state.backup = false;
                self.end()?;
            } else if of == old {
                self.bring()?;
                self.end()?;
            } else if of == new {
                let new = live.unwrap_or_default();
                self.note(State { old: of, new, read: written, ..State::default() })?;
            } else if live == Some(new) {
                exchange(aside, self.session, new, self.watch)?;
            } else {
                self.state.backup = true;
                self.end()?;
            }
        }
        Ok(())
    }

    /// Appends to S what came to W since it was read.
    fn bring(&mut self) -> Result<(), Failure> {
        let Some(aside) = &self.aside else { return Ok(()) };
        let file = system::open_itself(aside, OpenOptions::new().read(true))?;
        if file.metadata()?.len() <= self.state.read {
            return Ok(());
        }
        let mut at = self.state.read.saturating_sub(self.state.rest);
        (&file).seek(SeekFrom::Start(at))?;
        let mut rows = Rows::of(&file);
        while let Some(block) = rows.next(|_| Ok::<(), Failure>(()))? {
            for row in each_row(block) {
                self.append(row, row, at)?;
                at += row.len() as u64;
            }
        }
        if !is_blank(rows.rest()) {
            self.append(rows.rest(), rows.rest(), at)?;
            at += rows.rest().len() as u64;
        }
        self.sync(at)
    }

    /// Appends a row that came to old, where it starts `at`, to S as it is to be there, unless S has it. Returns how many
    /// bytes S has more.
    pub fn append(&mut self, row: &[u8], new: &[u8], at: u64) -> Result<u64, Failure> {
        let begun = if at == self.state.read { self.state.row } else { 0 };
        let mut live = self.live.take().map_or_else(|| self.open(), Ok)?;
        let mut added = 0;
        if !live.has(row, begun) {
            let written = live.length()?;
            self.note(State { read: at, rest: 0, written, row: hash_of(new), ..self.state })?;
            added = live.append(new, written)?;
            self.watch.note();
            self.brought += 1;
        }
        self.live = Some(live);
        Ok(added)
    }

    /// Opens S, and has it told apart which rows it has already: of new, only the row that was begun can be of old.
    fn open(&self) -> io::Result<Live> {
        let mut live = Live::open(self.session, self.owner)?;
        let State { new, written, row, .. } = self.state;
        if live.number != new || live.length()? < written {
            live.know(0, |_| true)?;
        } else if row != 0 {
            live.know(written, |hash| hash == row)?;
        }
        Ok(live)
    }

    /// Has what was appended on the disk, and takes note that old was carried over so far.
    pub fn sync(&mut self, read: u64) -> Result<(), Failure> {
        let Some(live) = self.live.take() else { return Ok(()) };
        live.sync()?;
        Ok(self.note(State { read, rest: 0, row: 0, ..self.state })?)
    }

    /// Keeps W as a backup, and returns where; or removes it.
    pub fn end(&mut self) -> Result<Option<PathBuf>, Failure> {
        let Some(aside) = &self.aside else { return Ok(None) };
        let mut kept = None;
        if self.state.backup {
            kept = Some(backup::keep(aside, self.session)?);
        } else {
            fs::remove_file(aside)?;
        }
        self.watch.note();
        self.aside = None;
        Ok(kept)
    }

    /// Leaves W to the next repair, and returns where it is.
    pub fn abandon(&mut self) -> Option<PathBuf> {
        let aside = self.aside.take()?;
        let name = abandoned_name(self.session, &self.state.text());
        Some(fs::rename(&aside, &name).map_or(aside, |()| name))
    }

    /// Has W's name tell a state.
    fn note(&mut self, state: State) -> io::Result<()> {
        if let Some(aside) = &mut self.aside {
            let name = own_name(self.session, &state.text());
            fs::rename(&*aside, &name)?;
            *aside = name;
            self.watch.note();
        }
        self.state = state;
        Ok(())
    }
}

impl Drop for Swap<'_> {
    fn drop(&mut self) {
        self.abandon();
    }
}

/// Exchanges two names, and again as long as what comes out of the session is another than what was there last: what a
/// writer put there stays. Tells whether the first exchange stands.
fn exchange(aside: &Path, session: &Path, expected: u64, watch: &Watch) -> io::Result<bool> {
    let (mut expected, mut is_first) = (Some(expected), true);
    loop {
        let given = number_at(aside);
        match system::exchange(aside, session) {
            Err(error) if is_first => return Err(error),
            Err(_) => return Ok(false),
            Ok(()) => watch.note(),
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
