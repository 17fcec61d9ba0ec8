//! Laws of the engine, over generated text. One program: each one more would link the engine again.

mod capture;
mod cases;
mod cleaning;
mod guarantees;
mod keeps;
mod outline;
mod planning;
mod recuts;
mod selection;
mod spill;
