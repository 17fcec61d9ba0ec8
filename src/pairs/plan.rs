//! An arrangement as changes of the messages that stay.

use std::collections::{HashMap, HashSet};

use super::arrangement::{Block, Piece};

/// Pieces by the message after which they stand, for the messages that stay.
#[derive(Debug, Default)]
pub struct Plan {
    /// The messages that get another list.
    pub lists: HashMap<usize, Vec<Block>>,
    pub gone: HashSet<usize>,
    pub after: HashMap<usize, Vec<Piece>>,
}

impl Plan {
    pub fn of(pieces: Vec<Piece>, count: usize) -> Plan {
        let mut plan = Plan { gone: (0..count).collect(), ..Plan::default() };
        let mut anchor = None;
        for piece in pieces {
            match piece {
                Piece::Kept(at) => {
                    plan.gone.remove(&at);
                    anchor = Some(at);
                }
                Piece::Listed(at, list) => {
                    plan.gone.remove(&at);
                    plan.lists.insert(at, list);
                    anchor = Some(at);
                }
                // A result stands after its call, so there is a message before it.
                piece => plan.after.entry(anchor.unwrap_or(0)).or_default().push(piece),
            }
        }
        plan
    }
}
