//! Reads a JSON schema for the parts that a smaller value must keep to validate as the larger value
//! did.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use crate::json::Value;

/// Schemas that a value meets together, by their positions in the schema's document, in order.
pub type Set = Vec<u32>;

/// A JSON schema of any draft from 4 on, read in a bounded number of steps.
#[derive(Debug)]
pub struct Schema<'s> {
    root: Value<'s>,
    /// True if a part has an `$id`, which changes the targets of references.
    has_ids: bool,
    steps: Cell<usize>,
    most: usize,
    /// Cached answers of `refuses` by the positions of schema and value, with the depth of each
    /// answer. Without them, a part that many references reach would be read once for each path to
    /// it.
    known: RefCell<HashMap<(u32, u32), (bool, usize)>>,
    /// False if an answer since it was set may differ at a larger depth.
    is_cut_off: Cell<bool>,
    /// The targets of references, by the positions of the references.
    targets: RefCell<HashMap<u32, Option<u32>>>,
}

/// Steps that reading a schema may take, and those for each value of the document that it
/// describes.
const STEPS: usize = 1 << 16;
const STEPS_EACH: usize = 64;
/// Bytes of a scalar that count as one step.
const STEP: usize = 64;
/// Most answers to cache. Later values rarely ask about earlier ones.
const REMEMBERED: usize = 1 << 16;

/// Keywords that can change their answer when a value shrinks.
const OPAQUE: [&str; 7] = ["not", "if", "const", "enum", "$dynamicRef", "$recursiveRef", "maxContains"];
/// Maximum depth at which alternatives are distinguished.
const DEPTH: usize = 32;

impl<'s> Schema<'s> {
    /// Returns the schema of a document with a number of values.
    pub fn new(root: Value<'s>, values: usize) -> Self {
        let mut inner = (root.id() + 1..root.next_id()).map(|id| root.at(id));
        let has_ids = inner.any(|value| value.is_named("$id") && value.parent() != Some(root));
        Schema {
            root,
            has_ids,
            steps: Cell::new(0),
            most: Self::most(values),
            known: RefCell::default(),
            is_cut_off: Cell::new(false),
            targets: RefCell::default(),
        }
    }

    /// Returns the steps that a schema may take for a document with a number of values.
    pub fn most(values: usize) -> usize {
        STEPS.saturating_add(STEPS_EACH.saturating_mul(values))
    }

    #[cfg(test)]
    pub fn steps(&self) -> usize {
        self.steps.get()
    }

    /// Counts steps. Returns false if there were too many; then no earlier answer is reliable.
    pub fn spend(&self, steps: usize) -> bool {
        if !self.is_spent() {
            self.steps.set(self.steps.get().saturating_add(steps));
        }
        !self.is_spent()
    }

    pub fn is_spent(&self) -> bool {
        self.steps.get() > self.most
    }

