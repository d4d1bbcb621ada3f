//! Text that comes in pieces: what may leave leaves at once, what could still become a finding is held back.
//!
//! What comes out, and what is found, does not depend on how the text was cut: units and pieces of text are decided
//! from their own beginning, one after the other, and only when nothing that follows could change them. There is no
//! timer. Where a check may block, nothing leaves before the end.

use serde_json::Value;

use crate::analysis::{Plan, Spot};
use crate::finding::Verdict;
use crate::fold::Folded;
use crate::guard::{Guard, holds, incomplete, unfinished, whole};
use crate::kind::Kind;
use crate::policy::{Action, CheckType, Config, Mode};
use crate::redact::{self, Cluster, Clusters};
use crate::scan::Ages;
use crate::session::Session;
use crate::work::Work;

/// So much is looked at at a time.
const STEP: usize = 8 * 1024;
/// What has left stays in sight so far, for what it says about what follows.
const LOOK_BACK: usize = 1024;
/// Nothing ordinary is held back so long: more than this is an attack.
const MOST_HELD_BACK: usize = 256 * 1024;
/// What is held for a check that may block: the largest output there is.
const MOST_HELD: usize = 64 * 1024 * 1024;
/// What is kept of a passing stream for the judgement of injections.
const MOST_JUDGED: usize = 64 * 1024;

/// A text on its way.
#[derive(Debug)]
pub struct Stream {
    plan: Plan,
    flow: Flow,
    /// What is not decided, and a little before it.
    text: String,
    /// Up to here it has left.
    left: usize,
    units: usize,
    pieces: usize,
    ages: Ages,
    pending: Vec<Spot>,
    verdict: Verdict,
    judged: String,
    tokens: Tokens,
    size: usize,
    overflown: bool,
    work: Work,
}

/// How a stream passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// Nothing looks at it.
    Free,
    /// It is looked at as it passes.
    Watched,
    /// It is redacted as it passes.
    HeldBack,
    /// It is kept to its end.
    Held,
}

impl Stream {
    pub(crate) fn new(plan: Plan) -> Self {
        let redacts = plan.checks.iter().any(|check| check.mode == Mode::Enforce && check.action == Action::Redact);
        let flow = if plan.checks.is_empty() {
            Flow::Free
        } else if plan.checks.iter().any(holds) {
            Flow::Held
        } else if redacts {
            Flow::HeldBack
        } else {
            Flow::Watched
        };
        Self {
            plan,
            flow,
            text: String::new(),
            left: 0,
            units: 0,
            pieces: 0,
            ages: Ages::default(),
            pending: Vec::new(),
            verdict: Verdict::default(),
            judged: String::new(),
            tokens: Tokens::default(),
            size: 0,
            overflown: false,
            work: Work::default(),
        }
    }

    /// Takes the next piece; gives what may leave now.
    pub fn push(&mut self, piece: &str, session: &mut Session) -> String {
        match self.flow {
            Flow::Free => piece.to_owned(),
            Flow::Watched => {
                self.take(piece, session);
                piece.to_owned()
            }
            Flow::HeldBack => self.take(piece, session),
            Flow::Held => {
                self.overflown |= self.text.len() + piece.len() > MOST_HELD;
                if !self.overflown {
                    self.text.push_str(piece);
                }
                String::new()
            }
        }
    }

    /// Something that is no text follows: gives what is held back of the text before it. What is counted is counted on.
    pub fn interrupt(&mut self, session: &mut Session) -> String {
        if !matches!(self.flow, Flow::Watched | Flow::HeldBack) {
            return String::new();
        }
        let rest = self.advance(false, session);
        self.give_up();
        self.text.clear();
        (self.left, self.units, self.pieces) = (0, 0, 0);
        self.ages = Ages::default();
        self.pending.clear();
        self.tokens.inside = false;
        if self.flow == Flow::Watched || self.overflown { String::new() } else { rest }
    }

    /// Ends the stream; gives what is left of it and what was found. Nothing is left of a blocked one.
    pub fn finish(mut self, session: &mut Session) -> (String, Verdict) {
        match self.flow {
            Flow::Free => (String::new(), self.verdict),
            Flow::Held => self.finish_held(session),
            Flow::Watched | Flow::HeldBack => {
                let rest = self.advance(false, session);
                self.give_up();
                self.finish_measured(session);
                let rest = if self.flow == Flow::Watched || self.overflown { String::new() } else { rest };
                (rest, self.verdict)
            }
        }
    }

    fn take(&mut self, piece: &str, session: &mut Session) -> String {
        self.size += piece.len();
        self.tokens.count(piece);
        if self.plan.has(CheckType::PromptInjection) && self.judged.len() < MOST_JUDGED {
            self.judged.push_str(piece.get(..floor(piece, MOST_JUDGED - self.judged.len())).unwrap_or_default());
        }
        let mut out = String::new();
        let mut rest = piece;
        while !rest.is_empty() && !self.overflown {
            let (step, behind) = rest.split_at(floor(rest, STEP));
            self.text.push_str(step);
            let leaving = self.advance(true, session);
            self.give_up();
            if !self.overflown {
                out.push_str(&leaving);
            }
            rest = behind;
            if self.text.len() - self.left > MOST_HELD_BACK {
                self.overflown = true;
                incomplete(&self.plan, &mut self.verdict);
            }
        }
        out
    }

    /// Patterns that are too much work end the stream, where they fail closed.
    fn give_up(&mut self) {
        if !self.overflown && !self.work.unfinished().is_empty() {
            let mut verdict = Verdict::default();
            unfinished(&self.plan, &self.work, &mut verdict);
            self.overflown = verdict.is_blocked();
            self.verdict.join(verdict);
        }
    }

