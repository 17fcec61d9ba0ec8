//! Objects, reduced to the members that paths can lead through.

use super::names::{Name, Names};
use crate::json::members::{Member, members};
use crate::json::scan::Span;
use crate::json::{Kind, Literal};

/// An object with its known members. Arrays have no members.
#[derive(Clone, Debug)]
pub struct Object {
    pub span: Span,
    /// The last of several members with one name counts.
    members: Vec<(Name, Member)>,
}

impl Object {
    #[inline(never)]
    pub fn read(row: &[u8], span: Span, names: &Names) -> Object {
        let mut known: Vec<(Name, Member)> = vec![];
        for member in members(row, span) {
            let Some(name) = find(row, member.key, names) else { continue };
            match known.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = member,
                None => known.push((name, member)),
            }
        }
        Object { span, members: known }
    }

    #[inline(never)]
    pub fn get(&self, name: Name) -> Option<Member> {
        self.members.iter().find(|(known, _)| *known == name).map(|(_, member)| *member)
    }
}

fn find(row: &[u8], key: Span, names: &Names) -> Option<Name> {
    let literal = Literal::of(key.of(row));
    match literal.as_plain() {
        Some(name) => names.find(name),
        None => names.find(literal.string().as_bytes()),
    }
}

/// Returns the text of a value, or `None` if it is not a string.
pub fn text_at(row: &[u8], value: Span) -> Option<Literal<'_>> {
    (Kind::of(value.of(row)) == Kind::String).then(|| Literal::of(value.of(row)))
}