    pub fn root(&self) -> Value<'s> {
        self.root
    }

    /// Returns the schema at a position.
    pub fn at(&self, id: u32) -> Value<'s> {
        self.root.at(id)
    }

    /// Returns the schemas that apply to a value beside those of a set, and whether they depend on
    /// the value. Returns `None` if only the unchanged value is certain to validate.
    pub fn expanded(&self, set: &[u32], value: Value) -> Option<(Set, bool)> {
        let (mut found, mut left, mut depends) = (vec![], set.to_vec(), false);
        while let Some(id) = left.pop() {
            let schema = self.at(id);
            if found.contains(&id) || !schema.is_object() {
                continue;
            }
            found.push(id);
            if !self.spend(1 + schema.members().count() + found.len() / STEP) {
                return None;
            }
            if OPAQUE.iter().any(|name| schema.get(name).is_some()) {
                return None;
            }
            if let Some(name) = schema.get("$ref") {
                left.push(self.resolved(name)?.id());
            }
            left.extend(schema.get("allOf").iter().flat_map(|all| all.elements()).map(|part| part.id()));
            for name in ["dependentSchemas", "dependencies"] {
                let parts = schema.get(name);
                left.extend(parts.iter().flat_map(|parts| parts.members()).map(|part| part.id()));
            }
            for name in ["anyOf", "oneOf"] {
                let Some(parts) = schema.get(name) else { continue };
                depends = true;
                let open: Set = parts
                    .elements()
                    .filter(|part| !self.refuses(*part, value, DEPTH))
                    .map(|part| part.id())
                    .collect();
                // A smaller value could validate against two alternatives.
                if name == "oneOf" && open.len() > 1 {
                    return None;
                }
                left.extend(open);
            }
        }
        found.sort_unstable();
        Some((found, depends))
    }

    /// Returns true if neither a value nor any smaller form of it validates against a schema.
    fn refuses(&self, schema: Value<'s>, value: Value, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            self.is_cut_off.set(true);
            return false;
        };
        if !schema.is_object() {
            return schema.source() == b"false";
        }
        let scalar = if value.is_container() { 0 } else { value.source().len() / STEP };
        if !self.spend(1 + schema.members().count() + scalar) {
            return false;
        }
        let is_other =
            |part: Value| self.spend(1 + part.source().len() / STEP + scalar) && !could_be(part, value);
        let refuses = |part: Value<'s>| self.refuses(part, value, depth);
        let list = |name: &str| schema.get(name).filter(|list| list.is_list());
        schema.get("type").is_some_and(|kind| self.spend(kind.elements().count()) && !is_of(kind, value))
            || schema.get("const").is_some_and(is_other)
            || list("enum").is_some_and(|all| all.elements().all(is_other))
            || schema
                .get("$ref")
                .and_then(|name| self.resolved(name))
                .is_some_and(|part| self.refuses_once(part, value, depth))
            || list("allOf").is_some_and(|all| all.elements().any(refuses))
            || list("anyOf").is_some_and(|all| all.elements().all(refuses))
            || list("oneOf").is_some_and(|all| all.elements().all(refuses))
            || value.is_object() && self.lacks(schema, value, depth)
    }

    /// Like `refuses`, but caches the answer, because several references may reach the schema.
    fn refuses_once(&self, schema: Value<'s>, value: Value, depth: usize) -> bool {
        let key = (schema.id(), value.id());
        let known = self.known.borrow().get(&key).copied().filter(|(_, read)| *read >= depth);
        let before = self.is_cut_off.replace(false);
        let (refused, read) = known.unwrap_or_else(|| {
            let refused = self.refuses(schema, value, depth);
            (refused, if self.is_cut_off.get() { depth } else { usize::MAX })
        });
        self.is_cut_off.set(before || read != usize::MAX);
        if known.is_none() {
            let mut known = self.known.borrow_mut();
            if known.len() >= REMEMBERED {
                known.clear();
            }
            known.insert(key, (refused, read));
        }
        refused
    }

    /// Returns true if an object lacks a required member, or has a member that its schema rejects.
    fn lacks(&self, schema: Value<'s>, object: Value, depth: usize) -> bool {
        let Some(required) = schema.get("required") else { return false };
        let properties = schema.get("properties");
        let each = object.members().count() + properties.map_or(0, |all| all.members().count());
        required.elements().filter_map(|name| name.text()).any(|name| {
            if !self.spend(1 + each) {
                return false;
            }
            let name = name.string();
            let Some(member) = object.get(&name) else { return true };
            let own = properties.and_then(|all| all.get(&name));
            own.is_some_and(|own| self.refuses_once(own, member, depth))
        })
    }

    /// Returns the schema to which a reference within the document leads.
    fn resolved(&self, name: Value) -> Option<Value<'s>> {
        let known = self.targets.borrow().get(&name.id()).copied();
        let target = known.unwrap_or_else(|| {
            let found = self.found(name).map(Value::id);
            self.targets.borrow_mut().insert(name.id(), found);
            found
        });
        target.map(|id| self.at(id))
    }

    fn found(&self, name: Value) -> Option<Value<'s>> {
        let name = name.string().filter(|_| !self.has_ids)?;
        let mut at = self.root;
        let path = name.strip_prefix('#').filter(|path| path.is_empty() || path.starts_with('/'))?;
        for step in path.split('/').skip(1) {
            let step = percent_decoded(step)?.replace("~1", "/").replace("~0", "~");
            if !self.spend(1 + at.elements().count() + at.members().count()) {
                return None;
            }
            at = if at.is_list() { at.elements().nth(step.parse().ok()?)? } else { at.get(&step)? };
        }
        Some(at)
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).ok()
}

