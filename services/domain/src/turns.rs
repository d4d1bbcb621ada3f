//! Waiting in turn: within a party first come, first served; between parties one after the other.
//!
//! However many of one party wait, the first of another waits for one of them at most. Who takes part, and what is
//! waited for, is the user's affair.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

pub struct Turns<P, T> {
    order: VecDeque<P>,
    lines: HashMap<P, VecDeque<T>>,
    waiting: usize,
}

impl<P: Copy + Eq + Hash, T> Turns<P, T> {
    pub fn new() -> Self {
        Self { order: VecDeque::new(), lines: HashMap::new(), waiting: 0 }
    }

    pub const fn len(&self) -> usize {
        self.waiting
    }

    pub const fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// How many of this party wait.
    pub fn len_of(&self, party: P) -> usize {
        self.lines.get(&party).map_or(0, VecDeque::len)
    }

    pub fn push(&mut self, party: P, one: T) {
        let line = self.lines.entry(party).or_default();
        if line.is_empty() {
            self.order.push_back(party);
        }
        line.push_back(one);
        self.waiting += 1;
    }

    /// The next in turn. Its party goes to the end of the round.
    pub fn pop(&mut self) -> Option<(P, T)> {
        self.pop_where(|_, _| true)
    }

    /// The next whose turn may be now. Parties that may not keep their place in the round.
    pub fn pop_where(&mut self, may: impl Fn(P, &T) -> bool) -> Option<(P, T)> {
        let first_of = |party: &P| self.lines.get(party).and_then(VecDeque::front);
        let place = self.order.iter().position(|party| first_of(party).is_some_and(|one| may(*party, one)))?;
        let party = self.order.remove(place)?;
        let line = self.lines.get_mut(&party)?;
        let one = line.pop_front()?;
        if line.is_empty() {
            self.lines.remove(&party);
        } else {
            self.order.push_back(party);
        }
        self.waiting -= 1;
        Some((party, one))
    }

    /// Takes out of a party's line whoever is meant; `None`: nobody is.
    pub fn remove(&mut self, party: P, is_meant: impl Fn(&T) -> bool) -> Option<T> {
        let line = self.lines.get_mut(&party)?;
        let place = line.iter().position(is_meant)?;
        let one = line.remove(place);
        if line.is_empty() {
            self.lines.remove(&party);
            self.order.retain(|other| *other != party);
        }
        self.waiting -= 1;
        one
    }
}

impl<P: Copy + Eq + Hash, T> Default for Turns<P, T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crowd() -> Turns<char, u32> {
        let mut turns = Turns::new();
        for one in 0..4 {
            turns.push('a', one);
        }
        turns.push('b', 10);
        turns.push('c', 20);
        turns.push('b', 11);
        turns
    }

    fn rest(turns: &mut Turns<char, u32>) -> Vec<u32> {
        std::iter::from_fn(|| turns.pop()).map(|(_, one)| one).collect()
    }

    #[test]
    fn parties_take_turns_and_their_own_stay_in_order() {
        assert_eq!(rest(&mut crowd()), [0, 10, 20, 1, 11, 2, 3]);
    }

    #[test]
    fn who_may_not_go_now_keeps_the_place_in_the_round() {
        let mut turns = crowd();
        assert_eq!(turns.pop_where(|party, _| party != 'a'), Some(('b', 10)));
        assert_eq!(turns.pop_where(|_, one| *one >= 100), None);
        assert_eq!(rest(&mut turns), [0, 20, 11, 1, 2, 3]);
    }

    #[test]
    fn who_leaves_is_not_called() {
        let mut turns = crowd();
        assert_eq!(turns.remove('c', |one| *one == 20), Some(20));
        assert_eq!(turns.remove('c', |one| *one == 20), None);
        assert_eq!(turns.remove('a', |one| *one == 1), Some(1));
        assert_eq!(turns.len(), 5);
        assert_eq!(rest(&mut turns), [0, 10, 2, 11, 3]);
        assert!(turns.is_empty());
    }
}
