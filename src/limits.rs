//! Upper bounds.

/// Upper bounds of a result, notice included. `usize::MAX` lifts a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub bytes: usize,
    pub lines: usize,
    pub chars: usize,
    pub tokens: usize,
    /// Bytes of any single line, excluding its terminator.
    pub line_bytes: usize,
}

pub const UNLIMITED: usize = usize::MAX;

/// The amount of each limit that a text uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub bytes: usize,
    pub lines: usize,
    pub chars: usize,
    pub tokens: usize,
}

impl Usage {
    /// Returns how far each limit exceeds its counterpart in `others`.
    pub fn between(limits: &Limits, others: &Limits) -> Usage {
        let all = |limits: &Limits| Usage {
            bytes: limits.bytes,
            lines: limits.lines,
            chars: limits.chars,
            tokens: limits.tokens,
        };
        all(limits).minus(all(others))
    }

    pub fn zip(self, other: Usage, with: impl Fn(usize, usize) -> usize) -> Usage {
        Usage {
            bytes: with(self.bytes, other.bytes),
            lines: with(self.lines, other.lines),
            chars: with(self.chars, other.chars),
            tokens: with(self.tokens, other.tokens),
        }
    }

    pub fn plus(self, other: Usage) -> Usage {
        self.zip(other, usize::saturating_add)
    }

    pub fn minus(self, other: Usage) -> Usage {
        self.zip(other, usize::saturating_sub)
    }

    /// Returns true if no amount exceeds that of `other`.
    pub fn at_most(self, other: Usage) -> bool {
        self.minus(other) == Usage::default()
    }

    /// Returns true if no limit is exceeded. The limit on single lines is not considered.
    pub fn within(self, limits: &Limits) -> bool {
        self.bytes <= limits.bytes
            && self.lines <= limits.lines
            && self.chars <= limits.chars
            && self.tokens <= limits.tokens
    }
}

/// Returns a share of a limit. A lifted limit stays lifted.
pub fn part(limit: usize, share: f64) -> usize {
    if limit == UNLIMITED { limit } else { (limit as f64 * share) as usize }
}

impl Limits {
    pub const NONE: Limits = Limits {
        bytes: UNLIMITED,
        lines: UNLIMITED,
        chars: UNLIMITED,
        tokens: UNLIMITED,
        line_bytes: UNLIMITED,
    };

    /// Returns true if only an empty text is within the limits.
    pub fn is_empty(&self) -> bool {
        [self.bytes, self.lines, self.chars, self.tokens].contains(&0)
    }

    /// Returns the limits for a text whose long lines were cut. A `line_bytes` of 0 omits the whole
    /// text, empty lines included.
    pub fn after_cutting_lines(self) -> Limits {
        if self.line_bytes == 0 { Limits { bytes: 0, ..self } } else { self }
    }

    /// Returns limits that take each amount from `with`, which receives the limit and its usage.
    /// The limit on single lines stays.
    fn with(self, usage: Usage, with: impl Fn(usize, usize) -> usize) -> Limits {
        Limits {
            bytes: with(self.bytes, usage.bytes),
            lines: with(self.lines, usage.lines),
            chars: with(self.chars, usage.chars),
            tokens: with(self.tokens, usage.tokens),
            ..self
        }
    }

    /// Keeps only the limits that the usage exceeds, and the limit on single lines. If this leaves
    /// no limit at all, as in a room smaller than the limits, returns all of them.
    pub fn exceeded(&self, usage: Usage) -> Limits {
        let exceeded = self.with(usage, |limit, used| if used > limit { limit } else { UNLIMITED });
        if exceeded == Limits::NONE { *self } else { exceeded }
    }

    /// Subtracts the usage from the limits. A lifted limit stays lifted.
    pub fn less(self, usage: Usage) -> Limits {
        self.with(usage, |limit, used| if limit == UNLIMITED { limit } else { limit.saturating_sub(used) })
    }

    /// Returns the limits for a text that uses this much already and may use `more` besides.
    pub fn at_most(self, used: Usage, more: &Limits) -> Limits {
        let sum = |used: usize, more: usize| used.saturating_add(more);
        Limits {
            bytes: self.bytes.min(sum(used.bytes, more.bytes)),
            lines: self.lines.min(sum(used.lines, more.lines)),
            chars: self.chars.min(sum(used.chars, more.chars)),
            tokens: self.tokens.min(sum(used.tokens, more.tokens)),
            ..self
        }
    }

    /// Returns limits of exactly this usage. A lifted limit stays lifted.
    pub fn of_size(self, usage: Usage) -> Limits {
        self.with(usage, |limit, used| if limit == UNLIMITED { limit } else { used })
    }

    /// Yields the limits with one of them cut to a usage, each in turn. Lifted limits stay.
    pub fn cut_each(self, usage: Usage) -> impl Iterator<Item = Limits> {
        let Limits { bytes, lines, chars, tokens, .. } = self;
        let cut = [
            (bytes, Limits { bytes: bytes.min(usage.bytes), ..self }),
            (lines, Limits { lines: lines.min(usage.lines), ..self }),
            (chars, Limits { chars: chars.min(usage.chars), ..self }),
            (tokens, Limits { tokens: tokens.min(usage.tokens), ..self }),
        ];
        cut.into_iter().filter(|(limit, _)| *limit != UNLIMITED).map(|(_, limits)| limits)
    }

    /// Returns the largest share of a limit that the usage takes, in millionths, and at least 1.
    pub fn load(&self, usage: Usage) -> u64 {
        let of = |used: usize, limit: usize| used as u64 * 1_000_000 / (limit as u64).max(1);
        let Usage { bytes, lines, chars, tokens } = usage;
        let loads = [(bytes, self.bytes), (lines, self.lines), (chars, self.chars), (tokens, self.tokens)];
        loads.into_iter().map(|(used, limit)| of(used, limit)).max().unwrap_or(0).max(1)
    }

    /// Returns true if tokens must be counted.
    pub fn counts_tokens(&self) -> bool {
        self.tokens != UNLIMITED
    }

    /// Returns a share of every limit except that on single lines.
    pub fn share(self, share: f64) -> Limits {
        self.with(Usage::default(), |limit, _| part(limit, share))
    }
}
