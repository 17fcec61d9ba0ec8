//! The members that all objects around a new one have: what a host gives each of its rows, it
//! expects in one that is put in.
//!
//! A template knows the members that its writer knew. A host may have added others since: a
//! version, a session, the time. Those that all rows of a file have are taken from the row of the
//! call, and an id that is another in each is made anew. A count of the rows has no way: each row
//! behind would have to change.

use std::collections::HashSet;

use super::template::{is_id, new_id};
use crate::hash::hash;
use crate::json::{Value, string};

#[derive(Debug, Default)]
pub struct Around {
    members: Vec<Member>,
    objects: u64,
}

#[derive(Debug)]
struct Member {
    name: String,
    texts: HashSet<u64>,
    /// Is another id in each object. A time is another text in each, and stays.
    is_id: bool,
    /// The number in the last object, and true if it counted them so far.
    counted: Option<u64>,
}

/// Counts are below any time in seconds.
const MOST: u64 = 1_000_000_000;

impl Around {
    pub fn push(&mut self, object: Value) {
        if self.objects == 0 {
            let names = object.members().filter_map(|member| member.name()?.string());
            self.members = names
                .map(|name| Member { name, texts: HashSet::new(), is_id: true, counted: None })
                .collect();
        }
        let is_first = self.objects == 0;
        self.objects += 1;
        self.members.retain_mut(|member| {
            let Some(value) = object.get(&member.name) else { return false };
            let text = value.string();
            member.is_id &=
                text.is_some_and(|text| is_id(&text) && member.texts.insert(hash(text.as_bytes())));
            if !member.is_id {
                member.texts = HashSet::new();
            }
            let number = value.whole().filter(|number| *number < MOST);
            let counts = |number: &u64| is_first || member.counted.is_some_and(|last| last + 1 == *number);
            member.counted = number.filter(counts);
            true
        });
    }

    /// Returns the members that a new object has beside its own, taken from `like`, or `None` if
    /// there is no way to make one.
    pub fn of(&self, like: Value, own: &dyn Fn(&str) -> bool, salt: &str) -> Option<Vec<(String, String)>> {
        // One object does not tell its own members from those of all.
        let all = self.members.iter().filter(|member| self.objects > 1 && !own(&member.name));
        all.map(|member| {
            if member.counted.is_some() {
                return None;
            }
            let value = like.get(&member.name)?;
            let json = match value.string().filter(|_| member.is_id) {
                Some(id) => string(&new_id(&id, salt)),
                None => value.compact(),
            };
            Some((member.name.clone(), json))
        })
        .collect()
    }

    /// Returns true if a member counts the objects.
    pub fn counts(&self, own: &dyn Fn(&str) -> bool) -> bool {
        self.objects > 1 && self.members.iter().any(|member| member.counted.is_some() && !own(&member.name))
    }
}
