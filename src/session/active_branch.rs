//! The active branch of a session tree: from the last row up to a root, or to the start of the
//! context that the last compaction on it defines.

use super::layout::Layout;
use crate::hash::hash;
use crate::json::Value;

/// The rows of a tree, in 32 bytes each.
#[derive(Debug, Default)]
pub struct SessionTree {
    /// The hashed id of each row, with its index.
    ids: Vec<(u64, usize)>,
    /// The hashed id of each row's parent, or [`NONE`].
    parents: Vec<u64>,
    /// The number of each row in the file.
    rows: Vec<u64>,
    /// The index of each compaction, with the id of the first row that it keeps.
    compactions: Vec<(usize, u64)>,
    tip: u64,
    /// The agent leaves out a row that it cannot read, and goes on with the row before it.
    bridges: bool,
}

impl SessionTree {
    pub fn of(layout: &Layout) -> SessionTree {
        SessionTree { bridges: !layout.loses, ..SessionTree::default() }
    }

    /// Takes the next row. `chain`: the members with the id of a row and of the row before it. The
    /// last row is the tip. In OpenClaw's format, a row of type `leaf` sets the tip to another row,
    /// and rows appended to the side do not move it.
    pub fn push(&mut self, number: u64, row: Value, [id, parent]: &[String; 2]) {
        let named = |name| row.get(name).and_then(Value::string).map_or(NONE, |id| hash_of(&id));
        let id = named(id);
        if id == NONE {
            return;
        }
        let is_kind = |name: &str| row.get("type").is_some_and(|kind| kind.is(name));
        let is_leaf = is_kind("leaf");
        if is_kind("compaction") {
            self.compactions.push((self.rows.len(), named("firstKeptEntryId")));
        }
        self.ids.push((id, self.rows.len()));
        self.parents.push(named(if is_leaf { "targetId" } else { parent }));
        self.rows.push(number);
        let is_aside = row.get("appendMode").is_some_and(|mode| mode.is("side"));
        if is_leaf || !is_aside {
            self.tip = id;
        }
    }

    /// Returns the rows of the active branch.
    pub fn branch(mut self) -> Branch {
        let own: Vec<u64> = if self.bridges { self.ids.iter().map(|(id, _)| *id).collect() } else { vec![] };
        self.ids.sort_unstable();
        // The last of several rows with one id counts.
        let find = |id: u64| {
            let end = self.ids.partition_point(|(other, _)| *other <= id);
            self.ids[..end].last().filter(|(other, _)| *other == id && id != NONE).map(|(_, at)| *at)
        };
        let (mut is_on, mut way, mut next) = (vec![false; self.rows.len()], vec![], find(self.tip));
        // Visiting a row twice means a cycle.
        while let Some(at) = next.filter(|at| !is_on[*at]) {
            is_on[at] = true;
            way.push(at);
            // The row before, and before all with the same id.
            let before = || {
                let id = own.get(at).filter(|_| self.parents[at] != NONE)?;
                let first = self.ids.partition_point(|(other, _)| other < id);
                find(own[self.ids[first].1.checked_sub(1)?])
            };
            next = find(self.parents[at]).or_else(before);
        }
        let kept_by = |at: usize| {
            let nth = self.compactions.binary_search_by_key(&at, |(of, _)| *of).ok()?;
            Some(self.compactions[nth].1)
        };
        let last = way.iter().enumerate().find_map(|(nth, at)| Some((nth, find(kept_by(*at)?))));
        if let Some((nth, first)) = last {
            let kept = way[nth..].iter().position(|at| Some(*at) == first).unwrap_or(0);
            let mut earlier: Vec<u64> = way.drain(nth + kept + 1..).map(|at| self.rows[at]).collect();
            earlier.sort_unstable();
            way.sort_unstable();
            return Branch { rows: way.into_iter().map(|at| self.rows[at]).collect(), earlier };
        }
        way.sort_unstable();
        Branch { rows: way.into_iter().map(|at| self.rows[at]).collect(), earlier: vec![] }
    }
}

/// Row numbers in ascending order.
#[derive(Debug)]
pub struct Branch {
    rows: Vec<u64>,
    /// Those that lead to these, before the last compaction.
    earlier: Vec<u64>,
}

impl Branch {
    pub fn holds(&self, row: u64) -> bool {
        self.rows.binary_search(&row).is_ok()
    }

    /// Returns true if a row was part of the branch until its last compaction.
    pub fn held(&self, row: u64) -> bool {
        self.earlier.binary_search(&row).is_ok()
    }
}

/// The hash of a missing id.
const NONE: u64 = 0;

