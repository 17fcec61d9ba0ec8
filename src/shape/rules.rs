//! The rules of a schema for each value of a document.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::json::{Document, Value};

use super::schema::{Schema, Set};
use super::sizes::LEAST;

/// The parts of a value that must stay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    /// Nothing of the value may change.
    pub whole: bool,
    /// Chars that a shortened string may have.
    pub most_chars: Option<usize>,
    pub min_items: usize,
    /// Elements at the start whose positions count.
    pub prefix: usize,
    pub min_members: usize,
    /// All elements or members stay.
    pub keeps_parts: bool,
    required: HashSet<Vec<u8>>,
    places: Vec<u32>,
    items: u32,
    names: HashMap<Vec<u8>, u32>,
    others: u32,
}

/// The number of the rule, and of the set of schemas, that asks for nothing.
const FREE: u32 = 0;
/// The number of the rule, and of the set, that keeps a value whole.
const WHOLE: u32 = 1;

/// Rules by value.
#[derive(Debug)]
pub struct SchemaRules {
    rules: Vec<Rule>,
    of: Vec<u32>,
}

impl SchemaRules {
    /// Finds the rules of a schema for the values of a document that validates against it. Returns
    /// `None` if that would take too many steps.
    pub fn new(document: &Document, schema: Value) -> Option<SchemaRules> {
        RuleMaker::new(Schema::new(schema, document.len())).rules(document)
    }

    /// Returns the rule of a value, by id.
    pub fn at(&self, id: u32) -> &Rule {
        &self.rules[self.of[id as usize] as usize]
    }
}

impl Rule {
    /// Returns true if a member must stay.
    pub fn requires(&self, member: Value) -> bool {
        self.keeps_parts || self.required.contains(&*name_of(member))
    }
}

/// Returns the name of a member, its escapes resolved.
fn name_of(member: Value<'_>) -> Cow<'_, [u8]> {
    let Some(name) = member.name() else { return Cow::Borrowed(b"") };
    let source = &name.source()[1..name.source().len() - 1];
    if !source.contains(&b'\\') {
        return Cow::Borrowed(source);
    }
    Cow::Owned(name.string().unwrap_or_default().into_bytes())
}

/// Makes rules, each once.
struct RuleMaker<'s> {
    schema: Schema<'s>,
    sets: Vec<Set>,
    numbers: HashMap<Set, u32>,
    rules: Vec<Rule>,
    /// Rules by set. Those that depend on the value are not among them.
    of_set: HashMap<u32, u32>,
    of_expanded: HashMap<Set, u32>,
}

impl<'s> RuleMaker<'s> {
    fn new(schema: Schema<'s>) -> Self {
        RuleMaker {
            schema,
            sets: vec![vec![], vec![]],
            numbers: HashMap::from([(vec![], FREE)]),
            rules: vec![Rule::default(), Rule { whole: true, ..Rule::default() }],
            of_set: HashMap::from([(FREE, FREE), (WHOLE, WHOLE)]),
            of_expanded: HashMap::new(),
        }
    }

    fn rules(&mut self, document: &Document) -> Option<SchemaRules> {
        // Sets of schemas, until a value is reached; then rules.
        let mut of = vec![FREE; document.len()];
        of[0] = self.set(vec![self.schema.root().id()]);
        let (mut id, mut seen) = (0, HashSet::new());
        while (id as usize) < document.len() {
            if self.schema.is_spent() {
                return None;
            }
            let value = document.value(id);
            let mut rule = if value.is_name() { FREE } else { self.rule(of[id as usize], value) };
            // A reader takes the last of members with one name: without it, another one would
            // count.
            seen.clear();
            if !value.members().all(|member| seen.insert(name_of(member))) {
                rule = WHOLE;
            }
            if rule == WHOLE {
                of[id as usize..value.next_id() as usize].fill(WHOLE);
                id = value.next_id();
                continue;
            }
            of[id as usize] = rule;
            id += 1;
            if rule == FREE {
                continue;
            }
            let rule = &self.rules[rule as usize];
            for (at, element) in value.elements().enumerate() {
                of[element.id() as usize] = rule.places.get(at).copied().unwrap_or(rule.items);
            }
            for member in value.members() {
                let known = rule.names.get(&*name_of(member));
                of[member.id() as usize] = known.copied().unwrap_or(rule.others);
            }
        }
        (!self.schema.is_spent()).then(|| SchemaRules { rules: std::mem::take(&mut self.rules), of })
    }

    /// Returns the number of a set.
    fn set(&mut self, set: Set) -> u32 {
        *self.numbers.entry(set).or_insert_with_key(|set| {
            self.sets.push(set.clone());
            self.sets.len() as u32 - 1
        })
    }

