//! One text under the checks of one side: everything found, each with the checks that asked for it.

use crate::fold::{Folded, is_ignorable};
use crate::injection;
use crate::kind::{Kind, Kinds};
use crate::lexicon::Classes;
use crate::lexicon::class::{ENCODE, EVADE, IGNORE, NOT, PERSONA, REVEAL, ROLE, WHAT};
use crate::policy::{Check, CheckType, Config};
use crate::scan::{Ages, Found, Scan};
use crate::work::Work;
use crate::{decode, secrets, unicode, url};

/// Patterns and terms see a line at a time, and of a long line so many bytes.
const LONGEST_PIECE: usize = 1024;

/// Words with which rules for injections begin, in all languages.
const BEGINNINGS: Classes = IGNORE | EVADE | REVEAL | NOT | PERSONA | ROLE | WHAT;
/// Longer texts are not read backwards.
const LONGEST_TURNED: usize = 4096;

/// A place in the text as it was written, and the check that takes exception to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: Kind,
    pub(crate) rule: &'static str,
    /// Which check of the plan.
    pub(crate) check: usize,
    /// It has begun in another text.
    pub(crate) goes_on: bool,
}

/// The checks that look at one side of a call, and what they need together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    pub(crate) checks: Vec<Check>,
    pub(crate) kinds: Kinds,
    /// Some check has a pattern or terms.
    pub(crate) pieces: bool,
    /// Which these are.
    by_piece: Vec<usize>,
}

impl Plan {
    pub(crate) fn new(checks: Vec<Check>) -> Self {
        let kinds = checks.iter().fold(Kinds::NONE, |kinds, check| kinds.and(wanted(check)));
        let in_pieces = |check: &Check| matches!(check.config, Config::Pattern(_) | Config::Denylist(_));
        let by_piece: Vec<usize> =
            checks.iter().enumerate().filter(|(_, check)| in_pieces(check)).map(|(at, _)| at).collect();
        Self { checks, kinds, pieces: !by_piece.is_empty(), by_piece }
    }

    /// Whether texts have to be looked at at all.
    pub(crate) fn reads(&self) -> bool {
        self.kinds != Kinds::NONE || self.pieces
    }

    pub(crate) fn has(&self, check: CheckType) -> bool {
        self.checks.iter().any(|one| one.check == check)
    }

    /// Everything in a text.
    pub(crate) fn spots(&self, text: &str) -> Vec<Spot> {
        self.spots_of(self.kinds, text, 0, &mut Work::default()).0
    }

    /// What of some kinds is in a text, and whether it has words that injections begin with. `hint`: what the name of
    /// the member says whose value it is.
    pub(crate) fn spots_of(&self, kinds: Kinds, text: &str, hint: Classes, work: &mut Work) -> (Vec<Spot>, bool) {
        let mut spots = Vec::new();
        let mut suspicious = false;
        if text.is_empty() {
            return (spots, suspicious);
        }
        let folded = Folded::new(text);
        if kinds != Kinds::NONE {
            let (_, found) = Scan::new(&folded.text, kinds, hint).run(0);
            self.gather(&folded, &found, &mut spots);
            if kinds.has(Kind::Injection) {
                self.judge(text, &folded, &found, &mut spots);
                suspicious = found.hits.iter().any(|hit| hit.classes & BEGINNINGS != 0);
            }
            if kinds.meets(Kinds::UNICODE) {
                self.hidden(text, &folded, 0..text.len(), &mut spots);
            }
        }
        if self.pieces {
            self.in_pieces(text, &folded, 0, false, work, &mut spots);
        }
        (spots, suspicious)
    }

    /// What can be decided of a text that goes on, from a place on: units first. Gives how far that is.
    pub(crate) fn units(
        &self,
        text: &str,
        folded: &Folded<'_>,
        from: usize,
        ages: &mut Ages,
        more: bool,
        spots: &mut Vec<Spot>,
    ) -> usize {
        let start = folded.folded(from);
        let kinds = self.kinds.without(Kind::Injection);
        let (decided, found) = Scan::new(&folded.text, kinds, 0).more(more).resumed(ages, start).run(start);
        *ages = found.ages;
        let decided = if more && decided >= folded.text.len() {
            // What is invisible at the end belongs to what follows it.
            text.trim_end_matches(is_ignorable).len().max(from)
        } else {
            folded.place(decided).max(from)
        };
        self.gather(folded, &found, spots);
        self.hidden(text, folded, from..decided, spots);
        decided
    }

