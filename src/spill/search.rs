//! Searches a saved output line by line.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek};
use std::ops::Range;
use std::time::{Duration, Instant};

use super::line_reader::LineReader;
use super::pattern::Pattern;
use super::read::bytes_of;
use super::{Failure, Store};
use crate::encoding::{Text, Utf8};

/// The search to run.
#[derive(Debug)]
pub struct Query {
    pub pattern: Pattern,
    /// The first line to search.
    pub line: u64,
    /// Lines shown before and after each match.
    pub context: usize,
    pub max: usize,
}

/// A matching line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    pub line: u64,
    /// Position of the match in the file.
    pub byte: u64,
    pub text: String,
    pub before: Vec<String>,
    pub after: Vec<String>,
}

/// Time after which a search is aborted, because it delays others.
const LONGEST: Duration = Duration::from_secs(30);
/// Bytes shown of a line.
const SHOWN: u64 = 500;
/// Of these, bytes before a match.
const LEAD: u64 = 150;
/// Maximum bytes of an answer.
const ANSWER: usize = 40_960;

pub fn search(store: &Store, id: &str, query: &Query) -> Result<Vec<Match>, Failure> {
    let (entry, file) = store.open(id)?;
    let hits = find(&file, entry.size, query, Instant::now() + LONGEST)?;
    show(&file, &hits)
}

/// A matching line, with its position and those of its neighbours.
#[derive(Debug)]
struct Hit {
    line: u64,
    found: Range<u64>,
    place: Range<u64>,
    before: Vec<Range<u64>>,
    after: Vec<Range<u64>>,
}

fn find(mut file: &File, size: u64, query: &Query, deadline: Instant) -> Result<Vec<Hit>, Failure> {
    file.rewind()?;
    let mut lines = LineReader::new(file.take(size));
    let mut hits: Vec<Hit> = vec![];
    let mut recent: VecDeque<Range<u64>> = VecDeque::new();
    let mut found: Option<Range<u64>> = None;
    let mut start = 0;
    while let Some(part) = lines.next_part()? {
        if part.begins {
            start = part.at;
            found = None;
        }
        if found.is_none() && part.line >= query.line && hits.len() < query.max {
            let range = query.pattern.find(&part);
            found = range.map(|range| part.at + range.start as u64..part.at + range.end as u64);
            if Instant::now() > deadline {
                let longest = LONGEST.as_secs();
                return Err(Failure::Refused(format!(
                    "the search took longer than {longest} seconds: look for a plain text, or a simpler pattern"
                )));
            }
        }
        if !part.ends {
            continue;
        }
        let place = start..part.at + part.bytes.len() as u64;
        for hit in hits.iter_mut().rev().take_while(|hit| hit.after.len() < query.context) {
            hit.after.push(place.clone());
        }
        if let Some(found) = found.take() {
            let before = recent.iter().cloned().collect();
            hits.push(Hit { line: part.line, found, place: place.clone(), before, after: vec![] });
        }
        if hits.len() == query.max && hits.last().is_none_or(|hit| hit.after.len() == query.context) {
            break;
        }
        recent.push_back(place);
        if recent.len() > query.context {
            recent.pop_front();
        }
    }
    Ok(hits)
}

/// Reads the lines to show within the maximum: first the matching lines, at least one of them, then their neighbours,
/// nearest first.
fn show(file: &File, hits: &[Hit]) -> Result<Vec<Match>, Failure> {
    let mut matches: Vec<Match> = vec![];
    let mut room = ANSWER;
    for hit in hits {
        let text = excerpt(file, &hit.place, hit.found.start)?;
        let size = size_of_line(&text);
        if size > room && !matches.is_empty() {
            break;
        }
        room = room.saturating_sub(size);
        matches.push(Match { line: hit.line, byte: hit.found.start, text, ..Match::default() });
    }
    for (shown, hit) in matches.iter_mut().zip(hits) {
        shown.before = neighbours(file, hit.before.iter().rev(), &mut room)?;
        shown.before.reverse();
        shown.after = neighbours(file, hit.after.iter(), &mut room)?;
    }
    Ok(matches)
}

fn neighbours<'a>(
    file: &File,
    places: impl Iterator<Item = &'a Range<u64>>,
    room: &mut usize,
) -> Result<Vec<String>, Failure> {
    let mut lines = vec![];
    for place in places {
        let line = excerpt(file, place, place.start)?;
        let Some(left) = room.checked_sub(size_of_line(&line)) else { break };
        *room = left;
        lines.push(line);
    }
    Ok(lines)
}

/// Returns the bytes of a line in an answer, including its newline: empty lines count too.
fn size_of_line(line: &str) -> usize {
    line.len() + 1
}

/// Reads a line. Only the text around `at` is returned from a long line, between marks that name the omitted bytes.
fn excerpt(file: &File, place: &Range<u64>, at: u64) -> Result<String, Failure> {
    if place.end - place.start <= SHOWN {
        return Ok(String::from_utf8_lossy(&bytes_of(file, place.clone())?).into_owned());
    }
    let start = at.saturating_sub(LEAD).clamp(place.start, place.end - SHOWN);
    let from = start.saturating_sub(3).max(place.start);
    let bytes = bytes_of(file, from..place.end.min(start + SHOWN + 3))?;
    let text = Utf8(&bytes);
    let floor = |at: u64| text.floor(usize::try_from(at - from).unwrap_or(bytes.len()).min(bytes.len()));
    let shown = floor(start)..floor(start + SHOWN);
    let mark = |bytes: u64| if bytes == 0 { String::new() } else { format!("[+{bytes} bytes]") };
    Ok([
        mark(from + shown.start as u64 - place.start),
        String::from_utf8_lossy(&bytes[shown.clone()]).into_owned(),
        mark(place.end - (from + shown.end as u64)),
    ]
    .concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn hits(text: &str, pattern: &str, deadline: Instant) -> Result<Vec<Match>, Failure> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let pattern = Pattern::regex(pattern, false).unwrap();
        let query = Query { pattern, line: 1, context: 0, max: 9 };
        show(&file, &find(&file, text.len() as u64, &query, deadline)?)
    }

    #[test]
    fn a_search_past_its_deadline_is_aborted() {
        let soon = Instant::now() + LONGEST;
        assert_eq!(hits("a\nb\n", "b", soon).unwrap().len(), 1);
        assert!(matches!(hits("a\nb\n", "b", Instant::now()), Err(Failure::Refused(_))));
    }

    #[test]
    fn a_long_line_is_shown_around_its_match() {
        let line = ["漢".repeat(300), "needle".to_owned(), "字".repeat(300)].concat();
        let found = hits(&line, "needle", Instant::now() + LONGEST).unwrap();
        let lead = "漢".repeat(50);
        let trail = "字".repeat((500 - 156) / 3);
        assert_eq!(found[0].text, format!("[+750 bytes]{lead}needle{trail}[+558 bytes]"));
        assert_eq!(found[0].byte, 900);
        let found = hits(&line, "字$", Instant::now() + LONGEST).unwrap();
        assert!(found[0].text.starts_with("[+1305 bytes]") && found[0].text.ends_with('字'));
    }
}
