//! Interned member names. An object is scanned once, and only members whose names appear in some path are recorded.

/// An interned name.
pub type Name = u16;

#[derive(Debug, Default)]
pub struct Names {
    count: Name,
    /// Grouped by length, which leaves few names to compare.
    known: Vec<Vec<(String, Name)>>,
}

impl Names {
    /// Interns a name.
    #[inline(never)]
    pub fn learn(&mut self, name: &str) -> Name {
        if let Some(known) = self.find(name.as_bytes()) {
            return known;
        }
        if self.known.len() <= name.len() {
            self.known.resize_with(name.len() + 1, Vec::new);
        }
        self.known[name.len()].push((name.to_owned(), self.count));
        self.count += 1;
        self.count - 1
    }

    /// Returns the number of an interned name.
    #[inline(never)]
    pub fn find(&self, name: &[u8]) -> Option<Name> {
        let same = self.known.get(name.len())?;
        same.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, number)| *number)
    }
}
