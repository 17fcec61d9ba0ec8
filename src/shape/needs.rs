//! The room that parts of a document need to say what they tell.
//!
//! Fair shares halve from level to level, so that the log of an error deep in the data has no room
//! left beside the small talk above it. One pass from the leaves up tells which values tell more
//! than others, and the least bytes in which one of them says it. A container gives its parts that
//! much before it shares the rest.

use crate::json::{Document, Value};

use super::sizes::Sizes;

/// Bytes in which a string says what it tells.
pub const TELLING: u32 = 256;

/// The bytes by which each value exceeds its minimum to say what it tells, by id. 0: it tells
/// nothing, or says it in its minimum.
#[derive(Debug)]
pub struct RoomNeeds(Vec<u32>);

impl RoomNeeds {
    /// `tells`: returns true for a leaf that tells more than others.
    pub fn of(document: &Document, sizes: &Sizes, mut tells: impl FnMut(Value) -> bool) -> RoomNeeds {
        let mut more = vec![0; document.len()];
        for value in document.values() {
            if !value.is_container() && !value.is_name() && tells(value) {
                let size = sizes.at(value.id());
                more[value.id() as usize] = size.full.min(TELLING).saturating_sub(size.min);
            }
        }
        // The parts come after their container.
        for value in document.values().rev() {
            let own = more[value.id() as usize];
            let Some(parent) = value.parent().filter(|_| own > 0) else { continue };
            // A list may be left empty, so its minimum has none of its elements.
            let size = sizes.at(value.id());
            let with = if parent.is_list() { own + size.min + sizes.besides(value) } else { own };
            let ends = sizes.at(parent.id());
            let with = if parent.is_list() { with + ends.brief.saturating_sub(ends.min) } else { with };
            let all = &mut more[parent.id() as usize];
            *all = with.max(*all);
        }
        RoomNeeds(more)
    }

    pub fn at(&self, id: u32) -> u32 {
        self.0[id as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::policy::Policy;
    use crate::shape::shape;

    #[test]
    fn what_tells_stays_at_any_depth() {
        let quiet = format!("\"{}\"", "it went as before ".repeat(20));
        let log = format!("\"{}error: gone\\n{}\"", "all is well\\n".repeat(90), "all is well\\n".repeat(90));
        for depth in [1, 5, 20, 60] {
            for (start, end) in [
                (format!("{{\"note\":{quiet},\"child\":"), format!(",\"more\":[{quiet},{quiet},{quiet}]}}")),
                (format!("[{quiet},"), format!(",{quiet}]")),
            ] {
                let json = start.repeat(depth) + &log + &end.repeat(depth);
                let limits = Limits { bytes: 600 + 160 * depth, ..Limits::NONE };
                let made = shape(&json, &Policy { limits, ..Policy::default() }).unwrap();
                let made = String::from_utf8(made.json).unwrap();
                assert!(made.contains("error: gone"), "{depth} {start:.9} {made}");
            }
        }
    }

    #[test]
    fn a_part_needs_what_the_longest_of_its_parts_needs() {
        let json = format!(r#"{{"a":"{0}","b":["{0}","no"],"c":"short"}}"#, "yes".repeat(40));
        let document = Document::parse(json.as_bytes()).unwrap();
        let sizes = Sizes::new(&document, None);
        let needs = RoomNeeds::of(&document, &sizes, |leaf| leaf.source().len() > 100);
        let at = |name: &str| needs.at(document.root().get(name).unwrap().id());
        assert_eq!((at("a"), at("c")), (122 - 32, 0));
        assert!(needs.at(0) >= at("a") && at("b") >= 122, "{needs:?}");
    }
}
