//! Names for calls whose ids the provider rejects.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::pairing::Pairing;
use super::records::{Answer, Call};

/// The ids of calls and of results that change, by their indexes.
#[derive(Debug, Default)]
pub struct Renames {
    pub calls: HashMap<usize, Rc<str>>,
    pub answers: HashMap<usize, Rc<str>>,
    pub count: u64,
}

impl Renames {
    /// Renames calls whose ids are invalid or those of earlier calls, and their results with them.
    pub fn of(pairing: &Pairing) -> Renames {
        let rules = pairing.rules;
        let mut renames = Renames::default();
        let mut taken: HashSet<Rc<str>> = HashSet::new();
        let mut doubles: HashMap<Rc<str>, u32> = HashMap::new();
        let mut turn = usize::MAX;
        for (at, call) in pairing.calls.iter().enumerate() {
            if !rules.unique && turn != pairing.turn_of[call.at] {
                taken.clear();
            }
            turn = pairing.turn_of[call.at];
            let Call { id, tool, .. } = call;
            if if call.has_ids {
                rules.named && id.is_none()
            } else {
                id.as_ref().is_none_or(|id| id.is_empty())
            } {
                continue;
            }
            let own = id.clone().filter(|id| !id.is_empty());
            let good = own.clone().filter(|id| !taken.contains(id) && rules.takes(id));
            let to = good.unwrap_or_else(|| {
                let from = own.or(tool.clone()).unwrap_or_default();
                let number = doubles.entry(from.clone()).or_default();
                let mut names = (*number..).map(|number| (number, Rc::<str>::from(name_for(&from, number))));
                let (last, to) = names.find(|(_, to)| !taken.contains(to)).expect("numbers do not end");
                *number = last + 1;
                renames.calls.insert(at, to.clone());
                to
            });
            taken.insert(to.clone());
            let lacks =
                |answer: &Answer| answer.id.as_ref() != Some(&to) && !(rules.named && answer.id.is_none());
            let other = call.answer.filter(|answer| lacks(&pairing.answers[*answer]));
            if let Some(answer) = other {
                renames.answers.insert(answer, to.clone());
            }
            renames.count += u64::from(id.as_ref() != Some(&to) || other.is_some());
        }
        renames
    }
}

/// The length of the longest id that every provider accepts.
const LONGEST: usize = 40;
const DIGITS: usize = 8;

/// Returns an id that every provider accepts. Equal ids and numbers give equal results.
fn name_for(id: &str, number: u32) -> String {
    let is_plain = |unit: u16| {
        u8::try_from(unit).ok().filter(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte))
    };
    let start =
        id.encode_utf16().take(LONGEST - DIGITS - 1).map(|unit| is_plain(unit).map_or('_', char::from));
    // FNV-1a.
    let hash = format!("{id} {number}")
        .encode_utf16()
        .fold(0x811c_9dc5_u32, |hash, unit| (hash ^ u32::from(unit)).wrapping_mul(0x0100_0193));
    format!("{}_{hash:08x}", start.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_live_histories() {
        assert_eq!(name_for("a", 0), "a_5ea474bc");
        assert_eq!(name_for("a|b", 0), "a_b_14533176");
    }
}
