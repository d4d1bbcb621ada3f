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
        ("Το τηλέφωνό μου είναι 2690 537 728", "2690 537 728"),
        ("Proszę o kontakt pod numerem 784 618 899", "784 618 899"),
        ("Può contattarmi al numero 098445328", "098445328"),
        ("06-5/259 5333", "06-5/259 5333"),
        ("(2) 2124 4183", "(2) 2124 4183"),
        ("(351) 928588345", "(351) 928588345"),
        ("(0616) 190234469", "(0616) 190234469"),
        ("my phone is 9527.1885", "9527.1885"),
        ("Fax the form to 938 1 178", "938 1 178"),
        ("home 984-1228893", "984-1228893"),
        ("Anna (+4915112345678)", "+4915112345678"),
        ("Auckland 09-3390824", "09-3390824"),
        ("Anna ((0161) 496 0312)", "(0161) 496 0312"),
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
        "office space of 984 units, 1228893",
        "The book 0-8367-9160-6",
        "The book 0-947167-20-X",
        "phone bill, version 12.1.198",
        "Faktura 079-7172200",
        "Your loan 0431854289 was approved",
        "tracking 6411 0847 2363 0327 2188 32",
        "Parcel 6248 4463 0114 0193 9793 08",
        "EIN 09-3390824",
        "Employer identification number 01-3330985",
        "a sum of 9527.1885",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn a_plus_and_groups_are_a_telephone_even_where_no_country_has_such_numbers() {
    for text in ["+28 415-209 6630", "+54 9 3886 2125", "+84-09-052875", "+34.375 6435 885"] {
        is(text, "pii.phone", text);
    }
    is("+44 20 7946 0958 12 pieces", "pii.phone", "+44 20 7946 0958");
    for text in ["a change of +28 415 209 663", "+28 33 61", "+999.123.456.789"] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn a_value_has_its_own_name() {
    is("phone=098-5002-264 ts=1674710560 v=12.1.198", "pii.phone", "098-5002-264");
    is("ticket=2024-508066 phone=+377 99 10 05 97", "pii.phone", "+377 99 10 05 97");
    is("SET phone='622 4417' WHERE id=34363005", "pii.phone", "622 4417");
    is(r#"{"mobileNumber": "21 14 54 38", "id": "79996748"}"#, "pii.phone", "21 14 54 38");
    is("phone: 5551234567\nid: 1674710560", "pii.phone", "5551234567");
    is("customer_phone_number=5551234567", "pii.phone", "5551234567");
    is("Mobile number: 5551234567", "pii.phone", "5551234567");
    is("my phones\nHome: 5551234567", "pii.phone", "5551234567");
    is("Primary phone: 5551234567\nInsurance ID: 4161047765", "pii.phone", "5551234567");
    is(r#"<system value="phone"/><value value="24205541"/>"#, "pii.phone", "24205541");
    is("MRN: 459189890\nSSN: 623-58-1115", "pii.ssn", "623-58-1115");
    is("ring our support line (0313803249)", "pii.phone", "0313803249");
    is("hey whats ur number\nBrian: its 4815927244", "pii.phone", "4815927244");
    let both = found("Handynummer: 06483/53667986\nTarif: 4180520692233");
    assert_eq!(both.iter().map(|(rule, _)| rule.as_str()).collect::<Vec<_>>(), ["pii.phone", "pii.card"]);
}

#[test]
fn postal_codes_and_days_are_no_telephones() {
    for text in [
        "Cambridge, MA 02139-4307",
        "Phone and address: 9 Elm, Salem, MA 01970-3502",
        "07805-1121",
        "call before 19881009",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
    is("phone 02139-4307", "pii.phone", "02139-4307");
    is("tlf. 20121112", "pii.phone", "20121112");
}

#[test]
fn social_security_numbers_are_told_from_postal_codes() {
    for (text, part) in [
        ("078-051121", "078-051121"),
        ("SSN: 078-05 1126", "078-05 1126"),
        ("ssn 07805-1121", "07805-1121"),
        ("078051121", "078051121"),
        ("536220001 (SSN)", "536220001"),
    ] {
        is(text, "pii.ssn", part);
    }
    is("his ssn: 231-32-5214, born in 40344-3620", "pii.ssn", "231-32-5214");
    // In three digits and six only where nothing else is said.
    is("call 078-051121", "pii.phone", "078-051121");
    // What is nearer counts.
    is("SSN none, phone (211083647)", "pii.phone", "211083647");
    is("phone none, SSN (211083647)", "pii.ssn", "211083647");
    for text in
        ["40344-3620", "order 078051121", "666-12-3456", "078-00-1123", "number 234-051121", "โทรหาฉันที่ 076287550"]
    {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn times_near_a_card_are_no_cards() {
    is("card 4111 1111 1111 1111 declined trace=1657888906449", "pii.card", "4111 1111 1111 1111");
    is("122000000000003", "pii.card", "122000000000003");
    is("paid by 4111 1111 1111 1111 1225 123", "pii.card", "4111 1111 1111 1111");
    is("order 4111 1111 1111 1111", "pii.card", "4111 1111 1111 1111");
}

#[test]
fn what_a_short_number_is_called_decides_whether_it_is_a_card() {
    for (text, part) in [
        ("Please charge 060423027543", "060423027543"),
        ("3515826380891655", "3515826380891655"),
        ("Contactez Anne au +33 1 23 45 67 89 ; la carte 676159483905", "676159483905"),
    ] {
        assert!(found(text).contains(&("pii.card".to_owned(), part)), "{text}");
    }
    is("card number 60116269618560571222", "pii.card", "60116269618560571222");
    for text in
        ["Account: 644995086902", "3515826380891656", "060423027544", "60116269618560571222", "IMEI 61-584896-231324-2"]
    {
        assert!(!found(text).iter().any(|(rule, _)| rule == "pii.card"), "{text}");
    }
}

#[test]
fn mailboxes_are_told_from_repositories() {
    is("to jane@例え.jp, please", "pii.email", "jane@例え.jp");
    is("メールはjane@example.comです", "pii.email", "jane@example.com");
    assert_eq!(found("git@github.com:pleat/pleat.git"), []);
    let both = found("jane@例え.jp078051121joe@example.com");
    assert_eq!(both.len(), 2, "{both:?}");
}
