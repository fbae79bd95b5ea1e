use super::*;
use crate::value::{AtomKind, Value, Values};

/// One value with everything that the grammar has.
const SAMPLE: &str = concat!(
    r#"{"a": [1, -2, 0, 3.5, 1e3, -0.25E-2, 123456789012345678901234567890],"#,
    "\r\n\t",
    r#""b": {"c": {}, "d": [], "": null}, "t": true, "f": false, "#,
    r#""s": "plain", "é": "naïve \" \\ \/ \b\f\n\r\t \u0041\u00e9\ud83d\ude00"}"#
);

fn skip(text: &[u8]) -> Result<usize, Fault> {
    let mut cursor = Cursor::new(text, 1);
    cursor.skip_value()?;
    Ok(cursor.at())
}

fn read(text: &str) -> Result<(Value, Values), Fault> {
    let mut values = Values::default();
    let value = scalar(&mut Cursor::new(text.as_bytes(), 1), &mut values)?;
    Ok((value, values))
}

fn rewritten(text: &str) -> String {
    let (value, values) = read(text).unwrap();
    let mut out = Vec::new();
    write_value(&values, value, &mut out);
    String::from_utf8(out).unwrap()
}

fn malformed_at(fault: Fault) -> usize {
    match fault {
        Fault::Malformed(malformed) => malformed.at,
        Fault::CutOff(expected) => panic!("cut off at {expected}"),
    }
}

#[test]
fn any_value_is_skipped_whole() {
    assert_eq!(skip(SAMPLE.as_bytes()), Ok(SAMPLE.len()));
}

#[test]
fn a_prefix_of_correct_json_is_cut_off_and_never_malformed() {
    for end in 0..SAMPLE.len() {
        assert!(matches!(skip(&SAMPLE.as_bytes()[..end]), Err(Fault::CutOff(_))), "{end}");
    }
}

#[test]
fn flipped_bits_never_panic() {
    let mut seed = 1u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for _ in 0..20_000 {
        let mut text = SAMPLE.as_bytes().to_vec();
        for _ in 0..=random(3) {
            let at = random(text.len());
            text[at] ^= 1 << random(8);
        }
        let cursor = Cursor::new(&text, 1);
        if let Err(fault) = skip(&text) {
            assert!(!cursor.error(fault).expected.is_empty());
        }
    }
}

#[test]
fn nesting_beyond_the_limit_is_an_error_and_not_a_crash() {
    for bracket in ["[", "{\"\":", "[{\"\":"] {
        let fault = skip(bracket.repeat(100_000).as_bytes()).unwrap_err();
        assert!(matches!(&fault, Fault::Malformed(at) if at.expected.contains("nested")), "{fault:?}");
    }
    let deep = "[".repeat(DEEPEST) + &"]".repeat(DEEPEST);
    assert_eq!(skip(deep.as_bytes()), Ok(deep.len()));
}

#[test]
fn numbers_are_exact_whatever_their_size() {
    for text in [
        "0",
        "-1",
        "999999999999999999",
        "1000000000000000000",
        "4611686018427387904",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "18446744073709551616",
        "-123456789012345678901234567890",
        "0.5",
        "-0.0",
        "1e16",
        "5e-324",
    ] {
        assert_eq!(rewritten(text), text);
    }
    assert_eq!(read("-0").unwrap().0, Value::small(0).unwrap());
    assert_eq!(rewritten("1E+2"), "100.0");
}

#[test]
fn what_is_no_json_number_is_malformed() {
    for text in ["01", "-01", "00", "1.x", ".5", "+1", "-x", "1e+x", "1e999", "NaN", "Infinity", "--1"] {
        let mut values = Values::default();
        let mut cursor = Cursor::new(text.as_bytes(), 1);
        let fault = scalar(&mut cursor, &mut values);
        assert!(matches!(fault, Err(Fault::Malformed(_))), "{text}: {fault:?}");
    }
    for text in ["-", "1.", "1e", "1e-"] {
        assert!(matches!(read(text), Err(Fault::CutOff(_))), "{text}");
    }
}

#[test]
fn a_64_bit_integer_is_told_from_anything_else() {
    let integer = |text: &str| Cursor::new(text.as_bytes(), 1).integer("a count");
    assert_eq!(integer(" -9223372036854775808"), Ok(i64::MIN));
    for text in ["9223372036854775808", "1.0", "\"1\"", "null"] {
        assert_eq!(integer(text), Err(Fault::at(0, "a count")), "{text}");
    }
}

#[test]
fn escapes_become_characters_and_back() {
    let string = |text: &str| Cursor::new(text.as_bytes(), 1).string().map(Cow::into_owned);
    assert_eq!(string(r#""\u0041\u00e9\ud83d\ude00\/\n""#).unwrap(), "Aé😀/\n");
    assert_eq!(rewritten(r#""\u0001\u001f\n\r\t\"\\é""#), r#""\u0001\u001f\n\r\t\"\\é""#);
    assert!(matches!(Cursor::new(b"\"plain\"", 1).string(), Ok(Cow::Borrowed("plain"))));
}

#[test]
fn strings_that_are_no_text_are_malformed_where_they_go_wrong() {
    for (text, at) in [
        (&b"\"ab\xff\""[..], 3),
        (b"\"\\n\xc3\"", 3),
        (b"\"\\ud800\"", 1),
        (b"\"\\ud800\\n\"", 1),
        (b"\"\\ud800\\u0041\"", 1),
        (b"\"x\\udc00\"", 2),
        (b"\"\\u00g0\"", 5),
        (b"\"\\x\"", 1),
        (b"\"a\nb\"", 2),
    ] {
        let fault = Cursor::new(text, 1).string().unwrap_err();
        assert_eq!(malformed_at(fault), at, "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn misplaced_punctuation_is_malformed_where_it_stands() {
    for (text, at) in [
        ("[1,]", 3),
        ("[,1]", 1),
        ("[1 2]", 3),
        ("[1}", 2),
        ("{\"a\":1,}", 7),
        ("{\"a\" 1}", 5),
        ("{a:1}", 1),
        ("{\"a\":}", 5),
        ("{\"a\":1 \"b\":2}", 7),
        ("[nil]", 1),
        ("[tru]", 1),
        ("]", 0),
        ("\u{a0}1", 0),
    ] {
        assert_eq!(malformed_at(skip(text.as_bytes()).unwrap_err()), at, "{text}");
    }
}

#[test]
fn lines_are_counted_in_whitespace() {
    let mut cursor = Cursor::new(b"\n [ 1,\r\n\"a\\nb\"\n]", 10);
    let mut array = cursor.begin_array().unwrap();
    assert!(cursor.next_element(&mut array).unwrap());
    assert_eq!((cursor.integer("one"), cursor.line()), (Ok(1), 11));
    assert!(cursor.next_element(&mut array).unwrap());
    assert_eq!((cursor.string().unwrap().as_ref(), cursor.line()), ("a\nb", 12));
    assert!(!cursor.next_element(&mut array).unwrap());
    assert_eq!(cursor.line(), 13);
}

#[test]
fn what_json_does_not_have_is_written_as_text_or_null() {
    let mut values = Values::default();
    let term = values.intern(AtomKind::Term, ":\"x");
    let infinite = values.float(f64::INFINITY);
    let truth = values.boolean(true);
    let list = values.push_list([term, infinite, truth, Value::NIL, Value::UNKNOWN]);
    let mut out = Vec::new();
    write_value(&values, list, &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), r#"[":\"x","inf",true,null,null]"#);
}
