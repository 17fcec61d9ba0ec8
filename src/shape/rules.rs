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
pub struct Rules {
    rules: Vec<Rule>,
    of: Vec<u32>,
}

impl Rules {
    /// Finds the rules of a schema for the values of a document that validates against it.
    pub fn new(document: &Document, schema: Value) -> Rules {
        let mut reader = Reader::new(Schema::new(schema));
        // Sets of schemas, until a value is reached; then rules.
        let mut of = vec![FREE; document.len()];
        of[0] = reader.set(vec![schema.id()]);
        let (mut id, mut seen) = (0, HashSet::new());
        while (id as usize) < document.len() {
            let value = document.value(id);
            let mut rule = if value.is_name() { FREE } else { reader.rule(of[id as usize], value) };
            // A reader takes the last of members with one name: without it, another one would count.
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
            let rule = &reader.rules[rule as usize];
            for (at, element) in value.elements().enumerate() {
                of[element.id() as usize] = rule.places.get(at).copied().unwrap_or(rule.items);
            }
            for member in value.members() {
                let known = rule.names.get(&*name_of(member));
                of[member.id() as usize] = known.copied().unwrap_or(rule.others);
            }
        }
        Rules { rules: reader.rules, of }
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
struct Reader<'s> {
    schema: Schema<'s>,
    sets: Vec<Set>,
    numbers: HashMap<Set, u32>,
    rules: Vec<Rule>,
    /// Rules by set. Those that depend on the value are not among them.
    of_set: HashMap<u32, u32>,
    of_expanded: HashMap<Set, u32>,
}

impl<'s> Reader<'s> {
    fn new(schema: Schema<'s>) -> Self {
        Reader {
            schema,
            sets: vec![vec![], vec![]],
            numbers: HashMap::from([(vec![], FREE)]),
            rules: vec![Rule::default(), Rule { whole: true, ..Rule::default() }],
            of_set: HashMap::from([(FREE, FREE), (WHOLE, WHOLE)]),
            of_expanded: HashMap::new(),
        }
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

    /// Reads the rule of several schemas. A rule that may not apply does no harm: it only keeps more.
    fn read(&mut self, set: &[u32]) -> Rule {
        let mut rule = Rule::default();
        let (mut names, mut places): (HashMap<Vec<u8>, Set>, Vec<Set>) = Default::default();
        let (mut items, mut others): (Set, Set) = Default::default();
        let (mut keeps_text, mut is_unique) = (false, false);
        for schema in set.iter().map(|id| self.schema.at(*id)) {
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
        rule.whole |= keeps_text || rule.most_chars.is_some_and(|most| most < LEAST as usize);
        rule.prefix = places.len();
        let mut with = |mut set: Set, more: &Set| {
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
