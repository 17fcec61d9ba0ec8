//! The way back from a session to one of its backups, over the repairs that its note tells of.
//!
//! A repair leads from a file that begins with the bytes that it wrote to one that begins with the
//! bytes that it read. Undoing is a repair as well, so there may be several ways, and the shortest
//! counts. Two files are at hand: the session, and on the way to its first backup also its latest.
//! A file between others that is no more is known by its length and digest alone, so nothing may
//! have been appended to it.

use std::collections::{HashMap, VecDeque};
use std::io::Read;

use super::appended_file::hash_of;
use super::conversation::Conversation;
use super::failure::Failure;
use super::fingerprint::Fingerprint;
use super::note::{Content, MOST, Written};
use super::progress::Progress;
use super::replacement::CHUNK;
use super::session_file::SessionFile;

/// A file, and what it begins with.
#[derive(Debug)]
pub struct FileStart<'s> {
    file: &'s SessionFile,
    /// Bytes of the file that count.
    length: u64,
    /// The digests of its first bytes, by their number.
    starts: HashMap<u64, Content>,
    conversation: Option<Conversation>,
}

impl<'s> FileStart<'s> {
    /// Looks at the first `length` bytes of a file.
    pub fn of(
        file: &'s SessionFile,
        length: u64,
        repairs: &[Written],
        progress: &Progress,
    ) -> Result<FileStart<'s>, Failure> {
        let mut places: Vec<u64> =
            repairs.iter().flat_map(|repair| [repair.from.length, repair.to.length]).collect();
        places.retain(|place| *place <= length);
        places.sort_unstable();
        places.dedup();
        let starts = file.from(0, |opened| {
            let (mut starts, mut digest, mut at) = (HashMap::new(), Fingerprint::default(), 0);
            let mut buffer = vec![0; CHUNK];
            for place in places {
                while at < place {
                    progress.step()?;
                    let count = opened.take((place - at).min(CHUNK as u64)).read(&mut buffer)?;
                    if count == 0 {
                        return Ok(starts);
                    }
                    digest.push(&buffer[..count]);
                    at += count as u64;
                }
                starts.insert(place, Content::of(place, digest.digest()));
            }
            Ok(starts)
        })?;
        Ok(FileStart { file, length, starts, conversation: Conversation::read(file)? })
    }

    pub fn conversation(&self) -> Option<&Conversation> {
        self.conversation.as_ref()
    }

    fn begins_with(&self, content: &Content) -> bool {
        self.starts.get(&content.length) == Some(content)
    }

    /// Returns true if the file is what a repair read, with rows that came later at most.
    fn was_read_by(&self, repair: &Written) -> bool {
        self.begins_with(&repair.from) && (self.file.document.is_none() || self.is(&repair.from))
    }

    pub fn is(&self, content: &Content) -> bool {
        self.length == content.length && self.begins_with(content)
    }

    /// Returns how much of the file is what a repair wrote, if it is that with rows or messages at
    /// most that others appended.
    pub fn written_by(&self, repair: &Written) -> Option<u64> {
        if self.is(&repair.to) {
            return Some(u64::MAX);
        }
        match &self.conversation {
            Some(now) => {
                repair.messages.as_ref().filter(|then| now.begins_with(then)).map(|then| then.length)
            }
            None if self.file.document.is_some() => None,
            None => self.begins_with(&repair.to).then_some(repair.to.length),
        }
    }

    /// Returns what others appended to what a repair wrote. `old`: the file that the repair read.
    fn appended_to(&self, repair: &Written, old: Option<&FileStart>) -> Result<Vec<Vec<u8>>, Failure> {
        if self.file.document.is_some() {
            let messages = repair.messages.as_ref().zip(self.conversation.as_ref());
            return Ok(messages.map_or(vec![], |(then, now)| now.from(then.length)));
        }
        let mut late = CarriedRows::default();
        if let Some(old) = old {
            let cut: HashMap<u64, u64> = repair.late.iter().copied().collect();
            for row in old.rows(repair.from.length - repair.rest.min(repair.from.length))? {
                late.add(hash_of(&row), &cut);
            }
        }
        let mut rows = self.rows(repair.to.length)?;
        rows.retain(|row| !late.takes(hash_of(row)));
        Ok(rows)
    }

    /// Reads the rows from a place on. Of blank rows, those between others are kept.
    pub fn rows(&self, start: u64) -> Result<Vec<Vec<u8>>, Failure> {
        let mut bytes = vec![];
        self.file.from(start, |file| {
            Ok(file.take(self.length.saturating_sub(start)).read_to_end(&mut bytes)?)
        })?;
        Ok(bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect())
    }
}

