//! The active branch of a session that is a tree: the way from its last row to a root.

use std::hash::{DefaultHasher, Hasher};

use super::entry::Entry;
use crate::dialect::object::text_at;
use crate::dialect::path::Follower;
use crate::json::scan::Kind;

/// The rows of a tree, 24 bytes each.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    tip: Option<u64>,
}

/// Ids are known by their hashes, which are as long as most of them.
#[derive(Clone, Copy, Debug)]
struct Node {
    id: u64,
    /// 0 where it has none.
    parent: u64,
    row: u64,
}

impl Tree {
    /// Takes the next row. The last is the tip; a row of OpenClaw that names the leaf stands for that, and one that is
    /// written to the side moves nothing.
    pub fn push(&mut self, row: u64, entry: &Entry, follower: Follower) {
        let hash = |name| follower.get(&entry.root, name).map(|value| hash_of(follower.row, value));
        let Some(id) = hash("id").filter(|id| *id != NONE) else { return };
        let is_leaf = follower.text(&entry.root, "type").as_deref() == Some("leaf");
        let parent = hash(if is_leaf { "targetId" } else { "parentId" }).unwrap_or(NONE);
        self.nodes.push(Node { id, parent, row });
        let is_aside = follower.text(&entry.root, "appendMode").as_deref() == Some("side");
        if is_leaf || !is_aside {
            self.tip = Some(id);
        }
    }

    /// The rows of the active branch, in the order of the file.
    pub fn branch(mut self) -> Vec<u64> {
        // Of several rows of one id the last counts.
        self.nodes.sort_by_key(|node| (node.id, node.row));
        let find = |id: u64| {
            let end = self.nodes.partition_point(|node| node.id <= id);
            self.nodes[..end].last().copied().filter(|node| node.id == id)
        };
        let (mut rows, mut next) = (vec![], self.tip);
        while let Some(node) = next.and_then(find) {
            // No way is longer than there are rows: what goes on is a circle.
            if rows.len() == self.nodes.len() {
                break;
            }
            rows.push(node.row);
            next = (node.parent != NONE).then_some(node.parent);
        }
        rows.sort_unstable();
        rows.dedup();
        rows
    }
}

/// What stands for no id.
const NONE: u64 = 0;

fn hash_of(row: &[u8], id: crate::json::Span) -> u64 {
    match text_at(row, id) {
        Some(text) => {
            let mut hasher = DefaultHasher::new();
            hasher.write(text.string().as_bytes());
            hasher.finish().max(NONE + 1)
        }
        None => {
            debug_assert!(Kind::of(id.of(row)) != Kind::String);
            NONE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Table;
    use crate::session::entry::Format;

    fn branch(rows: &[&str]) -> Vec<u64> {
        let mut tree = Tree::default();
        for (at, row) in rows.iter().enumerate() {
            let entry = Entry::read(row.as_bytes(), Format::Pi { version: 3 }).unwrap();
            tree.push(at as u64, &entry, Table::get().follower(row.as_bytes()));
        }
        tree.branch()
    }

    #[test]
    fn the_way_from_the_last_row_is_the_branch() {
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
    fn circles_and_orphans_come_to_an_end() {
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
