//! How much a tenant's patterns and terms may make of one value: so many steps for each byte of it. Counted, not timed,
//! so that the same value always ends the same way.

/// Steps for each byte that is looked at.
const PER_BYTE: usize = 64;
/// Steps that even a short text has.
const FREE: usize = 1024 * 1024;

/// What the checks of one value have done so far.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    left: usize,
    /// The checks that could not finish, by their place in the plan.
    unfinished: Vec<usize>,
}

impl Default for Work {
    fn default() -> Self {
        Self { left: FREE, unfinished: Vec::new() }
    }
}

impl Work {
    /// There is more to look at.
    pub(crate) fn allow(&mut self, bytes: usize) {
        self.left = self.left.saturating_add(bytes.saturating_mul(PER_BYTE));
    }

    /// Takes some steps. False: there were not enough left.
    pub(crate) fn spend(&mut self, steps: usize) -> bool {
        let enough = steps <= self.left;
        self.left = self.left.saturating_sub(steps);
        enough
    }

    pub(crate) fn is_finished(&self, check: usize) -> bool {
        !self.unfinished.contains(&check)
    }

    pub(crate) fn give_up(&mut self, check: usize) {
        self.unfinished.push(check);
    }

    pub(crate) fn unfinished(&self) -> &[usize] {
        &self.unfinished
    }
}