/// Rows that a repair itself carried over to the new file, each as it was or as it was cut.
#[derive(Debug, Default)]
struct CarriedRows {
    by_hash: HashMap<u64, VecDeque<usize>>,
    taken: Vec<bool>,
}

impl CarriedRows {
    fn add(&mut self, row: u64, cut: &HashMap<u64, u64>) {
        let number = self.taken.len();
        self.taken.push(false);
        for hash in [Some(&row), cut.get(&row)].into_iter().flatten() {
            self.by_hash.entry(*hash).or_default().push_back(number);
        }
    }

    /// Returns true for one row of the new file for each that was carried over.
    fn takes(&mut self, row: u64) -> bool {
        let Some(numbers) = self.by_hash.get_mut(&row) else { return false };
        while let Some(number) = numbers.pop_front() {
            if !std::mem::replace(&mut self.taken[number], true) {
                return true;
            }
        }
        false
    }
}

/// A repair on the way, with the file that it wrote, if that is at hand, and the file that it read.
#[derive(Clone, Copy, Debug)]
struct Step<'v, 's> {
    repair: &'v Written,
    new: Option<&'v FileStart<'s>>,
    old: Option<&'v FileStart<'s>>,
}

/// The changes that others made to a file that a repair wrote.
#[derive(Debug)]
pub struct ForeignChange<'v> {
    /// Rows or messages that they appended.
    pub appended: Vec<Vec<u8>>,
    /// The document before that repair and the document with their changes, if both are at hand.
    pub documents: Option<(&'v Conversation, &'v Conversation)>,
}

/// Returns the changes that others made on the way from `session` to `backup`, the earliest first,
/// or `None` if no way is known. `between`: a file that may be on the way.
pub fn changes_since<'v>(
    session: &'v FileStart,
    between: Option<&'v FileStart>,
    backup: &'v FileStart,
    repairs: &'v [Written],
) -> Result<Option<Vec<ForeignChange<'v>>>, Failure> {
    let Some(way) = way(session, between, backup, repairs) else { return Ok(None) };
    let (mut changes, mut before) = (vec![], None);
    for Step { repair, new, old } in way.into_iter().rev() {
        before = old.and_then(FileStart::conversation).or(before);
        // A document that is as it was written has other members only by the repair.
        let Some(new) = new.filter(|new| new.file.document.is_none() || !new.is(&repair.to)) else {
            continue;
        };
        let appended = new.appended_to(repair, old)?;
        changes.push(ForeignChange { appended, documents: before.zip(new.conversation()) });
    }
    Ok(Some(changes))
}

fn way<'v, 's>(
    session: &'v FileStart<'s>,
    between: Option<&'v FileStart<'s>>,
    backup: &'v FileStart<'s>,
    repairs: &'v [Written],
) -> Option<Vec<Step<'v, 's>>> {
    let mut is_seen = vec![false; repairs.len()];
    let (mut ways, mut others) = (VecDeque::new(), VecDeque::new());
    let (mut file, mut content, mut way) = (Some(session), None, vec![]);
    loop {
        let [likely, possible] = sources(file, content, repairs);
        ways.extend(likely.into_iter().map(|at| (at, file, way.clone())));
        others.extend(possible.into_iter().map(|at| (at, file, way.clone())));
        let (at, new, mut next) = loop {
            let (at, new, way) = ways.pop_front().or_else(|| others.pop_front())?;
            if !std::mem::replace(&mut is_seen[at], true) {
                break (at, new, way);
            }
        };
        let repair: &Written = &repairs[at];
        let old = [Some(backup), between].into_iter().flatten().find(|view| view.was_read_by(repair));
        next.push(Step { repair, new, old });
        if old.is_some_and(|old| std::ptr::eq(old, backup)) {
            return Some(next);
        }
        (file, content, way) = (old, Some(&repair.from), next);
    }
}