/// Returns true if a value has the type, or one of the types, that a schema names.
fn is_of(kind: Value, value: Value) -> bool {
    let is = |kind: Value| match value.source()[0] {
        b'{' => kind.is("object"),
        b'[' => kind.is("array"),
        b'"' => kind.is("string"),
        b't' | b'f' => kind.is("boolean"),
        b'n' => kind.is("null"),
        _ => kind.is("number") || kind.is("integer") && value.number().is_none_or(|n| n.fract() == 0.0),
    };
    if kind.is_list() { kind.elements().any(is) } else { is(kind) }
}

/// Returns true if a value, or a smaller form of it, may equal a constant.
fn could_be(constant: Value, value: Value) -> bool {
    match (constant.source()[0], value.source()[0]) {
        (a @ (b'{' | b'['), b) => a == b,
        (b'"', b'"') => {
            value.source().len() > super::sizes::LEAST as usize || constant.string() == value.string()
        }
        (b'-' | b'0'..=b'9', b'-' | b'0'..=b'9') => constant.number() == value.number(),
        _ => constant.source() == value.source(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    fn expanded(schema: &str, value: &str) -> Option<Vec<String>> {
        let (schema, value) = (schema.as_bytes(), value.as_bytes());
        let (document, value) = (Document::parse(schema).unwrap(), Document::parse(value).unwrap());
        let schema = Schema::new(document.root(), 1);
        let (set, _) = schema.expanded(&[0], value.root())?;
        let text = |id: &u32| String::from_utf8(schema.at(*id).source().to_vec()).unwrap();
        // Without the root.
        Some(set[1..].iter().map(text).collect())
    }

    #[test]
    fn references_lead_within_the_document() {
        let part = r##"{"$defs":{"a b/c":{"minItems":1}},"$ref":"#/$defs/a%20b~1c"}"##;
        assert_eq!(expanded(part, "[]").unwrap(), [r#"{"minItems":1}"#]);
        assert_eq!(expanded(r##"{"$ref":"#"}"##, "[]").unwrap(), [""; 0]);
        for name in ["other.json", "#anchor", "#/nowhere", "#/%zz", ""] {
            assert_eq!(expanded(&format!(r#"{{"$ref":"{name}"}}"#), "[]"), None, "{name}");
        }
        assert_eq!(expanded(r##"{"a":{"$id":"b"},"$ref":"#/a"}"##, "[]"), None);
    }

    #[test]
    fn alternatives_are_told_apart() {
        let schema = r##"{"oneOf":[{"type":"string"},{"type":["array","null"]},
            {"type":"object","required":["k"],"properties":{"k":{"const":"a"}}},{"type":"object","required":["k"],"properties":{"k":{"enum":["b",1]}}}]}"##;
        for (value, at) in [
            (r#""x""#, Some(1)),
            ("[]", Some(1)),
            ("null", Some(1)),
            (r#"{"k":"a"}"#, Some(1)),
            (r#"{"k":1.0}"#, Some(1)),
            (r#"{"k":"c"}"#, Some(0)),
            ("{}", Some(0)),
            // A shortened string could match either alternative.
            (r#"{"k":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}"#, None),
        ] {
            assert_eq!(expanded(schema, value).map(|set| set.len()), at, "{value}");
        }
        assert_eq!(expanded(r#"{"anyOf":[{"minItems":1},{"maxItems":9},false]}"#, "[]").unwrap().len(), 2);
        assert_eq!(expanded(r#"{"allOf":[{"not":{"maxItems":2}}]}"#, "[]"), None);
    }

    #[test]
    fn alternatives_that_lead_to_each_other_are_read_once() {
        // There are 40 to the power of 10 paths through them.
        let part = r##"{"required":["a"],"properties":{"a":{"$ref":"#/$defs/n"}}}"##;
        let schema =
            format!(r##"{{"$defs":{{"n":{{"anyOf":[{}]}}}},"$ref":"#/$defs/n"}}"##, [part; 40].join(","));
        let value = r#"{"a":"#.repeat(5) + "{}" + &"}".repeat(5);
        assert_eq!(expanded(&schema, &value).unwrap().len(), 1);
        let value = r#"{"a":"#.repeat(40) + "{}" + &"}".repeat(40);
        assert_eq!(expanded(&schema, &value).unwrap().len(), 41);
    }
}
