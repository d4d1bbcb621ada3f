//! Numbers of digits only.

use crate::pii::checksum::{luhn, mod_11_10, uniform, verhoeff, weighted};
use crate::scan::Digits;

type Check = fn(&Digits) -> bool;

/// Rule, form and check.
pub(super) const FORMATTED: &[(&str, &str, Check)] = &[
    ("br-cpf", "###.###.###-##", cpf),
    ("br-cnpj", "##.###.###/####-##", cnpj),
    ("ch-ahv", "756.####.####.##", ahv),
    ("ca-sin", "### ### ###", sin),
    ("ca-sin", "###-###-###", sin),
    ("in-aadhaar", "#### #### ####", aadhaar),
    ("in-aadhaar", "####-####-####", aadhaar),
    ("kr-rrn", "######-#######", rrn),
    ("se-personnummer", "######-####", personnummer),
    ("se-personnummer", "########-####", personnummer),
    ("cz-rodne-cislo", "######/####", rodne_cislo),
    ("ar-cuit", "##-########-#", cuit),
    ("cl-rut", "##.###.###-#", rut),
    ("ru-snils", "###-###-### ##", snils),
    ("th-tnin", "#-####-#####-##-#", thai),
    ("fr-nir", "# ## ## ## ### ### ##", nir),
    ("au-abn", "## ### ### ###", abn),
    ("de-tax-id", "## ### ### ###", tax_id),
    ("no-fodselsnummer", "###### #####", fodselsnummer),
    ("cn-resident-id", "##################", resident_id),
];

/// Rule, number of digits and check.
pub(super) const ASKED: &[(&str, usize, Check)] = &[
    ("nl-bsn", 9, bsn),
    ("ca-sin", 9, sin),
    ("au-tfn", 9, tfn),
    ("us-routing", 9, routing),
    ("il-id", 9, israeli),
    ("uk-nhs", 10, nhs),
    ("us-npi", 10, npi),
    ("bg-egn", 10, egn),
    ("pl-nip", 10, nip),
    ("ru-inn", 10, inn),
    ("se-personnummer", 10, personnummer),
    ("dk-cpr", 10, born_first),
    ("au-medicare", 10, medicare),
    ("de-tax-id", 11, tax_id),
    ("pl-pesel", 11, pesel),
    ("br-cpf", 11, cpf),
    ("tr-tckn", 11, tckn),
    ("no-fodselsnummer", 11, fodselsnummer),
    ("ee-isikukood", 11, isikukood),
    ("hr-oib", 11, mod_11_10_digits),
    ("au-abn", 11, abn),
    ("in-aadhaar", 12, aadhaar),
    ("jp-my-number", 12, my_number),
    ("za-id", 13, south_african),
    ("th-tnin", 13, thai),
    ("kr-rrn", 13, rrn),
    ("ro-cnp", 13, cnp),
    ("ch-ahv", 13, ahv),
    ("br-cnpj", 14, cnpj),
    ("fr-nir", 15, nir),
    ("cn-resident-id", 18, resident_id),
];

fn day(month: u64, day: u64) -> bool {
    (1..=12).contains(&month) && (1..=31).contains(&day)
}

/// Year, month, day.
fn born(digits: &Digits) -> bool {
    day(digits.number(2..4), digits.number(4..6))
}

/// Day, month, year.
fn born_first(digits: &Digits) -> bool {
    day(digits.number(2..4), digits.number(0..2))
}

/// Whether the last digit is what the weights of the others make, modulo eleven; ten counts as `ten`.
fn eleven(digits: &Digits, length: usize, weights: &[u32], ten: u32) -> bool {
    let rest = weighted(digits.values().get(..length).unwrap_or_default(), weights) % 11;
    (if rest == 10 { ten } else { rest }) == u32::from(digits.at(length))
}

