//! Where runs end, and which finders a run is shown to.

use super::bytes::{
    AT, CLASS, COLON, DASH, DELIMITER, DIGIT, DISGUISE, DOT, EQUALS, HIGH, HOOK, LETTER, PERCENT, SLASH, UPPER, class,
};
use super::{LONGEST_RUN, Peek, Scan, is_cjk};
use crate::kind::{Kind, Kinds};
use crate::{decode, pii, secrets, url};

/// Runs shorter than this hold no key.
pub(super) const SHORTEST_KEY: usize = 16;
/// A long run is cut behind the last character of these that it has near its end.
const CUTS: &[u8] = b"&?=!'()[]";

impl Scan<'_> {
    /// Looks at one unit. `None`: more of the text is needed to decide.
    pub(super) fn unit(&mut self, start: usize) -> Option<usize> {
        if is_cjk(self.bytes.at(start)) {
            return self.spaceless(start);
        }
        let (end, flags) = self.run_end(start);
        if self.open(end) && end - start < LONGEST_RUN {
            return None;
        }
        let (end, flags) = if flags & AT == 0 { (end, flags) } else { self.with_host(start, end, flags)? };
        let end = self.before_key(start, end, flags);
        let special = DIGIT | AT | COLON | PERCENT | EQUALS | DISGUISE | HOOK | HIGH;
        if flags & special == 0 && end - start < SHORTEST_KEY && self.bytes.at(start) != b'-' {
            return self.plain(start, end, flags);
        }
        let first = self.found.matches.len();
        let mut end = self.special(start, end, flags)?;
        if let Some(last) = self.words_in(start, end, flags)? {
            end = end.max(last);
        }
        if flags & DIGIT != 0 {
            end = end.max(self.numbers(start, end, flags, first)?);
        }
        Some(end)
    }

    /// A run ends where a private key begins, even without a space between.
    fn before_key(&self, start: usize, end: usize, flags: u16) -> usize {
        if flags & DASH == 0 || end - start < 10 || !self.wants(Kind::PrivateKey) {
            return end;
        }
        self.slice(start, end).find("-----BEGIN").filter(|at| *at > 0).map_or(end, |at| start + at)
    }

    /// Words and their punctuation, as most of a text is.
    fn plain(&mut self, start: usize, end: usize, flags: u16) -> Option<usize> {
        if flags & LETTER != 0 && is(self.bytes.at(start), LETTER) && !is(self.bytes.at(start + 1), LETTER) {
            return self.spelled(start);
        }
        self.words_between(start, end);
        Some(end)
    }

    pub(super) fn open(&self, end: usize) -> bool {
        self.more && end >= self.bytes.len()
    }

    fn run_end(&self, start: usize) -> (usize, u16) {
        let most = (start + LONGEST_RUN).min(self.bytes.len());
        let run = self.bytes.get(start..most).unwrap_or_default();
        let mut flags = 0;
        for (at, byte) in run.iter().enumerate() {
            let class = CLASS.get(*byte as usize).copied().unwrap_or_default();
            if class & DELIMITER != 0 || is_cjk(*byte) {
                return (start + at, flags);
            }
            flags |= class;
        }
        let end = start + run.len();
        if run.len() < LONGEST_RUN { (end, flags) } else { (self.cut(end), flags) }
    }

    /// Where a run that is too long is cut: where something can end, if there is such a place near.
    fn cut(&self, end: usize) -> usize {
        let from = end.saturating_sub(512);
        let near = self.bytes.get(from..end).unwrap_or_default();
        let mut cut = near.iter().rposition(|byte| CUTS.contains(byte)).map_or(end, |at| from + at + 1);
        while !self.text.is_char_boundary(cut) {
            cut -= 1;
        }
        cut
    }

    /// Everything in a run that is more than words and numbers. Gives where the unit ends.
    fn special(&mut self, start: usize, end: usize, flags: u16) -> Option<usize> {
        let key = flags & DASH != 0 && self.wants(Kind::PrivateKey) && self.slice(start, end).starts_with("-----BEGIN");
        if key && let Some(end) = secrets::private_key(self.text, start, self.more)? {
            self.add(start, end, Kind::PrivateKey, "private-key");
            return Some(end);
        }
        let run = self.slice(start, end);
        if flags & COLON != 0 || (flags & DOT != 0 && flags & (SLASH | HOOK) != 0) {
            self.addresses(start, run);
        }
        if flags & AT != 0 && self.wants(Kind::Email) {
            for (from, to) in pii::emails(run) {
                self.add(start + from, start + to, Kind::Email, "email");
            }
        }
        if flags & (COLON | DASH | DOT) != 0 && flags & (DIGIT | LETTER) != 0 {
            self.hardware(start, run, flags);
        }
        if end - start >= SHORTEST_KEY && self.wanted.meets(Kinds::SECRETS) && flags & (DIGIT | UPPER) != 0 {
            self.keys(start, run);
        }
        if end - start >= decode::SHORTEST && self.depth < decode::DEEPEST {
            self.encoded(start, run, flags);
        }
        if self.wanted.has(Kind::Password) || self.wanted.has(Kind::ApiKey) {
            self.assigned(start, run, flags);
        }
        Some(end)
    }

    /// A run whose host goes on in a script without spaces: `jane@例え.jp`, with what is joined to it. `None`: more is
    /// needed to tell.
    fn with_host(&self, start: usize, mut end: usize, mut flags: u16) -> Option<(usize, u16)> {
        let most = (start + LONGEST_RUN).min(self.bytes.len());
        let in_host = |byte: u8| is(byte, LETTER | DIGIT | HIGH | DOT | DASH);
        while matches!(self.bytes.before(end), b'@' | b'.' | b'-') && is_cjk(self.bytes.at(end)) {
            let mut stop = (end..most).find(|at| !in_host(self.bytes.at(*at))).unwrap_or(most);
            if self.open(stop) && stop - start < LONGEST_RUN {
                return None;
            }
            while !self.text.is_char_boundary(stop) {
                stop -= 1;
            }
            flags |= self.bytes.get(end..stop).unwrap_or_default().iter().fold(0, |all, byte| all | class(*byte));
            let (next, joined) = self.run_end(stop);
            if stop <= end || next > most {
                return Some((stop, flags));
            }
            if self.open(next) {
                return None;
            }
            (end, flags) = (next, flags | joined);
        }
        Some((end, flags))
    }

    fn addresses(&mut self, start: usize, run: &str) {
        if self.wants(Kind::Url) {
            for (from, to) in url::find(run) {
                self.found.urls.push((start + from, start + to));
            }
        }
    }

    /// IPv6 and MAC addresses.
    fn hardware(&mut self, start: usize, run: &str, flags: u16) {
        if flags & COLON != 0 && self.wants(Kind::Ip) {
            for (from, to) in pii::ipv6(run) {
                self.add(start + from, start + to, Kind::Ip, "ipv6");
            }
        }
        if self.wants(Kind::Mac) && run.len() >= pii::SHORTEST_MAC {
            for (from, to) in pii::macs(run) {
                self.add(start + from, start + to, Kind::Mac, "mac");
            }
        }
    }

    fn keys(&mut self, start: usize, run: &str) {
        for (from, to, kind, rule) in secrets::keys(run) {
            self.add(start + from, start + to, kind, rule);
        }
    }

    /// What a run says when it is decoded, found again in the run as a whole.
    fn encoded(&mut self, start: usize, run: &str, flags: u16) {
        for (from, to, text) in decode::texts(run, flags & PERCENT != 0) {
            let (_, found) = Scan::new(&text, self.wanted.without(Kind::Url), 0).depth(self.depth + 1).run(0);
            if let Some(inner) = found.matches.iter().min_by_key(|inner| inner.kind) {
                self.add(start + from, start + to, inner.kind, inner.rule);
            }
            if self.wants(Kind::Injection) && crate::injection::judge(&text, &found.hits).score >= 1.0 {
                self.add(start + from, start + to, Kind::Injection, "encoded");
            }
        }
    }

    /// A value behind a word for secrets: `password=…`, `token: …`.
    fn assigned(&mut self, start: usize, run: &str, flags: u16) {
        let value = match secrets::assignment(run, flags & (EQUALS | COLON) != 0) {
            Some(found) => Some(found),
            None => secrets::value_behind(self.text, start, run, &self.context),
        };
        if let Some((from, to, kind, rule)) = value {
            let taken =
                self.found.matches.iter().rev().take(8).any(|one| one.start <= start + from && one.end > start + from);
            if !taken {
                self.add(start + from, start + to, kind, rule);
            }
        }
    }

    /// A run of a script without spaces.
    fn spaceless(&mut self, start: usize) -> Option<usize> {
        let most = (start + LONGEST_RUN).min(self.bytes.len());
        let run = self.bytes.get(start..most).unwrap_or_default();
        // Characters of three and four bytes, told by their first; U+3000 to U+303F is punctuation.
        let stops = |at: usize, byte: u8| {
            byte < 0x80
                || (0xc0..0xe3).contains(&byte)
                || (at > 0 && byte == 0xe3 && matches!((run.at(at + 1), run.at(at + 2)), (0x80, 0x80..=0xbf)))
        };
        let end = run.iter().enumerate().position(|(at, byte)| stops(at, *byte)).unwrap_or(run.len());
        let mut end = start + end;
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        if self.open(end) && end - start < LONGEST_RUN - 4 {
            return None;
        }
        self.phrases(start, end);
        Some(end)
    }
}

/// Whether a byte is of a kind.
pub(super) fn is(byte: u8, kind: u16) -> bool {
    class(byte) & kind != 0
}
