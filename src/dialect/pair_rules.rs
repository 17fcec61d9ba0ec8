//! The rules of a provider for calls and their results: `pairs` in `src/dialects.json`, which
//! `lib/dialects.ts` documents and `lib/pairs/rules.ts` reads for live histories.

use std::ops::Range;

use regex::Regex;
use serde::Deserialize;

use super::call_paths::{CallPaths, Template};
use super::path::Paths;
use super::table::Table;
use crate::json::Value;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PairsData {
    home: Option<Template>,
    turns: Option<String>,
    anywhere: bool,
    named: bool,
    names: bool,
    ids: Option<String>,
    unique: bool,
    words: Vec<Template>,
    before: Vec<String>,
    void: Vec<String>,
    waiting: Vec<String>,
}

#[derive(Debug)]
pub struct PairRules {
    pub name: String,
    /// The kinds of its calls, as indexes into those of the table.
    pub kinds: Range<usize>,
    /// A call and its result are one object.
    pub are_one: bool,
    /// The message for results that are blocks.
    pub home: Option<Template>,
    /// The role of that message, and the member that lists its blocks.
    pub role: Option<String>,
    pub list: String,
    /// Messages of one role, side by side, are one turn, in which results come first.
    pub has_turns: bool,
    /// They must be one message.
    pub alternates: bool,
    /// A result may stand anywhere after its call.
    pub anywhere: bool,
    /// The name of the tool suffices, without ids.
    pub named: bool,
    /// A result carries the name of the tool.
    pub names: bool,
    /// An id occurs in one turn alone.
    pub unique: bool,
    ids: Option<Regex>,
    pub words: Vec<Template>,
    pub before: Paths,
    void: Paths,
    pub waiting: Paths,
    /// Types of the results of its calls.
    types: Vec<String>,
    /// The member in which a class keeps a second copy of its members.
    pub copy: Option<String>,
}

impl PairRules {
    pub(super) fn of(
        name: &str,
        data: &PairsData,
        kinds: Range<usize>,
        calls: &[CallPaths],
        copy: Option<&String>,
    ) -> Result<PairRules, String> {
        let member = |name: &str| data.home.as_ref().and_then(|home| home.get(name)?.as_str());
        let lists = |(_, value): &(&String, &Template)| value.as_str() == Some("$blocks");
        let list = data.home.as_ref().and_then(Template::as_object).and_then(|home| home.iter().find(lists));
        let turns = data.turns.as_deref();
        let ids = data.ids.as_ref().map(|ids| Regex::new(&ids.replace("[^]", "(?s:.)"))).transpose();
        let own = &calls[kinds.clone()];
        let types = own.iter().filter_map(|kind| kind.result.as_ref()?.get("type")?.as_str());
        Ok(PairRules {
            name: name.to_owned(),
            are_one: own.iter().any(CallPaths::holds_result),
            role: member("role").map(str::to_owned),
            list: list.map_or(String::new(), |(name, _)| name.clone()),
            home: data.home.clone(),
            has_turns: turns.is_some(),
            alternates: turns == Some("alternate"),
            anywhere: data.anywhere,
            named: data.named,
            names: data.names,
            unique: data.unique,
            ids: ids.map_err(|error| error.to_string())?,
            words: data.words.clone(),
            before: Paths::of(&data.before)?,
            void: Paths::of(&data.void)?,
            waiting: Paths::of(&data.waiting)?,
            types: types.map(str::to_owned).collect(),
            copy: copy.cloned(),
            kinds,
        })
    }

    /// Returns true if a message has a role or the type of a result. A block of words has neither.
    pub fn is_message(&self, message: Value) -> bool {
        let is_result = |tag: Value| self.types.iter().any(|own| tag.is(own));
        message.get("role").is_some() || message.get("type").is_some_and(is_result)
    }

    /// Returns true if the provider accepts an id. An expression of JavaScript counts UTF-16 units.
    pub fn takes(&self, id: &str) -> bool {
        let unit = |unit: u16| char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER);
        self.ids.as_ref().is_none_or(|ids| {
            ids.is_match(id)
                && (id.is_ascii() || ids.is_match(&id.encode_utf16().map(unit).collect::<String>()))
        })
    }

    /// Returns the calls in a message in order, each of the first kind that it has. A turn that is
    /// never sent has none.
    pub fn calls<'d>(&self, message: Value<'d>) -> Vec<(&'static CallPaths, Value<'d>)> {
        if self.void.leads(message) {
            return vec![];
        }
        let kinds = &Table::get().call_paths()[self.kinds.clone()];
        let mut calls: Vec<(&CallPaths, Value)> = vec![];
        for kind in kinds {
            calls.extend(kind.objects(message).into_iter().map(|call| (kind, call)));
        }
        // The sort keeps the order of the kinds.
        calls.sort_by_key(|(_, call)| call.id());
        calls.dedup_by_key(|(_, call)| call.id());
        calls
    }

    /// Returns true if a message has a call, and if the provider pairs it by its id.
    pub fn has_call(&self, message: Value) -> (bool, bool) {
        let kinds = &Table::get().call_paths()[self.kinds.clone()];
        let calls =
            || kinds.iter().flat_map(|kind| kind.objects(message).into_iter().map(move |call| (kind, call)));
        let is_sure = |(kind, call): (&CallPaths, Value)| !kind.has_ids || kind.id.leads(call);
        (calls().next().is_some(), calls().any(is_sure))
    }
}
