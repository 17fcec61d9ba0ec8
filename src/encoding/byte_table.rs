//! Tables of bytes.

/// Makes a table with the value of an expression for each byte, which takes less time than the
/// expression: `byte_table!(byte => byte.is_ascii_digit())`.
macro_rules! byte_table {
    ($byte:ident => $value:expr) => {{
        let $byte = 0_u8;
        let (mut table, mut at) = ([$value; 256], 1);
        while at < table.len() {
            let $byte = at as u8;
            table[at] = $value;
            at += 1;
        }
        table
    }};
}

pub(crate) use byte_table;

#[cfg(test)]
mod tests {
    #[test]
    fn a_table_has_the_value_of_each_byte() {
        const TABLE: [(bool, u8); 256] = byte_table!(byte => (byte.is_ascii_digit(), byte / 2));
        assert!((0..=u8::MAX).all(|byte| TABLE[usize::from(byte)] == (byte.is_ascii_digit(), byte / 2)));
    }
}
