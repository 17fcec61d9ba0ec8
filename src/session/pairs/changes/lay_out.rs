//! The new arrangement of a history as changes: what goes, what comes after a message, and which
//! list is new.

use std::collections::{HashMap, HashSet};

use super::{MessageChange, RowChanges};
use crate::json::Document;
use crate::pairs::arrangement::{Block, Piece};
use crate::pairs::pairing::Pairing;
use crate::pairs::plan::Plan;
use crate::session::failure::Failure;
use crate::session::pairs::pieces::{Maker, Need, Pieces};
use crate::session::pairs::reading::{Reading, RowId, each_entry};
use crate::session::pairs::template::new_id;
use crate::session::progress::Progress;
use crate::session::row_format::RowEntry;
use crate::session::session_file::SessionFile;

impl RowChanges {
    /// Reads the session once more for what moves, and makes what is new.
    pub(super) fn gathered(
        &self,
        plan: &Plan,
        pairing: &Pairing,
        maker: &Maker,
        session: &SessionFile,
        mends: bool,
        progress: &Progress,
    ) -> Result<Pieces, Failure> {
        let mut pieces = Pieces::of(plan, pairing);
        if pieces.is_empty() {
            return Ok(pieces);
        }
        let mut next = 0;
        each_entry(session, mends, progress, &mut |row, entry| {
            let from = next;
            while pairing.messages.get(next).is_some_and(|message| message.row == row.number) {
                next += 1;
            }
            if !(from..next).any(|at| pieces.needs(at)) {
                return;
            }
            let mut read = |entry: &RowEntry| {
                for at in from..next {
                    let message = entry.messages.get(pairing.messages[at].nth as usize);
                    message.into_iter().for_each(|message| pieces.read(maker, pairing, at, entry, *message));
                }
            };
            match self.with_words(row, entry) {
                Some(named) => {
                    let document = Document::parse(&named);
                    document.iter().for_each(|document| read(&entry.again(document.root())));
                }
                None => read(entry),
            }
        })?;
        Ok(pieces)
    }

    pub(super) fn lay_out(&mut self, plan: Plan, pairing: &Pairing, pieces: &Pieces, ids: &[RowId]) {
        let place = |at: usize| (pairing.messages[at].row, pairing.messages[at].nth);
        for (at, list) in plan.lists {
            let own = |block| match block {
                Block::Own(of, index) if of == at => Some(Ok(index)),
                block => Some(Err(pieces.block(&block)?)),
            };
            self.message(place(at)).list = Some(list.into_iter().filter_map(own).collect());
        }
        let moved = plan.after.values().flatten().filter_map(|piece| match piece {
            Piece::Moved(at) => Some(*at),
            _ => None,
        });
        let moved: HashSet<usize> = moved.collect();
        for at in plan.gone {
            self.message(place(at)).is_gone = true;
            if let Some(RowId { id, before, .. }) = ids.get(at) {
                self.skipped.insert(id.to_string(), before.as_ref().map(|id| id.to_string()));
                if moved.contains(&at) {
                    self.moved.insert(id.to_string());
                }
            }
        }
        self.settle_skipped();
        for (anchor, after) in plan.after {
            let own = ids.get(anchor).map(|row| row.id.to_string());
            let mut last = own.clone();
            for (piece, nth) in after.into_iter().zip(0..) {
                let (need, blocks) = match piece {
                    Piece::Home(blocks, call) => (Need::Home(call), blocks),
                    Piece::New(call) => (Need::New(call), vec![]),
                    Piece::Moved(at) => (Need::Moved(at), vec![]),
                    Piece::Words(nth) => (Need::Block(Block::Words(nth)), vec![]),
                    Piece::Kept(_) | Piece::Listed(..) => continue,
                };
                let blocks: Vec<String> = blocks.iter().filter_map(|block| pieces.block(block)).collect();
                let Some(filled) = pieces.get(&need).map(|filled| filled.with_blocks(&blocks)) else {
                    continue;
                };
                let new = match need {
                    Need::Moved(at) => ids.get(at).map(|row| row.id.to_string()),
                    _ => own.as_ref().map(|own| new_id(own, &format!("{anchor} {nth}"))),
                };
                let json = filled.with_ids(last.as_deref(), new.as_deref().unwrap_or_default());
                self.message(place(anchor)).after.push(json);
                last = new;
            }
            if let (Some(own), Some(last)) = (own, last) {
                self.followed.insert(own, (pairing.messages[anchor].row, last));
            }
        }
    }

    /// Removes the copies of rows that change, which would come back as these.
    pub(super) fn drop_copies(&mut self, pairing: &Pairing, Reading { ids, others, .. }: &Reading) {
        let mut changed: HashMap<&str, u64> = HashMap::new();
        for (message, own) in pairing.messages.iter().zip(ids) {
            let change = self.messages.get(&(message.row, message.nth));
            if change.is_some_and(MessageChange::is_of_its_own) {
                changed.insert(&own.id, own.hash);
            }
        }
        let is_copy = |own: &RowId| changed.get(&*own.id) == Some(&own.hash);
        let copies: Vec<u64> = others.iter().filter(|(own, _)| is_copy(own)).map(|(_, row)| *row).collect();
        copies.into_iter().for_each(|row| self.message((row, 0)).is_gone = true);
    }

    /// Makes each row that goes lead to the last one before it that stays.
    fn settle_skipped(&mut self) {
        let mut settled: HashMap<String, Option<String>> = HashMap::new();
        for start in self.skipped.keys() {
            let (mut way, mut on_way, mut at) = (vec![], HashSet::new(), Some(start));
            while let Some(id) = at
                && !settled.contains_key(id)
                && self.skipped.contains_key(id)
                && on_way.insert(id)
            {
                way.push(id);
                at = self.skipped[id].as_ref();
            }
            // Rows that name each other in a circle follow none.
            let end = at.filter(|id| !on_way.contains(id));
            let end = end.and_then(|id| settled.get(id).cloned().unwrap_or(Some(id.clone())));
            settled.extend(way.into_iter().map(|id| (id.clone(), end.clone())));
        }
        self.skipped = settled;
    }
}

#[cfg(test)]
mod tests {
    use crate::session::pairs::changes::tests::paired;

    #[test]
    fn rows_that_go_and_name_each_other_in_a_circle_end() {
        let row = |id: &str, before: &str, call: &str| {
            let result = format!(r#"{{"type":"tool_result","tool_use_id":"{call}","content":"x"}}"#);
            format!(
                r#"{{"parentUuid":"{before}","type":"user","message":{{"role":"user","content":[{result}]}},"uuid":"{id}"}}"#
            )
        };
        let [one, two] = [row("a", "b", "gone1"), row("b", "a", "gone2")];
        let words = r#"{"parentUuid":"b","type":"user","message":{"role":"user","content":"x"},"uuid":"c"}"#;
        let (left, _, _) = paired(&[&one, &two, words]);
        assert_eq!(left, [words.replace("\"b\"", "null")]);
    }
}
