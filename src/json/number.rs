//! Numbers as JavaScript writes them.

use std::fmt::Write;

/// Appends what `JSON.stringify` gives for a number that `JSON.parse` read.
pub fn write(spelling: &[u8], out: &mut Vec<u8>) {
    let number = value(spelling);
    let text = if number.is_finite() { text_of(number) } else { "null".to_owned() };
    out.extend_from_slice(text.as_bytes());
}

pub fn value(spelling: &[u8]) -> f64 {
    std::str::from_utf8(spelling).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

/// The shortest digits that read back as the same number, laid out as ECMAScript does (Number::toString).
fn text_of(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{:e}", number.abs());
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits: String = digits.chars().filter(|char| *char != '.').collect();
    let (count, exponent) = (digits.len() as i32, exponent.parse::<i32>().unwrap_or(0));
    let mut text = String::from(if number < 0.0 { "-" } else { "" });
    // Digits before the point.
    let point = exponent + 1;
    match point {
        1..=21 if count <= point => {
            text.push_str(&digits);
            text.extend(std::iter::repeat_n('0', (point - count) as usize));
        }
        1..=21 => {
            let (whole, part) = digits.split_at(point as usize);
            let _ = write!(text, "{whole}.{part}");
        }
        -5..=0 => {
            let _ = write!(text, "0.{}{digits}", "0".repeat(-point as usize));
        }
        _ => {
            let (first, rest) = digits.split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            let _ = write!(text, "{first}{dot}{rest}e{exponent:+}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_javascript_writes_them() {
        for (spelling, text) in [
            ("0", "0"),
            ("-0", "0"),
            ("0.0", "0"),
            ("1.50", "1.5"),
            ("1e2", "100"),
            ("1E3", "1000"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("123456789e15", "1.23456789e+23"),
            ("1.23e-6", "0.00000123"),
            ("0.0000001", "1e-7"),
            ("-12.5e-7", "-0.00000125"),
            ("-12.5e-8", "-1.25e-7"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("1e400", "null"),
            ("0.1", "0.1"),
            ("9007199254740993", "9007199254740992"),
            ("123456789012345678901", "123456789012345680000"),
            ("0.30000000000000004", "0.30000000000000004"),
            ("4.35", "4.35"),
        ] {
            let mut out = vec![];
            write(spelling.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text, "{spelling}");
        }
    }
}