    /// Patterns and terms, piece by piece. Gives how far that is.
    pub(crate) fn in_pieces(
        &self,
        text: &str,
        folded: &Folded<'_>,
        from: usize,
        more: bool,
        work: &mut Work,
        spots: &mut Vec<Spot>,
    ) -> usize {
        let mut at = from;
        while at < text.len() {
            let Some(end) = piece_end(text, at, more) else { break };
            work.allow(end - at);
            self.piece(text, folded, at..end, work, spots);
            at = end;
        }
        at
    }

    fn piece(
        &self,
        text: &str,
        folded: &Folded<'_>,
        range: std::ops::Range<usize>,
        work: &mut Work,
        spots: &mut Vec<Spot>,
    ) {
        let written = text.get(range.clone()).unwrap_or_default();
        let first = folded.folded(range.start);
        let read = folded.text.get(first..folded.folded(range.end)).unwrap_or_default();
        for at in self.by_piece.iter().copied() {
            if !work.is_finished(at) {
                continue;
            }
            let spot = |start, end, kind, rule| Spot { start, end, kind, rule, check: at, goes_on: false };
            let finished = match self.checks.get(at).map(|check| &check.config) {
                Some(Config::Pattern(pattern)) => {
                    let plain = pattern.find(written, work, |start, end| {
                        spots.push(spot(range.start + start, range.start + end, Kind::Pattern, "pattern"));
                    });
                    plain
                        && (!folded.changed
                            || pattern.find(read, work, |start, end| {
                                let place = folded.original(first + start..first + end);
                                spots.push(spot(place.start, place.end, Kind::Pattern, "pattern"));
                            }))
                }
                Some(Config::Denylist(list)) => list.find(read, work).is_some_and(|found| {
                    let places = found.into_iter().map(|(start, end)| folded.original(first + start..first + end));
                    spots.extend(places.map(|place| spot(place.start, place.end, Kind::Denied, "term")));
                    true
                }),
                _ => true,
            };
            if !finished {
                work.give_up(at);
            }
        }
    }

    /// What the scanner found, for each check that wants it.
    fn gather(&self, folded: &Folded<'_>, found: &Found, spots: &mut Vec<Spot>) {
        for one in &found.matches {
            for (at, _) in self.checks.iter().enumerate().filter(|(_, check)| wants(check, one.kind, one.rule)) {
                let place = folded.original(one.start..one.end);
                spots.push(Spot {
                    start: place.start,
                    end: place.end,
                    kind: one.kind,
                    rule: one.rule,
                    check: at,
                    goes_on: false,
                });
            }
        }
        for (start, end) in &found.urls {
            let address = folded.text.get(*start..*end).unwrap_or_default();
            let image = in_image(folded.text.as_bytes(), *start);
            for (at, check) in self.checks.iter().enumerate() {
                if let Some(rule) = refused(check, address, image) {
                    let place = folded.original(*start..*end);
                    spots.push(Spot {
                        start: place.start,
                        end: place.end,
                        kind: Kind::Url,
                        rule,
                        check: at,
                        goes_on: false,
                    });
                }
            }
        }
    }

