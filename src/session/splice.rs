//! Replaces parts of a row; all other bytes stay.

use std::collections::{BTreeMap, BTreeSet};

use crate::json::{Value, on_one_line, string};

/// Changes to the values of one document, by their ids. A change of a container outweighs those
/// inside.
#[derive(Debug, Default)]
pub struct Splices {
    replaced: BTreeMap<u32, String>,
    removed: BTreeSet<u32>,
    /// Members added to objects, and elements added to lists, which have no name.
    added: BTreeMap<u32, Vec<(String, String)>>,
    /// Elements added after another.
    inserted: BTreeMap<u32, Vec<String>>,
}

impl Splices {
    pub fn is_empty(&self) -> bool {
        self.replaced.is_empty()
            && self.removed.is_empty()
            && self.added.is_empty()
            && self.inserted.is_empty()
    }

    /// Replaces a value. The last replacement counts.
    pub fn replace(&mut self, value: Value, json: String) {
        self.replaced.insert(value.id(), on_one_line(json));
    }

    /// Removes an element, or a member by its value.
    pub fn remove(&mut self, part: Value) {
        self.removed.insert(part.id());
    }

    /// Removes all members with the name of this one.
    pub fn remove_named(&mut self, member: Value) {
        let Some((object, name)) = member.parent().zip(member.name().and_then(Value::string)) else { return };
        object.members().filter(|other| other.is_named(&name)).for_each(|other| self.remove(other));
    }

    /// Replaces or adds a member of an object.
    pub fn set(&mut self, object: Value, name: &str, json: String) {
        match object.get(name).filter(|member| !self.removed.contains(&member.id())) {
            Some(member) => self.replace(member, json),
            None => {
                let added = self.added.entry(object.id()).or_default();
                added.retain(|(other, _)| *other != name);
                added.push((name.to_owned(), on_one_line(json)));
            }
        }
    }

    /// Appends an element to a list.
    pub fn push(&mut self, list: Value, json: String) {
        self.added.entry(list.id()).or_default().push((String::new(), on_one_line(json)));
    }

    /// Inserts an element after another, which stays.
    pub fn insert_after(&mut self, element: Value, json: String) {
        self.inserted.entry(element.id()).or_default().push(on_one_line(json));
    }

    /// Makes a second copy of an object follow the changes to the members that both have.
    pub fn mirror(&mut self, object: Value, copy: Value) {
        for member in copy.members() {
            let Some(name) = member.name().and_then(Value::string) else { continue };
            let mut added = self.added.get(&object.id()).into_iter().flatten();
            let same = object.get(&name);
            if let Some((_, json)) = added.find(|(other, _)| *other == name) {
                self.replaced.insert(member.id(), json.clone());
            } else if same.is_some_and(|same| self.removed.contains(&same.id())) {
                self.remove(member);
            } else if let Some(same) = same.filter(|same| self.touches(*same)) {
                let json = self.written(same);
                self.replace(member, String::from_utf8_lossy(&json).into_owned());
            }
        }
    }

    /// Returns true if a value or any part of it changes.
    fn touches(&self, value: Value) -> bool {
        let ids = value.id()..value.next_id();
        self.replaced.range(ids.clone()).next().is_some()
            || self.removed.range(ids.clone()).next().is_some()
            || self.added.range(ids.clone()).next().is_some()
            || self.inserted.range(ids).next().is_some()
    }

    /// Returns the row of a document after the changes.
    pub fn written_row(&self, root: Value) -> Vec<u8> {
        let (before, after) = root.around();
        [before, &self.written(root), after].concat()
    }

    /// Returns the JSON of a value after the changes.
    fn written(&self, value: Value) -> Vec<u8> {
        let mut out = vec![];
        self.write(value, &mut out);
        out
    }