    /// Returns the number of the rule for a value that meets a set of schemas.
    fn rule(&mut self, set: u32, value: Value) -> u32 {
        if let Some(rule) = self.of_set.get(&set) {
            return *rule;
        }
        let Some((expanded, depends)) = self.schema.expanded(&self.sets[set as usize], value) else {
            return WHOLE;
        };
        let number = match self.of_expanded.get(&expanded) {
            Some(rule) => *rule,
            None => {
                let rule = self.read(&expanded);
                if !self.schema.spend(self.rules.len()) {
                    return WHOLE;
                }
                let number = match self.rules.iter().position(|known| *known == rule) {
                    Some(at) => at as u32,
                    None => {
                        self.rules.push(rule);
                        self.rules.len() as u32 - 1
                    }
                };
                self.of_expanded.insert(expanded, number);
                number
            }
        };
        if !depends {
            self.of_set.insert(set, number);
        }
        number
    }

    /// Reads the rule of several schemas. A rule that may not apply does no harm: it only keeps
    /// more.
    fn read(&mut self, set: &[u32]) -> Rule {
        let mut rule = Rule::default();
        let (mut names, mut places): (HashMap<Vec<u8>, Set>, Vec<Set>) = Default::default();
        let (mut items, mut others): (Set, Set) = Default::default();
        let (mut keeps_text, mut is_unique) = (false, false);
        for schema in set.iter().map(|id| self.schema.at(*id)) {
            if !self.schema.spend(1 + schema.members().count()) {
                return rule;
            }
            let has = |names: &[&str]| names.iter().any(|name| schema.get(name).is_some());
            let number = |name: &str| schema.get(name).and_then(Value::number).map(|number| number as usize);
            let least = |name: &str| number(name).unwrap_or_default();
            keeps_text |= has(&["pattern", "format", "contentEncoding", "contentMediaType"]);
            keeps_text |= least("minLength") > SHORTEST;
            rule.most_chars = [rule.most_chars, number("maxLength")].into_iter().flatten().min();
            rule.min_items = rule.min_items.max(least("minItems"));
            rule.min_members = rule.min_members.max(least("minProperties"));
            rule.keeps_parts |= has(&["contains", "dependentRequired", "dependentSchemas", "dependencies"]);
            is_unique |= schema.get("uniqueItems").is_some_and(Value::is_true);
            for name in schema.get("required").into_iter().flat_map(|names| names.elements()) {
                rule.required.extend(name.string().map(String::into_bytes));
            }
            for member in schema.get("properties").into_iter().flat_map(|all| all.members()) {
                names.entry(name_of(member).into_owned()).or_default().push(member.id());
            }
            let patterns = schema.get("patternProperties").into_iter().flat_map(|all| all.members());
            others.extend(patterns.map(Value::id));
            others.extend(schema.get("additionalProperties").map(Value::id));
            others.extend(schema.get("unevaluatedProperties").map(Value::id));
            let tuple = [schema.get("prefixItems"), schema.get("items").filter(|items| items.is_list())];
            for (at, place) in tuple.into_iter().flatten().flat_map(|tuple| tuple.elements()).enumerate() {
                places.resize(places.len().max(at + 1), vec![]);
                places[at].push(place.id());
            }
            let each = ["items", "additionalItems", "unevaluatedItems", "contains"];
            items.extend(each.iter().filter_map(|name| schema.get(name)).map(Value::id));
        }
        self.schema.spend(rule.required.len() + names.len() + places.len() + items.len() + others.len());
        rule.whole |= keeps_text || rule.most_chars.is_some_and(|most| most < LEAST as usize);
        rule.prefix = places.len();
        let mut with = |mut set: Set, more: &Set| {
            if !self.schema.spend(1 + set.len() + more.len()) {
                return WHOLE;
            }
            set.extend(more);
            set.sort_unstable();
            set.dedup();
            self.set(set)
        };
        rule.names = names.into_iter().map(|(name, set)| (name, with(set, &others))).collect();
        rule.places = places.into_iter().map(|set| with(set, &items)).collect();
        (rule.items, rule.others) = (with(vec![], &items), with(vec![], &others));
        if is_unique {
            // Shortened elements could be equal.
            rule.places.fill(WHOLE);
            rule.items = WHOLE;
        }
        rule
    }
}