    /// Decides what can be decided, and lets it go.
    fn advance(&mut self, more: bool, session: &mut Session) -> String {
        let folded = Folded::new(&self.text);
        self.units = self.plan.units(&self.text, &folded, self.units, &mut self.ages, more, &mut self.pending);
        self.pieces = if self.plan.pieces {
            self.plan.in_pieces(&self.text, &folded, self.pieces, more, &mut self.work, &mut self.pending)
        } else {
            self.units
        };
        drop(folded);
        let clusters = redact::clusters(&self.plan, &self.pending);
        let mut cut = self.units.min(self.pieces);
        // What reaches over the end of what is decided may still grow, and what it overlaps with it.
        for cluster in clusters.enforced.iter().chain(&clusters.shadow).rev() {
            if cluster.start < cut && cut < cluster.end {
                cut = cluster.start;
            }
        }
        for cluster in clusters.shadow.iter().chain(&clusters.enforced).rev() {
            if cluster.start < cut && cut < cluster.end {
                cut = cluster.start;
            }
        }
        let out = self.release(&clusters, cut, session);
        self.forget();
        out
    }

    fn release(&mut self, clusters: &Clusters, cut: usize, session: &mut Session) -> String {
        let due = |list: &[Cluster]| -> Vec<Cluster> {
            list.iter().filter(|cluster| cluster.end <= cut && cluster.start >= self.left).copied().collect()
        };
        let (enforced, shadow) = (due(&clusters.enforced), due(&clusters.shadow));
        let mut out = String::new();
        let mut at = self.left;
        for cluster in &enforced {
            let value = self.text.get(cluster.start..cluster.end).unwrap_or_default();
            let redacted = cluster.action == Action::Redact;
            let finding = redact::finding(&self.plan, cluster, value, String::new(), redacted, session);
            if redacted {
                out.push_str(self.text.get(at..cluster.start).unwrap_or_default());
                out.push_str(finding.placeholder.as_deref().unwrap_or_default());
                at = cluster.end;
            }
            self.verdict.add(finding);
        }
        for cluster in &shadow {
            let value = self.text.get(cluster.start..cluster.end).unwrap_or_default();
            self.verdict.add(redact::finding(&self.plan, cluster, value, String::new(), false, session));
        }
        out.push_str(self.text.get(at..cut).unwrap_or_default());
        self.left = cut;
        self.pending.retain(|spot| spot.start >= cut);
        out
    }

    /// Drops what nothing needs any more.
    fn forget(&mut self) {
        let mut drop = self.left.saturating_sub(LOOK_BACK);
        if drop < LOOK_BACK {
            return;
        }
        while !self.text.is_char_boundary(drop) {
            drop -= 1;
        }
        self.text.drain(..drop);
        self.left -= drop;
        self.units -= drop;
        self.pieces -= drop;
        for spot in &mut self.pending {
            spot.start -= drop;
            spot.end -= drop;
        }
    }

    fn finish_held(mut self, session: &mut Session) -> (String, Verdict) {
        if self.overflown {
            incomplete(&self.plan, &mut self.verdict);
            return (String::new(), self.verdict);
        }
        let text = std::mem::take(&mut self.text);
        // A schema speaks of the value that a text is, if it is one.
        let schemas: Vec<_> =
            self.plan.checks.iter().filter(|check| check.check == CheckType::JsonSchema).cloned().collect();
        if !schemas.is_empty() {
            let mut value = serde_json::from_str(&text).unwrap_or_else(|_| Value::String(text.clone()));
            self.verdict = Guard::of(Plan::new(schemas)).inspect(crate::Side::Output, &mut value, session);
            self.plan.checks.retain(|check| check.check != CheckType::JsonSchema);
        }
        let (text, verdict) = Guard::of(self.plan).inspect_text(crate::Side::Output, &text, session);
        self.verdict.join(verdict);
        (if self.verdict.is_blocked() { String::new() } else { text }, self.verdict)
    }

    /// What is known at the end only: how much it was, and whether it looked like an injection.
    fn finish_measured(&mut self, session: &Session) {
        let tokens = self.tokens.total();
        for check in &self.plan.checks {
            match (&check.config, check.check) {
                (Config::Limit(limit), CheckType::MaxTokens) if tokens > *limit => {
                    self.verdict.add(whole(check, Kind::Tokens, String::new()));
                }
                (Config::Limit(limit), CheckType::MaxSize) if self.size > *limit => {
                    self.verdict.add(whole(check, Kind::Size, String::new()));
                }
                _ => {}
            }
        }
        if !self.judged.is_empty() {
            let judged: Vec<_> =
                self.plan.checks.iter().filter(|check| check.check == CheckType::PromptInjection).cloned().collect();
            let (_, verdict) =
                Guard::of(Plan::new(judged)).inspect_text(crate::Side::Output, &self.judged, &mut session.clone());
            self.verdict.join(verdict);
        }
    }
}

/// The longest beginning of a text of at most so many bytes.
fn floor(text: &str, most: usize) -> usize {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// Words, counted as they pass.
#[derive(Debug, Default)]
struct Tokens {
    count: usize,
    inside: bool,
}

impl Tokens {
    fn count(&mut self, piece: &str) {
        for character in piece.chars() {
            let inside = !character.is_whitespace();
            self.count += usize::from(inside && !self.inside);
            self.inside = inside;
        }
    }

    const fn total(&self) -> usize {
        self.count
    }
}