    fn write(&self, value: Value, out: &mut Vec<u8>) {
        if let Some(json) = self.replaced.get(&value.id()) {
            return out.extend_from_slice(json.as_bytes());
        }
        if !self.touches(value) {
            return out.extend_from_slice(value.source());
        }
        let parts: Vec<Value> = value.elements().chain(value.members()).collect();
        let start = |part: &Value| part.name().unwrap_or(*part).start();
        // Each part keeps what separates it from the one before, and the first that stays the
        // start.
        let (mut end, mut is_first) = (parts.first().map_or(value.end() - 1, start), true);
        out.extend_from_slice(value.bytes(value.start(), end));
        for part in parts {
            if !self.removed.contains(&part.id()) {
                if !is_first {
                    out.extend_from_slice(value.bytes(end, start(&part)));
                }
                if let Some(name) = part.name() {
                    out.extend_from_slice(value.bytes(name.start(), part.start()));
                }
                self.write(part, out);
                for json in self.inserted.get(&part.id()).into_iter().flatten() {
                    out.extend_from_slice([",", json].concat().as_bytes());
                }
                is_first = false;
            }
            end = part.end();
        }
        for (name, json) in self.added.get(&value.id()).into_iter().flatten() {
            let comma = if is_first { "" } else { "," };
            let name = if name.is_empty() { String::new() } else { string(name) + ":" };
            out.extend_from_slice([comma, &name, json].concat().as_bytes());
            is_first = false;
        }
        out.extend_from_slice(value.bytes(end, value.end()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    fn changed(row: &str, change: impl Fn(&mut Splices, Value)) -> String {
        let document = Document::parse(row.as_bytes()).unwrap();
        let mut splices = Splices::default();
        change(&mut splices, document.root());
        let written = splices.written(document.root());
        assert!(Document::parse(&written).is_some(), "{}", String::from_utf8_lossy(&written));
        String::from_utf8(written).unwrap()
    }

    #[test]
    fn only_replaced_parts_change() {
        let row = r#"{"a": 1 , "b":[2,3], "c":"x"}"#;
        let inner = |splices: &mut Splices, root: Value| {
            let list = root.get("b").unwrap();
            splices.replace(list.elements().nth(1).unwrap(), "33".into());
            splices.replace(root.get("a").unwrap(), "0".into());
            splices.replace(root.get("a").unwrap(), "\"\u{2028}\"".into());
            assert!(splices.touches(list) && !splices.touches(root.get("c").unwrap()));
            assert_eq!(splices.written(list), b"[2,33]");
        };
        assert_eq!(changed(row, inner), r#"{"a": "\u2028" , "b":[2,33], "c":"x"}"#);
        let outer = |splices: &mut Splices, root: Value| {
            inner(splices, root);
            splices.replace(root.get("b").unwrap(), "[]".into());
        };
        assert_eq!(changed(row, outer), r#"{"a": "\u2028" , "b":[], "c":"x"}"#);
    }

    #[test]
    fn parts_are_added_and_removed_with_their_commas() {
        for (row, removed, added, expected) in [
            ("[1, 2 ,3]", &[0][..], &[][..], "[2 ,3]"),
            ("[1, 2 ,3]", &[1], &[], "[1 ,3]"),
            ("[1, 2 ,3 ]", &[2], &[], "[1, 2 ]"),
            ("[1, 2 ,3]", &[0, 1], &["4"], "[3,4]"),
            ("[1, 2 ,3]", &[0, 2], &["4", "5"], "[2,4,5]"),
            ("[ 1, 2 ]", &[0, 1], &[], "[  ]"),
            ("[ 1 ]", &[0], &["2"], "[ 2 ]"),
            ("[ ]", &[], &["2"], "[ 2]"),
        ] {
            let left = changed(row, |splices, list| {
                removed.iter().for_each(|at| splices.remove(list.elements().nth(*at).unwrap()));
                added.iter().for_each(|json: &&str| splices.push(list, (*json).into()));
            });
            assert_eq!(left, expected);
        }
        let left = changed(r#"{"a":1,"b":2,"\u0061":3}"#, |splices, object| {
            splices.remove_named(object.get("a").unwrap());
            splices.set(object, "b", "4".into());
            splices.set(object, "c", "5".into());
        });
        assert_eq!(left, r#"{"b":4,"c":5}"#);
    }

    #[test]
    fn elements_are_inserted_after_others() {
        let left = changed("[1, [2] ]", |splices, list| {
            splices.insert_after(list.elements().next().unwrap(), "5".into());
            splices.insert_after(list.elements().nth(1).unwrap(), "6".into());
            splices.insert_after(list.elements().nth(1).unwrap(), "7".into());
        });
        assert_eq!(left, "[1,5, [2],6,7 ]");
    }

    #[test]
    fn copies_follow_their_originals() {
        let row = r#"{"a":"one","b":[1],"c":2,"copy":{"c":2,"b":[1],"a":"one","d":4}}"#;
        let left = changed(row, |splices, object| {
            splices.replace(object.get("a").unwrap(), "\"1\"".into());
            splices.remove(object.get("c").unwrap());
            splices.push(object.get("b").unwrap(), "2".into());
            splices.mirror(object, object.get("copy").unwrap());
        });
        assert_eq!(left, r#"{"a":"1","b":[1,2],"copy":{"b":[1,2],"a":"1","d":4}}"#);
    }
}
