//! The names of members that paths lead through, as numbers: an object is read once, and of its members those alone are
//! noted that some path knows.

/// The number of a name.
pub type Name = u16;

#[derive(Debug, Default)]
pub struct Names {
    count: Name,
    /// By their length: few have the same.
    known: Vec<Vec<(String, Name)>>,
}

impl Names {
    /// The number of a name, which is new where nobody knew it.
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

    /// The number of a name that some path knows.
    #[inline(never)]
    pub fn find(&self, name: &[u8]) -> Option<Name> {
        let same = self.known.get(name.len())?;
        same.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, number)| *number)
    }
}
