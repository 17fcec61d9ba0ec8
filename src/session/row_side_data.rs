//! The side data of the results in a row, which no model reads.

use super::rewrite_row::{RowOptions, SideData};
use super::splice::Splices;
use crate::dialect::ToolResult;
use crate::json::{Value, string, without_controls};
use crate::policy::JsonForm;
use crate::slots::caller::Caller;
use crate::slots::clamp_slots::clamp_json;
use crate::slots::side_data;
use crate::slots::slot_json::cap_shape;

impl RowOptions {
    /// Caps or drops the side data of a result. Returns true if any was.
    pub fn cap_side_data(&self, splices: &mut Splices, result: &ToolResult) -> bool {
        let mut cut = false;
        for member in result.side_data() {
            cut |= self.cap(splices, member, false);
            let is_structured = member.is_named("structuredContent");
            if self.side == SideData::Drop && is_structured && result.slots.is_empty() {
                self.say_in_text(splices, result, member);
            }
        }
        cut
    }

    /// Returns the rest of a member with side data (None if it is dropped), if that is less.
    pub fn capped(&self, member: Value) -> Option<Option<String>> {
        match self.side {
            SideData::Keep => None,
            SideData::Cap { max, spare } => {
                let most = max.saturating_add(spare);
                let policy = &self.rules.policy;
                if policy.json == JsonForm::Shape && member.is_named("structuredContent") {
                    return cap_shape(member, max, most, policy);
                }
                side_data::cap(member, max, most)
            }
            SideData::Drop => Some(None),
        }
    }

    pub fn cap(&self, splices: &mut Splices, member: Value, is_shown: bool) -> bool {
        let capped = self.capped(member);
        match &capped {
            None => {}
            Some(Some(json)) => splices.replace(member, json.clone()),
            // A row that only shows a result keeps its members, which its reader may require.
            Some(None) if member.text().is_some() && is_shown => splices.replace(member, string("")),
            Some(None) => splices.remove_named(member),
        }
        capped.is_some()
    }

    /// Puts dropped structured content of an MCP result into a text block, since it has no other
    /// text.
    fn say_in_text(&self, splices: &mut Splices, result: &ToolResult, content: Value) {
        let json = without_controls(content.compact());
        let whole = json.clone().into();
        let text = clamp_json(&whole, &self.rules, Caller::default()).string(&whole).unwrap_or(json);
        let block = format!("{{\"type\":\"text\",\"text\":{}}}", string(&text));
        match result.object.get("content").filter(|content| content.is_list()) {
            Some(content) => splices.push(content, block),
            None => splices.set(result.object, "content", format!("[{block}]")),
        }
    }
}