/// Returns the numbers of the repairs that may have written a file, the latest first. A file may
/// begin with what an earlier repair wrote, if a later one only added rows, so the repairs that
/// wrote most of it count. If these were undos, what they wrote had been in the session before, so
/// the file is also what an earlier repair wrote, with rows by others. The latter come second. A
/// note that is full may lack the repair that wrote it first.
fn sources(file: Option<&FileStart>, content: Option<&Content>, repairs: &[Written]) -> [Vec<usize>; 2] {
    let written = |repair: &Written| match file {
        Some(file) => file.written_by(repair),
        None => (content == Some(&repair.to)).then_some(u64::MAX),
    };
    let mut all: Vec<(u64, usize)> =
        repairs.iter().zip(0..).filter_map(|(repair, at)| Some((written(repair)?, at))).collect();
    all.sort_unstable_by(|one, other| other.cmp(one));
    let (mut likely, mut possible) = (vec![], vec![]);
    for (bytes, at) in &all {
        let is_before = |(more, at): &&(u64, usize)| more > bytes && !repairs[*at].undoes;
        match all.first().is_some_and(|(most, _)| most == bytes) {
            true => likely.push(*at),
            false if repairs.len() < MOST && !all.iter().any(|other| is_before(&other)) => possible.push(*at),
            false => {}
        }
    }
    [likely, possible]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::note::RepairNote;
    use crate::session::rows::Rows;
    use crate::session::temp_file::with_end;
    use std::fs;
    use std::path::Path;

    fn file(dir: &Path, name: &str, text: &str) -> SessionFile {
        fs::write(dir.join(name), text).unwrap();
        SessionFile::open_any(dir.join(name)).unwrap()
    }

    /// Notes repairs from one text to another, and returns what was appended on the way back.
    fn back(repairs: &[(&str, &str)], session: &str, between: Option<&str>, backup: &str) -> Option<String> {
        let repairs: Vec<(&str, &str, bool)> = repairs.iter().map(|(old, new)| (*old, *new, false)).collect();
        back_by(&repairs, session, between, backup)
    }

    /// Does that also for undos.
    fn back_by(
        repairs: &[(&str, &str, bool)],
        session: &str,
        between: Option<&str>,
        backup: &str,
    ) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let own = file(dir, "s.jsonl", session);
        fs::write(with_end(&own.path, ".bak"), "").unwrap();
        let mut note = RepairNote::read(&own);
        for (old, new, undoes) in repairs {
            let (old, new) = (file(dir, "old", old), file(dir, "new", new));
            let mut rows = Rows::of_session(&old);
            while rows.next(|_| Ok::<(), Failure>(())).unwrap().is_some() {}
            note.add(&rows, &new.path, *undoes).unwrap();
        }
        let texts = [("now", Some(session)), ("between", between), ("then", Some(backup))];
        let files = texts.map(|(name, text)| text.map(|text| file(dir, name, text)));
        let [session, between, backup] = [&files[0], &files[1], &files[2]].map(|file| {
            let file = file.as_ref()?;
            FileStart::of(file, file.found.len(), &note.repairs, &Progress::default()).ok()
        });
        let (session, backup) = (session?, backup?);
        let found = changes_since(&session, between.as_ref(), &backup, &note.repairs).unwrap()?;
        let rows: Vec<Vec<u8>> = found.into_iter().flat_map(|change| change.appended).collect();
        Some(String::from_utf8(rows.concat()).unwrap())
    }

    #[test]
    fn what_others_appended_is_told_from_what_repairs_wrote() {
        let one = [("old\n", "new\nmade\n")];
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(back(&one, "new\nmade\n", None, "old\n"), some(""));
        assert_eq!(back(&one, "new\nmade\nx\n\ny", None, "old\n"), some("x\n\ny"));
        assert_eq!(back(&one, "new\nmade\n\n", None, "old\n"), some("\n"));
        // A row that came while the names were exchanged is in both files.
        assert_eq!(back(&one, "new\nmade\nlate\nx\nlate\n", None, "old\nlate\n"), some("x\nlate\n"));
        for (session, backup) in
            [("new\nMADE\n", "old\n"), ("new\n", "old\n"), ("new\nmade\n", "OLD\n"), ("new\nmade\n", "ol")]
        {
            assert_eq!(back(&one, session, None, backup), None, "{session}");
        }
    }

    #[test]
    fn several_repairs_are_a_way_as_long_as_their_files_are_known() {
        let some = |text: &str| Some(text.to_owned());
        let two = [("1\n", "2\n"), ("2\n", "3\n")];
        assert_eq!(back(&two, "3\nx\n", None, "1\n"), some("x\n"));
        assert_eq!(back(&two, "3\nx\n", Some("2\nlate\n"), "1\n"), some("late\nx\n"));
        let grown = [("1\n", "2\n"), ("2\na\n", "3\n")];
        assert_eq!(back(&grown, "3\nx\n", Some("2\na\n"), "1\n"), some("a\nx\n"));
        assert_eq!(back(&grown, "3\nx\n", None, "1\n"), None);
        // An undo leads back to a file that was there before.
        let undone = [("1\n", "2\n"), ("2\n", "3\n"), ("3\n", "2\n")];
        assert_eq!(back(&undone, "2\n", Some("3\n"), "3\n"), some(""));
        assert_eq!(back(&undone, "2\n", Some("3\n"), "1\n"), some(""));
        // A row that a repair added is not one that others appended to what an earlier repair, or
        // an undo, wrote.
        let added = [("1\n", "2\n"), ("2\n", "2\nmade\n"), ("2\nmade\n", "2\n")];
        for (backup, session, appended) in [("1\n", "2\nmade\n", ""), ("2\n", "2\nmade\nx\n", "x\n")] {
            assert_eq!(back(&added, session, Some("2\n"), backup), some(appended), "{backup}");
        }
    }

    #[test]
    fn an_undo_wrote_what_was_there_before() {
        let some = |text: &str| Some(text.to_owned());
        // Rows were appended between two repairs, and the second was undone.
        let undone = [("1\n", "2\n", false), ("2\na\n", "3\n", false), ("3\n", "2\na\n", true)];
        assert_eq!(back_by(&undone, "2\na\n", Some("3\n"), "1\n"), some("a\n"));
        assert_eq!(back_by(&undone, "2\na\nx\n", Some("3\n"), "1\n"), some("a\nx\n"));
        assert_eq!(back_by(&undone, "2\na\nx\n", Some("3\n"), "3\n"), some("x\n"));
        // A row that a repair made is not one that others appended.
        let made = [("1\n", "2\n", false), ("2\na\n", "2\na\nmade\n", false)];
        assert_eq!(back_by(&made, "2\na\nmade\n", None, "1\n"), None);
        let again = [("2\na\nmade\n", "2\na\n", true), ("2\na\n", "2\na\nmade\n", true)];
        let again = [&made[..], &again].concat();
        assert_eq!(back_by(&again, "2\na\nmade\n", None, "1\n"), None);
    }

    #[test]
    fn messages_are_compared_by_value() {
        let of = |texts: &[&str]| {
            let message = |text: &&str| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}");
            format!("[{}]", texts.iter().map(message).collect::<Vec<_>>().join(", "))
        };
        let one = [(&*of(&["long", "b"]), &*of(&["l", "b"]))];
        let now = of(&["l", "b", "c"]).replace("\"role\":\"user\",\"content\":\"c\"", "\"role\":\"c\"");
        assert_eq!(back(&one, &now, None, one[0].0).as_deref(), Some("{\"role\":\"c\"}"));
        assert_eq!(back(&one, &of(&["\\u006c", "b"]), None, one[0].0).as_deref(), Some(""));
        for other in [of(&["l"]), of(&["l", "c"]), of(&["L", "b", "c"])] {
            assert_eq!(back(&one, &other, None, one[0].0), None, "{other}");
        }
    }
}