fn hash_of(id: &str) -> u64 {
    hash(id.as_bytes()).max(NONE + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    fn chain() -> [String; 2] {
        ["id", "parentId"].map(str::to_owned)
    }

    fn branch(rows: &[&str]) -> Vec<u64> {
        branch_of(SessionTree::default(), rows)
    }

    fn bridged(rows: &[&str]) -> Vec<u64> {
        branch_of(SessionTree { bridges: true, ..SessionTree::default() }, rows)
    }

    fn branch_of(mut tree: SessionTree, rows: &[&str]) -> Vec<u64> {
        for (at, row) in rows.iter().enumerate() {
            tree.push(at as u64, Document::parse(row.as_bytes()).unwrap().root(), &chain());
        }
        tree.branch().rows
    }

    #[test]
    fn the_branch_leads_from_the_last_row_to_a_root() {
        let rows = [
            r#"{"type":"session","version":3,"id":"s"}"#,
            r#"{"type":"message","id":"a","parentId":null}"#,
            r#"{"type":"message","id":"b","parentId":"a"}"#,
            r#"{"type":"message","id":"c","parentId":"a"}"#,
            r#"{"type":"label","id":"d","parentId":"c"}"#,
        ];
        assert_eq!(branch(&rows), [1, 3, 4]);
        let rewind = r#"{"type":"leaf","id":"l","parentId":"d","targetId":"b"}"#;
        assert_eq!(branch(&[&rows[..], &[rewind]].concat()), [1, 2, 5]);
        let after = r#"{"type":"message","id":"e","parentId":"l"}"#;
        assert_eq!(branch(&[&rows[..], &[rewind, after]].concat()), [1, 2, 5, 6]);
        let aside = r#"{"type":"message","id":"f","parentId":"b","appendMode":"side"}"#;
        assert_eq!(branch(&[&rows[..], &[aside]].concat()), [1, 3, 4]);
    }

    #[test]
    fn the_context_starts_at_the_last_compaction() {
        let row =
            |id: &str, parent: &str| format!(r#"{{"type":"message","id":"{id}","parentId":"{parent}"}}"#);
        let compaction = |id: &str, parent: &str, first: &str| {
            format!(
                r#"{{"type":"compaction","id":"{id}","parentId":"{parent}","firstKeptEntryId":"{first}"}}"#
            )
        };
        let rows = [row("a", ""), row("b", "a"), compaction("c", "b", "a"), row("d", "c"), row("e", "d")];
        let of = |more: &[String]| branch(&rows.iter().chain(more).map(String::as_str).collect::<Vec<_>>());
        assert_eq!(of(&[]), [0, 1, 2, 3, 4]);
        let later = compaction("f", "e", "d");
        assert_eq!(of(&[later.clone(), row("g", "f")]), [3, 4, 5, 6]);
        assert_eq!(of(&[compaction("f", "e", "gone"), row("g", "f")]), [5, 6]);
        // A compaction on another branch does not affect this one.
        assert_eq!(of(&[later, row("g", "e")]), [0, 1, 2, 3, 4, 6]);
    }

    #[test]
    fn compactions_of_other_branches_do_not_count() {
        let mut tree = SessionTree::default();
        let mut push = |row: String, at: u64| {
            tree.push(at, Document::parse(row.as_bytes()).unwrap().root(), &chain());
        };
        let count = 100_000;
        for at in 0..count {
            push(format!(r#"{{"type":"compaction","id":"c{at}","parentId":null}}"#), at);
        }
        for at in 0..count {
            push(format!(r#"{{"type":"message","id":"{at}","parentId":"{}"}}"#, at as i64 - 1), count + at);
        }
        assert!(tree.branch().rows.into_iter().eq(count..2 * count));
    }

    #[test]
    fn a_row_that_is_left_out_does_not_end_the_branch_of_an_agent_that_goes_on() {
        let rows = [
            r#"{"id":"a","parentId":null}"#,
            r#"{"id":"b","parentId":"a"}"#,
            r#"{"id":"c","parentId":"gone"}"#,
            r#"{"id":"d","parentId":"c"}"#,
        ];
        assert_eq!(branch(&rows), [2, 3]);
        assert_eq!(bridged(&rows), [0, 1, 2, 3]);
    }

    #[test]
    fn a_row_that_is_there_twice_is_on_the_branch_once() {
        let rows = [
            r#"{"id":"a","parentId":null}"#,
            r#"{"id":"c","parentId":"gone"}"#,
            r#"{"id":"d","parentId":"c"}"#,
            r#"{"id":"c","parentId":"gone"}"#,
        ];
        for rows in [&rows[..], &[rows[0], rows[1], rows[3]]] {
            assert_eq!(bridged(rows), [0, rows.len() as u64 - 1]);
        }
    }

    #[test]
    fn cycles_and_orphans_terminate() {
        let circle = [
            r#"{"type":"message","id":"a","parentId":"b"}"#,
            r#"{"type":"message","id":"b","parentId":"a"}"#,
            r#"{"type":"message","id":"c","parentId":"c"}"#,
        ];
        assert_eq!(branch(&circle[..2]), [0, 1]);
        assert_eq!(branch(&circle), [2]);
        assert_eq!(branch(&[r#"{"type":"message","id":"a","parentId":"gone"}"#]), [0]);
        assert_eq!(branch(&[r#"{"type":"message","id":7,"parentId":null}"#]), [0u64; 0]);
        assert_eq!(branch(&[circle[0], r#"{"type":"message","id":"a","parentId":null}"#]), [1]);
    }
}
