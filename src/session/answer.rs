//! Builds reports as JSON.

use crate::json::string;

/// A JSON object under construction.
#[derive(Debug, Default)]
pub struct Answer {
    json: String,
}

impl Answer {
    #[inline(never)]
    fn name(&mut self, name: &str) {
        self.json.push_str(if self.json.is_empty() { "{\"" } else { ",\"" });
        self.json.push_str(name);
        self.json.push_str("\":");
    }

    /// Adds a member whose value is JSON.
    #[inline(never)]
    pub fn json(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        self.json.push_str(value);
        self
    }

    #[inline(never)]
    pub fn number(self, name: &str, value: u64) -> Self {
        self.json(name, &value.to_string())
    }

    pub fn flag(self, name: &str, value: bool) -> Self {
        self.json(name, if value { "true" } else { "false" })
    }

    /// Adds a string member, if it has a value.
    #[inline(never)]
    pub fn text(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.json(name, &string(value)),
            None => self,
        }
    }

    /// Adds a list of objects.
    pub fn list(self, name: &str, objects: impl Iterator<Item = Answer>) -> Self {
        let objects: Vec<String> = objects.map(Answer::done).collect();
        self.json(name, &format!("[{}]", objects.join(",")))
    }

    pub fn done(mut self) -> String {
        self.json.push_str(if self.json.is_empty() { "{}" } else { "}" });
        self.json
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_json() {
        let inner = |number| Answer::default().number("n", number);
        let answer = Answer::default()
            .flag("ok", true)
            .text("none", None)
            .text("path", Some("a\"b"))
            .list("all", [inner(1), inner(2)].into_iter());
        assert_eq!(answer.done(), r#"{"ok":true,"path":"a\"b","all":[{"n":1},{"n":2}]}"#);
        assert_eq!(Answer::default().done(), "{}");
    }
}
