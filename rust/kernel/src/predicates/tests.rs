use super::*;

#[test]
fn a_predicate_is_its_text() {
    for text in [":true", "[:= -3]", "[:mod 2 1]"] {
        assert_eq!(Predicate::parse(text).map(|predicate| predicate.to_string()), Some(text.to_owned()));
    }
    for text in
        ["", "true", "[:true]", "[:= ]", "[:=  3]", "[:= 03]", "[:= x]", "[:mod 0 0]", "[:mod 2]", ":= 3"]
    {
        assert_eq!(Predicate::parse(text), None, "{text}");
    }
}

#[test]
fn a_predicate_asks_for_values() {
    let mut values = Values::default();
    let large = values.decimal("-100000000000000000000001");
    let text = values.intern(AtomKind::Text, "1");
    let number = |number: i64| Value::small(number).unwrap();
    for (predicate, matching, other) in [
        (":true", vec![number(0), Value::NIL, text], vec![]),
        ("[:= 1]", vec![number(1)], vec![number(2), text, large]),
        ("[:mod 3 1]", vec![number(1), number(-2), large], vec![number(2), number(-1), text]),
    ] {
        let predicate = Predicate::parse(predicate).unwrap();
        assert!(matching.iter().all(|&value| predicate.matches(&values, value)), "{predicate}");
        assert!(!other.iter().any(|&value| predicate.matches(&values, value)), "{predicate}");
    }
}
