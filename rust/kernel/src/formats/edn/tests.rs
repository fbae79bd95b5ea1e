use super::*;

fn value(text: &str, values: &mut Values) -> Value {
    parse_value(text, values).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn written(values: &Values, value: Value) -> String {
    let mut out = Vec::new();
    write_value(values, value, &mut out);
    String::from_utf8(out).unwrap()
}

fn canonical(text: &str) -> String {
    let mut values = Values::default();
    let value = value(text, &mut values);
    written(&values, value)
}

#[test]
fn scalars_become_the_values_that_they_mean() {
    let mut values = Values::default();
    for (text, kind, meaning) in [
        ("true", AtomKind::Boolean, "true"),
        ("1.5", AtomKind::Float, "1.5"),
        ("-2e3", AtomKind::Float, "-2000.0"),
        ("##-Inf", AtomKind::Float, "-inf"),
        ("##NaN", AtomKind::Float, "NaN"),
        ("18446744073709551616", AtomKind::Integer, "18446744073709551616"),
        ("+18446744073709551616N", AtomKind::Integer, "18446744073709551616"),
        (r#""a\n\"\\\u00e9\ud83d\ude00\101""#, AtomKind::Text, "a\n\"\\é😀A"),
        (":a/b", AtomKind::Term, ":a/b"),
        ("x", AtomKind::Term, "x"),
        ("-", AtomKind::Term, "-"),
        (r"\u0041", AtomKind::Term, r"\A"),
        (r"\newline", AtomKind::Term, r"\newline"),
        (r"\(", AtomKind::Term, r"\("),
        (r"\o101", AtomKind::Term, r"\A"),
        ("+1.50M", AtomKind::Term, "1.50M"),
        ("-1/3", AtomKind::Term, "-1/3"),
        ("#inst\"2020\"", AtomKind::Term, "#inst \"2020\""),
    ] {
        let value = value(text, &mut values);
        assert_eq!(values.atom(value.atom_index().unwrap()), (kind, meaning), "{text}");
    }
    assert_eq!(value("nil", &mut values), Value::NIL);
    for (text, number) in [("1", 1), ("+1", 1), ("1N", 1), ("-0", 0), ("0x1F", 31), ("-12", -12)] {
        assert_eq!(value(text, &mut values), Value::small(number).unwrap(), "{text}");
    }
}

#[test]
fn equal_composite_forms_have_equal_text() {
    for (text, expected) in [
        ("{:b 1, :a  2N}", "{:a 2 :b 1}"),
        ("#{3 1 #_ 9 2}", "#{1 2 3}"),
        ("(1 ; comment\n 2)", "(1 2)"),
        ("#t{:b [1,2] :a #{}}", "#t {:a #{} :b [1 2]}"),
        ("^{:meta 1} {}", "{}"),
        ("{[2] {} [1] ()}", "{[1] () [2] {}}"),
        ("#_#_ 1 2 :k", ":k"),
        ("#a #b [\"x\"]", "#a #b [\"x\"]"),
    ] {
        assert_eq!(canonical(text), expected, "{text}");
    }
}

#[test]
fn what_is_written_is_read_back_as_the_same_value() {
    let mut values = Values::default();
    let atoms = [
        values.intern(AtomKind::Text, "a \"quoted\" \\ line\n\u{7f}\u{1}é😀"),
        values.intern(AtomKind::Text, ""),
        values.intern(AtomKind::Term, "[:anti 5]"),
        values.intern(AtomKind::Term, "#isoscope/scalar [1]"),
        values.intern(AtomKind::Term, "{:a 1}"),
        values.intern(AtomKind::Term, "(1 2)"),
        values.intern(AtomKind::Term, ":k"),
        values.decimal("-18446744073709551616"),
        values.integer(i64::MIN),
        values.integer(-7),
        values.float(1e300),
        values.float(-1e-7),
        values.float(f64::INFINITY),
        values.float(f64::NAN),
        values.boolean(false),
        Value::NIL,
    ];
    for atom in atoms {
        let text = written(&values, atom);
        assert_eq!(value(&text, &mut values), atom, "{text}");
    }
    let list = values.push_list(atoms);
    let text = written(&values, list);
    let again = value(&text, &mut values);
    assert_eq!(values.as_list(again), Some(&atoms[..]), "{text}");
}

#[test]
fn malformed_text_is_told_from_text_that_is_cut_off() {
    let mut values = Values::default();
    for text in ["[1", "\"a", "{:a", "#", "#_", "^", "\\", "#{1", "#tag", "\"\\", "[\"\\\"", ""] {
        let fault = whole_value(text, &mut values).unwrap_err();
        assert!(matches!(fault, Fault::CutOff), "{text}: {fault:?}");
        values.truncate_lists(0);
    }
    for text in [
        "]",
        "(1]",
        "1x",
        "01",
        ":",
        "{:a}",
        "#{1 1}",
        "\"\\q\"",
        "\"\\ud83d\"",
        "1 2",
        "##X",
        "1/0",
        "\\ab",
        "[#a ]",
    ] {
        let fault = whole_value(text, &mut values).unwrap_err();
        assert!(matches!(fault, Fault::Malformed(_)), "{text}: {fault:?}");
        values.truncate_lists(0);
    }
}

#[test]
fn a_token_at_the_end_of_a_block_may_go_on() {
    let mut values = Values::default();
    for text in ["1", "abc", ":k", "nil", "#", "; comment", "\\a"] {
        let fault = Cursor::new(text, false).value(&mut values);
        assert!(matches!(fault, Err(Fault::CutOff)), "{text}: {fault:?}");
    }
    assert!(Cursor::new("[1 2]", false).value(&mut values).is_ok());
}

#[test]
fn skipping_takes_exactly_one_form() {
    for form in [
        "{:a [1 2 {\"}\" #{\\} \\\"}}] ; }\n }",
        "#object[java.lang.Object 0x1f \"x\"]",
        "#_ a #_ b c",
        "^{:m 1} ^:n [x]",
        "#\"a\\\"]\"",
        "##Inf",
        "#t #u {}",
        "\\space",
    ] {
        let text = format!("{form} rest");
        let mut cursor = Cursor::new(&text, false);
        cursor.skip_form().unwrap();
        assert_eq!(cursor.at(), form.len(), "{form}");
    }
}

#[test]
fn deep_nesting_is_an_error_and_not_a_stack_overflow() {
    for open in ["[", "{:a ", "(", "#{", "[[#t "] {
        let text = format!("[{}", open.repeat(100_000));
        let error = parse_value(&text, &mut Values::default()).unwrap_err();
        assert!(error.expected.contains("deep"), "{open}: {}", error.expected);
        assert!(matches!(Cursor::new(&text, true).skip_form(), Err(Fault::Malformed(_))));
    }
    for prefix in ["#_", "^", "#t "] {
        let text = prefix.repeat(1_000_000);
        assert!(parse_value(&text, &mut Values::default()).is_err());
    }
}

#[test]
fn a_list_of_a_million_elements_is_fine() {
    let mut values = Values::default();
    let text = format!("[{}]", "1234 ".repeat(1_000_000));
    let list = value(&text, &mut values);
    assert_eq!(values.as_list(list).unwrap().len(), 1_000_000);
}

#[test]
fn an_error_leaves_no_elements_behind() {
    let mut values = Values::default();
    assert!(parse_value("[1 2 01]", &mut values).is_err());
    let list = value("[3]", &mut values);
    assert_eq!(values.as_list(list), Some(&[Value::small(3).unwrap()][..]));
}
