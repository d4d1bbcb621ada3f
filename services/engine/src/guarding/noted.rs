//! The findings of one task, until they are handed on: not all of those of a task that is full of them, but always
//! those that blocked it.

use pleat_guardrails::{Action, Finding, Mode, Side};

/// So many findings of one task are noted on each side; what is done about the others is the same.
const MOST: usize = 200;

#[derive(Default)]
pub(super) struct Noted {
    findings: Vec<(Side, Finding)>,
    /// How many of each side were noted, the ones that were handed on included.
    counts: [usize; 2],
}

impl Noted {
    /// `again`: what was noted of the same value in another form is not noted twice.
    pub(super) fn add(&mut self, side: Side, finding: Finding, again: bool) {
        let known = |(noted, earlier): &(Side, Finding)| {
            *noted == side && earlier.rule == finding.rule && earlier.hash == finding.hash
        };
        if again && self.findings.iter().any(known) {
            return;
        }
        let [inputs, outputs] = &mut self.counts;
        let count = if side == Side::Input { inputs } else { outputs };
        if *count < MOST {
            *count += 1;
            self.findings.push((side, finding));
            return;
        }
        let lesser = |(noted, earlier): &(Side, Finding)| *noted == side && !blocks(earlier);
        if blocks(&finding)
            && let Some(place) = self.findings.iter_mut().rev().find(|one| lesser(one))
        {
            *place = (side, finding);
        }
    }

    /// What was found since the last time.
    pub(super) fn take(&mut self) -> Vec<(Side, Finding)> {
        std::mem::take(&mut self.findings)
    }
}

fn blocks(finding: &Finding) -> bool {
    finding.mode == Mode::Enforce && finding.action == Action::Block
}
