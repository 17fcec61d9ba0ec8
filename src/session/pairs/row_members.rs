//! The members that all objects around a new one have: what a host gives each of its rows, it
//! expects in one that is put in.
//!
//! A template knows the members that its writer knew. A host may have added others since: a
//! version, a session, the time. Those that all rows of a file have are taken from the row of the
//! call, and an id that is another in each is made anew. A count of the rows has no way: each row
//! behind would have to change. Rows without a message are counted as well, so the numbers rise by
//! any step from one message to the next.

use std::collections::{HashMap, HashSet};

use super::template::{is_id, new_id};
use crate::hash::hash;
use crate::json::{Value, string};

#[derive(Debug, Default)]
pub struct RowMembers {
    members: Vec<SharedMember>,
    objects: u64,
    /// The hashed roles of the objects that have one.
    roles: HashSet<u64>,
    /// Members that are numbers in some rows of the file.
    numbers: HashMap<String, MemberNumbers>,
}

/// The numbers of one member.
#[derive(Debug)]
struct MemberNumbers {
    last: u64,
    /// Rows with such a number.
    rows: u64,
    /// Each number is higher than the one before.
    rise: bool,
    /// Each number is the next one, from 0 or 1 on.
    step: bool,
}

#[derive(Debug)]
struct SharedMember {
    name: String,
    texts: HashSet<u64>,
    /// Is another id in each object. A time is another text in each, and stays.
    is_id: bool,
}

/// Counts are below any time in seconds.
const MOST: u64 = 1_000_000_000;

/// Rows from which numbers that rise in any steps are believed to count them. Sizes may rise in
/// fewer.
const FEW: u64 = 4;

/// Rows from which numbers that rise by one, from the first one on, are believed to count them.
const FEWEST: u64 = 2;

impl RowMembers {
    /// Takes a row of the file, or a message of a document, for the numbers that count them.
    pub fn count(&mut self, object: Value) {
        for member in object.members() {
            let Some(number) = member.whole().filter(|number| *number < MOST) else { continue };
            let Some(name) = member.name().and_then(Value::string) else { continue };
            match self.numbers.get_mut(&name) {
                Some(numbers) => {
                    numbers.rise &= numbers.last < number;
                    numbers.step &= numbers.last + 1 == number;
                    (numbers.last, numbers.rows) = (number, numbers.rows + 1);
                }
                None => {
                    let numbers = MemberNumbers { last: number, rows: 1, rise: true, step: number <= 1 };
                    self.numbers.insert(name, numbers);
                }
            }
        }
    }

    /// Takes an object like those that may be put in.
    pub fn push(&mut self, object: Value) {
        if self.objects == 0 {
            let names = object.members().filter_map(|member| member.name()?.string());
            self.members =
                names.map(|name| SharedMember { name, texts: HashSet::new(), is_id: true }).collect();
        }
        self.objects += 1;
        self.roles.extend(object.get("role").and_then(Value::string).map(|role| hash(role.as_bytes())));
        self.members.retain_mut(|member| {
            let Some(value) = object.get(&member.name) else { return false };
            let text = value.string();
            member.is_id &=
                text.is_some_and(|text| is_id(&text) && member.texts.insert(hash(text.as_bytes())));
            if !member.is_id {
                member.texts = HashSet::new();
            }
            true
        });
    }

    /// Returns the members that a new object has beside its own, taken from `like`, or `None` if
    /// there is no way to make one.
    pub fn taken_from(
        &self,
        like: Value,
        own: &dyn Fn(&str) -> bool,
        salt: &str,
    ) -> Option<Vec<(String, String)>> {
        let all = self.members.iter().filter(|member| self.tells() && !own(&member.name));
        all.map(|member| {
            if self.is_count(member) {
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
        self.members.iter().any(|member| self.is_count(member) && !own(&member.name))
    }

    /// Returns true if there are members of all: one object does not tell them from its own, nor
    /// do objects of one role, such as turns of the model that all have calls.
    fn tells(&self) -> bool {
        self.objects > 1 && self.roles.len() != 1
    }

    fn is_count(&self, member: &SharedMember) -> bool {
        self.numbers.get(&member.name).is_some_and(|MemberNumbers { rows, rise, step, .. }| {
            *step && *rows >= FEWEST || *rise && *rows >= FEW && self.tells()
        })
    }
}