    /// Injections, which are judged by the text as a whole.
    fn judge(&self, text: &str, folded: &Folded<'_>, found: &Found, spots: &mut Vec<Spot>) {
        let judgement = injection::judge(&folded.text, &found.hits);
        let score_of = |hidden: String| {
            let (_, found) = Scan::new(&hidden, Kinds::NONE.with(Kind::Injection), 0).run(0);
            injection::judge(&hidden, &found.hits).score
        };
        let unseen = if folded.suspect { unicode::hidden_text(text) } else { None };
        let speaks_of_it = found.hits.iter().any(|hit| hit.classes & ENCODE != 0);
        let turned = speaks_of_it && folded.text.len() <= LONGEST_TURNED;
        let turned = turned.then(|| decode::turned(&folded.text)).into_iter().flatten();
        let unseen = unseen.into_iter().chain(turned).map(score_of).reduce(f32::max);
        for (at, check) in self.checks.iter().enumerate() {
            let Config::Injection { threshold } = check.config else { continue };
            if judgement.score >= threshold {
                spots.extend(judgement.matches.iter().map(|one| {
                    let place = folded.original(one.start..one.end);
                    Spot {
                        start: place.start,
                        end: place.end,
                        kind: one.kind,
                        rule: one.rule,
                        check: at,
                        goes_on: false,
                    }
                }));
            }
            if unseen.is_some_and(|score| score >= threshold) {
                spots.push(Spot {
                    start: 0,
                    end: text.len(),
                    kind: Kind::Injection,
                    rule: "hidden",
                    check: at,
                    goes_on: false,
                });
            }
        }
    }

    fn hidden(&self, text: &str, folded: &Folded<'_>, range: std::ops::Range<usize>, spots: &mut Vec<Spot>) {
        if !folded.suspect || !self.kinds.meets(Kinds::UNICODE) {
            return;
        }
        for (start, end, kind, rule) in unicode::find(text, range, self.kinds) {
            for (at, _) in self.checks.iter().enumerate().filter(|(_, check)| wants(check, kind, rule)) {
                spots.push(Spot { start, end, kind, rule, check: at, goes_on: false });
            }
        }
    }
}

/// The kinds that the scanner has to look for on behalf of a check.
fn wanted(check: &Check) -> Kinds {
    match &check.config {
        Config::Kinds(kinds) => *kinds,
        Config::Injection { .. } | Config::Toxicity { .. } | Config::Url(_) => Kinds::of(check.check),
        Config::Pattern(_) | Config::Denylist(_) | Config::Schema(_) | Config::Limit(_) => Kinds::NONE,
    }
}

fn wants(check: &Check, kind: Kind, rule: &str) -> bool {
    match &check.config {
        Config::Kinds(kinds) => {
            kinds.has(kind) && (check.check != CheckType::Pii || kind != Kind::ApiKey || secrets::is_cloud(rule))
        }
        Config::Toxicity { severe_only } => kind == Kind::Toxicity && (!severe_only || rule == "slur"),
        Config::Injection { .. } => kind == Kind::Injection,
        _ => false,
    }
}

/// Why a check refuses an address, if it does.
fn refused(check: &Check, address: &str, image: bool) -> Option<&'static str> {
    let Config::Url(rules) = &check.config else { return None };
    let host = url::host(address).unwrap_or_default();
    let within = |domains: &[String]| domains.iter().any(|domain| url::within(&host, domain));
    if within(&rules.deny) {
        return Some("denied");
    }
    if !rules.allow.is_empty() {
        return (!within(&rules.allow)).then_some("not-allowed");
    }
    if rules.exfiltration { url::suspicion(address, image) } else { None }
}

/// Whether an address is the source of a picture in Markdown: `![…](`.
fn in_image(text: &[u8], start: usize) -> bool {
    const LONGEST_CAPTION: usize = 256;
    let left = text.get(start.saturating_sub(LONGEST_CAPTION)..start).unwrap_or_default();
    left.ends_with(b"](") && left.windows(2).any(|two| two == b"![")
}

/// Where the piece ends that begins here. `None`: more of the text is needed.
fn piece_end(text: &str, start: usize, more: bool) -> Option<usize> {
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    let near = rest.get(..LONGEST_PIECE.min(rest.len())).unwrap_or_default();
    if let Some(line) = memchr::memchr(b'\n', near) {
        return Some(start + line + 1);
    }
    if rest.len() <= LONGEST_PIECE {
        return if more { None } else { Some(text.len()) };
    }
    let space = near.iter().rposition(u8::is_ascii_whitespace).filter(|at| *at >= LONGEST_PIECE / 2);
    let mut end = start + space.map_or(LONGEST_PIECE, |at| at + 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Some(end)
}