fn cpf(digits: &Digits) -> bool {
    let place = |length: usize| {
        let sum: u32 =
            (0..length).map(|at| u32::from(digits.at(at)) * u32::try_from(length + 1 - at).unwrap_or(0)).sum();
        (sum * 10 % 11 % 10) == u32::from(digits.at(length))
    };
    !uniform(digits.values()) && place(9) && place(10)
}

fn cnpj(digits: &Digits) -> bool {
    let place = |length: usize, weights: &[u32]| {
        let rest = weighted(digits.values().get(..length).unwrap_or_default(), weights) % 11;
        (if rest < 2 { 0 } else { 11 - rest }) == u32::from(digits.at(length))
    };
    !uniform(digits.values())
        && place(12, &[5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2])
        && place(13, &[6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2])
}

fn ahv(digits: &Digits) -> bool {
    digits.number(0..3) == 756 && weighted(digits.values(), &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]).is_multiple_of(10)
}

fn sin(digits: &Digits) -> bool {
    !matches!(digits.at(0), 0 | 8) && luhn(digits.values()) && !uniform(digits.values())
}

fn aadhaar(digits: &Digits) -> bool {
    digits.at(0) >= 2 && verhoeff(digits.values()) && !uniform(digits.values())
}

fn rrn(digits: &Digits) -> bool {
    let sum = weighted(digits.values(), &[2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]);
    born(digits) && (1..=8).contains(&digits.at(6)) && (11 - sum % 11) % 10 == u32::from(digits.at(12))
}

fn personnummer(digits: &Digits) -> bool {
    let skipped = digits.values().len().saturating_sub(10);
    let last = digits.values().get(skipped..).unwrap_or_default();
    let month = digits.number(skipped + 2..skipped + 4);
    let born = digits.number(skipped + 4..skipped + 6);
    luhn(last) && (1..=12).contains(&month) && (1..=91).contains(&born)
}

fn rodne_cislo(digits: &Digits) -> bool {
    let month = digits.number(2..4) % 50 % 20;
    digits.number(0..10).is_multiple_of(11) && day(month, digits.number(4..6))
}

