//! The tool calls in the messages of a dialect.

use serde::Deserialize;

use super::path::Paths;
use crate::json::Value;

/// The location of tool calls in a dialect's messages.
#[derive(Debug)]
pub struct CallPaths {
    at: Paths,
    pub id: Paths,
    tool: Paths,
    args: Paths,
    /// The tool and the arguments. A call has one of them.
    given: Paths,
    /// The member with the id.
    pub id_name: String,
    /// An id pairs a call with its result.
    pub has_ids: bool,
    /// The form of a result that replaces a missing one, if it can hold a text. `lib/dialects.ts`
    /// documents templates.
    pub result: Option<Template>,
    /// Paths that a call without a result has, if both are one object.
    open: Option<Paths>,
}

/// A template of JSON.
pub type Template = serde_json::Value;

/// A tool call of the model.
#[derive(Debug)]
pub struct Call<'d> {
    pub id: Option<String>,
    pub tool: Option<String>,
    pub args: Vec<Value<'d>>,
}

impl CallPaths {
    pub(super) fn of(data: &CallData) -> Result<CallPaths, String> {
        let CallData { at, id, tool, args, result, open } = data;
        let asks = |template: &Template| template.to_string().contains("\"$id\"");
        Ok(CallPaths {
            at: Paths::of([at])?,
            id: Paths::of([id])?,
            tool: Paths::of([tool])?,
            args: Paths::of(args)?,
            given: Paths::of(args.iter().chain([tool]))?,
            id_name: id.clone(),
            has_ids: open.is_some() || result.as_ref().is_none_or(asks),
            result: result.clone(),
            open: open.as_ref().map(Paths::of).transpose()?,
        })
    }

    /// Reads the calls of this kind in a message.
    pub fn calls<'d>(&self, message: Value<'d>) -> impl Iterator<Item = Call<'d>> {
        let CallPaths { at, id, tool, args, .. } = self;
        let call =
            |call| Call { id: id.first_text(call), tool: tool.first_text(call), args: args.ends(call) };
        at.ends(message).into_iter().map(call)
    }

    /// Returns the objects in a message that are calls of this kind.
    pub fn objects<'d>(&self, message: Value<'d>) -> Vec<Value<'d>> {
        let is_call =
            |call: &Value| call.is_container() && (self.result.is_none() || self.given.leads(*call));
        self.at.ends(message).into_iter().filter(is_call).collect()
    }

    pub fn tool_of(&self, call: Value) -> Option<String> {
        self.tool.first_text(call)
    }

    /// Returns true if a call and its result are one object.
    pub fn holds_result(&self) -> bool {
        self.open.is_some()
    }

    /// Returns true if a call that holds its result lacks it.
    pub fn lacks_result(&self, call: Value) -> bool {
        self.open.as_ref().is_some_and(|open| open.leads(call))
    }
}

impl Call<'_> {
    /// Returns the name by which a result and its call know each other: the id or, without one, the
    /// tool.
    pub fn name(&self) -> Option<&str> {
        self.id.as_deref().or(self.tool.as_deref())
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallData {
    at: String,
    id: String,
    tool: String,
    args: Vec<String>,
    pub(super) result: Option<Template>,
    open: Option<Vec<String>>,
}