/// Chars that the mark of a shortened string has at least.
const SHORTEST: usize = "[+1 chars]".len();

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{RngAlgorithm, TestRng};

    use super::*;

    /// Returns whether a schema is read to its end, and the steps that it takes.
    fn read(schema: &str, value: &str) -> (bool, usize) {
        let [schema, value] = [schema, value].map(str::as_bytes);
        let (schema, document) = (Document::parse(schema).unwrap(), Document::parse(value).unwrap());
        let mut reader = RuleMaker::new(Schema::new(schema.root(), document.len()));
        let is_read = reader.rules(&document).is_some();
        (is_read, reader.schema.steps())
    }

    /// Returns a schema in which alternatives lead to others, each twice.
    fn doubling(levels: usize) -> String {
        let steps = (0..levels).map(|at| {
            let next = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, at + 1);
            format!(r#""d{at}":{{"anyOf":[{next},{next}]}}"#)
        });
        let steps: Vec<String> = steps.collect();
        format!(
            r##"{{"$defs":{{{},"d{levels}":{{"type":"string"}}}},"items":{{"$ref":"#/$defs/d0"}}}}"##,
            steps.join(",")
        )
    }

    #[test]
    fn parts_that_several_ways_lead_to_are_read_once() {
        let (mut schema, mut value) = (r#"{"type":"string"}"#.to_owned(), r#""x""#.to_owned());
        for _ in 0..31 {
            schema = format!(r#"{{"required":["a","a","a"],"properties":{{"a":{schema}}}}}"#);
            value = format!(r#"{{"a":{value}}}"#);
        }
        let (is_read, steps) = read(&format!(r#"{{"anyOf":[{schema},{schema}]}}"#), &value);
        assert!(is_read && steps < 10_000, "{steps}");
        let rows = vec![r#"{"n":1}"#; 1_000].join(",");
        let (is_read, steps) = read(&doubling(12), &format!("[{rows}]"));
        assert!(is_read && steps < 200_000, "{steps}");
    }

    #[test]
    fn a_schema_that_takes_too_many_steps_is_ignored() {
        let constants: Vec<String> = (0..5_000).map(|at| at.to_string()).collect();
        let schema = format!(r#"{{"items":{{"anyOf":[{{"enum":[{}]}},{{}}]}}}}"#, constants.join(","));
        let rows = vec!["-1"; 1_000].join(",");
        assert!(!read(&schema, &format!("[{rows}]")).0);
        assert!(read(&schema, "[-1]").0);
    }

    /// Makes schemas whose parts lead to each other.
    struct Nasty(TestRng);

    impl Nasty {
        fn below(&mut self, most: u32) -> u32 {
            self.0.next_u32() % most
        }

        fn list(&mut self, most: u32, part: fn(&mut Self, u32) -> String, depth: u32) -> String {
            let parts: Vec<String> = (0..self.below(most)).map(|_| part(self, depth)).collect();
            format!("[{}]", parts.join(","))
        }

        fn name(&mut self, _: u32) -> String {
            format!(r#""{}""#, ["a", "b", "c"][self.below(3) as usize])
        }

        fn value(&mut self, depth: u32) -> String {
            match self.below(if depth == 0 { 3 } else { 8 }) {
                0 => "1".into(),
                1 => format!(r#""{}""#, "x".repeat(self.below(50) as usize)),
                2 => "null".into(),
                3 | 4 => self.list(6, Self::value, depth - 1),
                _ => self.object(Self::value, depth),
            }
        }

        fn object(&mut self, part: fn(&mut Self, u32) -> String, depth: u32) -> String {
            let parts: Vec<String> =
                ["a", "b", "c"].iter().map(|name| format!(r#""{name}":{}"#, part(self, depth - 1))).collect();
            format!("{{{}}}", parts.join(","))
        }

        fn schema(&mut self, depth: u32) -> String {
            if depth == 0 || self.below(3) == 0 {
                return format!(r##"{{"$ref":"#/$defs/{}"}}"##, self.below(4));
            }
            let depth = depth - 1;
            let count = 1 + self.below(3);
            let keywords: Vec<String> = (0..count)
                .map(|_| match self.below(10) {
                    0 => format!(r#""anyOf":{}"#, self.list(9, Self::schema, depth)),
                    1 => format!(r#""oneOf":{}"#, self.list(9, Self::schema, depth)),
                    2 => format!(r#""allOf":{}"#, self.list(9, Self::schema, depth)),
                    3 => format!(r#""items":{}"#, self.schema(depth)),
                    4 => format!(r#""prefixItems":{}"#, self.list(9, Self::schema, depth)),
                    5 => format!(r#""enum":{}"#, self.list(40, Self::value, 1)),
                    6 => format!(r#""patternProperties":{}"#, self.object(Self::schema, depth + 1)),
                    7 => r#""type":["object","array"]"#.into(),
                    _ => format!(
                        r#""required":{},"properties":{}"#,
                        self.list(20, Self::name, 0),
                        self.object(Self::schema, depth + 1)
                    ),
                })
                .collect();
            format!("{{{}}}", keywords.join(","))
        }
    }

    proptest! {
        #[test]
        fn no_schema_takes_more_steps(seed in any::<[u8; 32]>()) {
            let mut nasty = Nasty(TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
            let parts: Vec<String> = (0..4).map(|at| format!(r#""{at}":{}"#, nasty.schema(4))).collect();
            let schema = format!(r##"{{"$defs":{{{}}},"$ref":"#/$defs/0"}}"##, parts.join(","));
            let value = nasty.value(6);
            let (is_read, steps) = read(&schema, &value);
            let values = Document::parse(value.as_bytes()).unwrap().len();
            let most = Schema::most(values);
            // Work that is under way at the last step ends with it.
            let late = if is_read { 0 } else { schema.len() + value.len() };
            prop_assert!(steps <= most + late, "{}", steps);
        }
    }
}
