//! Letters and digits in one: account numbers, wallets, identity numbers.

use super::bytes::{DIGIT, HIGH, LETTER};
use super::run::is;
use super::{BEFORE, Peek, Scan};
use crate::kind::Kind;
use crate::lexicon::class::{ID, WALLET};
use crate::pii;

impl Scan<'_> {
    /// Looks at each token of a run. Gives where the unit ends if an account number goes on behind the run.
    pub(super) fn tokens(&mut self, start: usize, end: usize) -> Option<Option<usize>> {
        let mut unit = None;
        let mut at = start;
        while at < end {
            if !is(self.bytes.at(at), LETTER | DIGIT | HIGH) {
                at += 1;
                continue;
            }
            let from = at;
            let (mut letters, mut digits) = (false, false);
            while at < end && is(self.bytes.at(at), LETTER | DIGIT | HIGH) {
                letters |= is(self.bytes.at(at), LETTER);
                digits |= is(self.bytes.at(at), DIGIT);
                at += 1;
            }
            if !letters || !digits {
                continue;
            }
            if self.wants(Kind::Iban) && is(self.bytes.at(from), LETTER) {
                match pii::iban(self.text, from, self.more) {
                    pii::Iban::Open => return None,
                    pii::Iban::Until(to) => {
                        self.add(from, to, Kind::Iban, "iban");
                        at = at.max(to);
                        unit = Some(at);
                        continue;
                    }
                    pii::Iban::No => {}
                }
            }
            self.token(from, at, end);
        }
        Some(unit)
    }

    fn token(&mut self, from: usize, to: usize, end: usize) {
        let token = self.slice(from, to);
        if self.wants(Kind::Wallet) && token.len() >= pii::SHORTEST_WALLET {
            let asked = self.context.near(WALLET, from, BEFORE);
            if let Some(rule) = pii::wallet(token, asked) {
                self.add(from, to, Kind::Wallet, rule);
                return;
            }
        }
        if self.wants(Kind::NationalId) && token.len() <= pii::LONGEST_ID {
            let asked = self.context.near(ID, from, BEFORE);
            if let Some((length, rule)) = pii::lettered(self.slice(from, end), token.len(), asked) {
                let prior = self.bytes.before(from);
                if !matches!(prior, b'-' | b'_' | b'/' | b'.') {
                    self.add(from, from + length, Kind::NationalId, rule);
                }
            }
        }
    }
}