fn cuit(digits: &Digits) -> bool {
    let rest = 11 - weighted(digits.values(), &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
    (if rest == 11 { 0 } else { rest }) == u32::from(digits.at(10)) && matches!(digits.at(0), 2 | 3)
}

fn rut(digits: &Digits) -> bool {
    11 - weighted(digits.values(), &[3, 2, 7, 6, 5, 4, 3, 2]) % 11 == u32::from(digits.at(8))
}

fn snils(digits: &Digits) -> bool {
    let sum = weighted(digits.values(), &[9, 8, 7, 6, 5, 4, 3, 2, 1]);
    u64::from(sum % 101 % 100) == digits.number(9..11)
}

fn thai(digits: &Digits) -> bool {
    let sum = weighted(digits.values(), &[13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
    digits.at(0) != 0 && (11 - sum % 11) % 10 == u32::from(digits.at(12))
}

fn nir(digits: &Digits) -> bool {
    let month = digits.number(3..5);
    matches!(digits.at(0), 1 | 2)
        && (1..=42).contains(&month)
        && 97 - digits.number(0..13) % 97 == digits.number(13..15)
}

fn abn(digits: &Digits) -> bool {
    let mut values: Vec<u8> = digits.values().to_vec();
    match values.first_mut() {
        Some(first) if *first > 0 => *first -= 1,
        _ => return false,
    }
    weighted(&values, &[10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]).is_multiple_of(89)
}

fn tax_id(digits: &Digits) -> bool {
    let mut counts = [0_u8; 10];
    for digit in digits.values().iter().take(10) {
        if let Some(count) = counts.get_mut(usize::from(*digit)) {
            *count += 1;
        }
    }
    // One digit occurs twice or three times, so another is missing.
    digits.at(0) != 0 && counts.iter().all(|count| *count <= 3) && counts.contains(&0) && mod_11_10(digits.values())
}

fn mod_11_10_digits(digits: &Digits) -> bool {
    mod_11_10(digits.values())
}

fn fodselsnummer(digits: &Digits) -> bool {
    let first = (11 - weighted(digits.values(), &[3, 7, 6, 1, 8, 9, 4, 5, 2]) % 11) % 11;
    let second = (11 - weighted(digits.values(), &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11) % 11;
    u32::from(digits.at(9)) == first && u32::from(digits.at(10)) == second
}

fn resident_id(digits: &Digits) -> bool {
    let rest = weighted(digits.values(), &[7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11;
    let year = digits.number(6..10);
    (1900..=2100).contains(&year)
        && day(digits.number(10..12), digits.number(12..14))
        && rest != 2
        && (12 - rest) % 11 == u32::from(digits.at(17))
}

fn bsn(digits: &Digits) -> bool {
    let sum = i64::from(weighted(digits.values(), &[9, 8, 7, 6, 5, 4, 3, 2])) - i64::from(digits.at(8));
    sum % 11 == 0 && !uniform(digits.values())
}

fn tfn(digits: &Digits) -> bool {
    weighted(digits.values(), &[1, 4, 3, 7, 5, 8, 6, 9, 10]).is_multiple_of(11) && !uniform(digits.values())
}

fn routing(digits: &Digits) -> bool {
    matches!(digits.number(0..2), 1..=12 | 21..=32 | 61..=72 | 80)
        && weighted(digits.values(), &[3, 7, 1, 3, 7, 1, 3, 7, 1]).is_multiple_of(10)
}

fn israeli(digits: &Digits) -> bool {
    luhn(digits.values()) && !uniform(digits.values())
}

fn nhs(digits: &Digits) -> bool {
    let rest = 11 - weighted(digits.values(), &[10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    rest % 11 == u32::from(digits.at(9)) && rest != 10 && !uniform(digits.values())
}

fn npi(digits: &Digits) -> bool {
    let mut values = vec![8, 0, 8, 4, 0];
    values.extend_from_slice(digits.values());
    matches!(digits.at(0), 1 | 2) && luhn(&values)
}

fn egn(digits: &Digits) -> bool {
    eleven(digits, 9, &[2, 4, 8, 5, 10, 9, 7, 3, 6], 0) && day(digits.number(2..4) % 20, digits.number(4..6))
}

fn nip(digits: &Digits) -> bool {
    eleven(digits, 9, &[6, 5, 7, 2, 3, 4, 5, 6, 7], 11)
}

fn inn(digits: &Digits) -> bool {
    eleven(digits, 9, &[2, 4, 10, 3, 5, 9, 4, 6, 8], 0)
}

fn medicare(digits: &Digits) -> bool {
    let sum = weighted(digits.values(), &[1, 3, 7, 9, 1, 3, 7, 9]);
    (2..=6).contains(&digits.at(0)) && sum % 10 == u32::from(digits.at(8))
}

fn pesel(digits: &Digits) -> bool {
    let sum = weighted(digits.values(), &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]);
    (10 - sum % 10) % 10 == u32::from(digits.at(10)) && day(digits.number(2..4) % 20, digits.number(4..6))
}

fn tckn(digits: &Digits) -> bool {
    let odd: u32 = [0, 2, 4, 6, 8].iter().map(|at| u32::from(digits.at(*at))).sum();
    let even: u32 = [1, 3, 5, 7].iter().map(|at| u32::from(digits.at(*at))).sum();
    let tenth = (odd * 7 + 100 - even) % 10;
    let all: u32 = digits.values().iter().take(10).map(|digit| u32::from(*digit)).sum();
    digits.at(0) != 0 && tenth == u32::from(digits.at(9)) && all % 10 == u32::from(digits.at(10))
}

fn isikukood(digits: &Digits) -> bool {
    let first = weighted(digits.values(), &[1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11;
    let second = weighted(digits.values(), &[3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11;
    let check = if first < 10 { first } else { second % 10 };
    (1..=8).contains(&digits.at(0))
        && day(digits.number(3..5), digits.number(5..7))
        && check == u32::from(digits.at(10))
}

fn my_number(digits: &Digits) -> bool {
    let rest = weighted(digits.values(), &[6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
    (if rest <= 1 { 0 } else { 11 - rest }) == u32::from(digits.at(11)) && !uniform(digits.values())
}

fn south_african(digits: &Digits) -> bool {
    born(digits) && matches!(digits.at(10), 0..=2) && luhn(digits.values())
}

fn cnp(digits: &Digits) -> bool {
    let rest = weighted(digits.values(), &[2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11;
    (if rest == 10 { 1 } else { rest }) == u32::from(digits.at(12)) && day(digits.number(3..5), digits.number(5..7))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One number for each rule, as registers and textbooks print them.
    const SAMPLES: &[(&str, &str)] = &[
        ("br-cpf", "390.533.447-05"),
        ("br-cnpj", "16.727.230/0001-97"),
        ("ch-ahv", "756.9217.0769.85"),
        ("ca-sin", "123-456-782"),
        ("in-aadhaar", "2341 2341 2346"),
        ("kr-rrn", "960121-3013691"),
        ("se-personnummer", "880320-0016"),
        ("se-personnummer", "19880320-0016"),
        ("cz-rodne-cislo", "710319/2745"),
        ("ar-cuit", "20-05536168-2"),
        ("cl-rut", "76.086.428-5"),
        ("ru-snils", "112-233-445 95"),
        ("th-tnin", "1-2345-67890-12-1"),
        ("fr-nir", "2 95 10 99 126 111 93"),
        ("au-abn", "83 914 571 673"),
        ("de-tax-id", "36 574 261 809"),
        ("no-fodselsnummer", "151086 95088"),
        ("cn-resident-id", "360426199101010071"),
        ("nl-bsn", "111222333"),
        ("au-tfn", "123456782"),
        ("us-routing", "111000025"),
        ("il-id", "039337423"),
        ("uk-nhs", "9434765870"),
        ("us-npi", "1234567893"),
        ("bg-egn", "7523169263"),
        ("pl-nip", "8567346215"),
        ("ru-inn", "7707083893"),
        ("dk-cpr", "2110625629"),
        ("au-medicare", "2123456701"),
        ("pl-pesel", "44051401359"),
        ("tr-tckn", "17291716060"),
        ("ee-isikukood", "36805280109"),
        ("hr-oib", "33392005961"),
        ("jp-my-number", "123456789018"),
        ("za-id", "7503305044089"),
        ("ro-cnp", "1630615123457"),
    ];

    /// The digit that the others decide, and where nothing does, one of the month.
    fn checked(rule: &str, length: usize) -> usize {
        match rule {
            "dk-cpr" => 2,
            "au-medicare" => 8,
            _ => length - 1,
        }
    }

    fn digits(number: &str) -> String {
        number.chars().filter(char::is_ascii_digit).collect()
    }

    #[test]
    fn every_rule_tells_a_right_number_from_a_wrong_one() {
        let written = FORMATTED.iter().map(|(rule, form, check)| {
            (*rule, form.chars().filter(|one| *one == '#' || one.is_ascii_digit()).count(), *check)
        });
        for (rule, length, check) in written.chain(ASKED.iter().copied()) {
            let sample = SAMPLES.iter().find(|(of, number)| *of == rule && digits(number).len() == length);
            let (_, number) = sample.unwrap_or_else(|| panic!("{rule} of {length} digits has no sample"));
            let right = digits(number);
            assert!(check(&Digits::of(&right)), "{rule}: {number}");
            let mut wrong = right.into_bytes();
            let place = checked(rule, length);
            wrong[place] = if wrong[place] == b'9' { b'0' } else { wrong[place] + 1 };
            let wrong = String::from_utf8(wrong).unwrap();
            assert!(!check(&Digits::of(&wrong)), "{rule}: {wrong}");
        }
    }
}
