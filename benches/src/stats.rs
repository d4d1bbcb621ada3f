//! Medians, ranges and percentiles: the only statistics used here.

use std::time::Duration;

/// One figure per round.
#[derive(Debug, Clone, Default)]
pub struct Series(Vec<f64>);

impl Series {
    pub fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    /// Of an even number, the middle between the two in the middle.
    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
        f64::midpoint(at(sorted.len().saturating_sub(1) / 2), at(sorted.len() / 2))
    }

    pub fn low(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub fn high(&self) -> f64 {
        self.0.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }
}

impl FromIterator<f64> for Series {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

/// The value that `part` of the values do not exceed; sorts them.
pub fn percentile(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    let index = ((values.len() as f64 * part).ceil() as usize).saturating_sub(1).min(last);
    values.get(index).copied().unwrap_or(f64::NAN)
}

pub fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
