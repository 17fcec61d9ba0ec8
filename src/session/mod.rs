//! Stored sessions: rows of JSON of which only the parts that are too large are written anew.

pub mod answer;
pub mod backup;
pub mod body;
pub mod branch;
pub mod budget;
pub mod clamp;
pub mod clock;
pub mod draft;
pub mod encoded;
pub mod entry;
pub mod failure;
pub mod file;
pub mod fingerprint;
pub mod gate;
pub mod inspect;
pub mod lock;
pub mod patch;
pub mod reading;
pub mod repair;
pub mod replica;
pub mod report;
pub mod row;
pub mod rows;
pub mod side;
pub mod stored;
pub mod watch;
