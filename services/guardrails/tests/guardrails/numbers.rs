//! Numbers that look like others: what each is taken for.

use pleat_guardrails::{Guard, Policy, Side};

fn found(text: &str) -> Vec<(String, &str)> {
    let guard = Guard::new(&Policy::parse(r#"{"action":"warn","checks":[{"type":"pii"}]}"#).unwrap());
    let mut places = guard.places(Side::Input, text);
    places.sort_by_key(|place| place.start);
    places.into_iter().map(|place| (place.rule, &text[place.start..place.end])).collect()
}

fn is(text: &str, rule: &str, part: &str) {
    assert_eq!(found(text), [(rule.to_owned(), part)], "{text}");
}

#[test]
fn addresses_of_machines_are_found_with_what_is_written_to_them() {
    is("blocked 186.10.56.57:8080 today", "pii.ip", "186.10.56.57");
    is("ip:10.0.0.1", "pii.ip", "10.0.0.1");
    is("10.0.0.0/8", "pii.ip", "10.0.0.0");
    for text in ["1.3.6.1.4.1", "version 10.0.19041.1", "10.1038/s32610-000-85771"] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn telephones_are_found_in_the_shapes_of_many_countries() {
    for (text, part) in [
        ("+46.70.123.45.42", "+46.70.123.45.42"),
        ("+972 62 0128 886", "+972 62 0128 886"),
        ("+420 95 2619-996", "+420 95 2619-996"),
        ("+32-12-35-04-25", "+32-12-35-04-25"),
        ("tel:06-11-63-15-04", "06-11-63-15-04"),
        ("01512 3476799", "01512 3476799"),
        ("07348/37261675", "07348/37261675"),
        ("03/ 016 61 31", "03/ 016 61 31"),
        ("8-(301)-123-45-15", "8-(301)-123-45-15"),
        ("612 04 15 82", "612 04 15 82"),
        ("43 2917-0342", "43 2917-0342"),
        ("電話番号は512-783-0519です", "512-783-0519"),
        ("我的手机号是13812345678。", "13812345678"),
        ("Τηλέφωνο: 2101234567", "2101234567"),
    ] {
        is(text, "pii.phone", part);
    }
}

#[test]
fn what_is_written_like_a_telephone_is_left() {
    for text in [
        "Our office: 1975-11-21T23:25:41.211140",
        "Our office: INV-2024-90375",
        "office: 1-68239-712-2",
        "call ORD-0123456789",
        "phone bill of 10.103820",
        "ticket #0123456789",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn social_security_numbers_are_told_from_postal_codes() {
    for (text, part) in [
        ("SSN: 078-05 1126", "078-05 1126"),
        ("ssn 07805-1121", "07805-1121"),
        ("078051121", "078051121"),
        ("536220001 (SSN)", "536220001"),
    ] {
        is(text, "pii.ssn", part);
    }
    is("his ssn: 231-32-5214, born in 40344-3620", "pii.ssn", "231-32-5214");
    for text in ["40344-3620", "order 078051121", "666-12-3456", "078-00-1123"] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn times_near_a_card_are_no_cards() {
    is("card 4111 1111 1111 1111 declined trace=1657888906449", "pii.card", "4111 1111 1111 1111");
    is("122000000000003", "pii.card", "122000000000003");
}

#[test]
fn mailboxes_are_told_from_repositories() {
    is("to jane@例え.jp, please", "pii.email", "jane@例え.jp");
    is("メールはjane@example.comです", "pii.email", "jane@example.com");
    assert_eq!(found("git@github.com:pleat/pleat.git"), []);
}
