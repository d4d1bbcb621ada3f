//! Nothing of one tenant, and nothing of one caller, shows to another: not even that it exists.
//!
//! Every attempt is made twice: for a thing that another has, and for one of the same shape that nobody has. The two
//! answers must be the same bytes, but for the time and for what the request itself named.

mod attempts;
mod tricks;
mod world;

use futures::StreamExt;

use self::attempts::Attempt;
use self::world::{House, furnish, lost};
use crate::node::Node;
use crate::options::Scale;
use crate::random::Random;
use crate::raw::exchange;
use crate::row::{Row, grouped};

const AT_ONCE: usize = 8;

pub async fn prove(scale: Scale) -> Vec<Row> {
    let node = Node::start().await;
    let houses = furnish(&node, scale.pick(6, 100)).await;
    let attempts = attempts::all();
    let count = scale.pick(1_000, 10_000).max(attempts.len());
    let mut random = Random::new(0x1501);
    let cases: Vec<Case<'_>> = (0..count).map(|index| Case::new(index, &attempts, &houses, &mut random)).collect();
    let seen: Vec<Seen> =
        futures::stream::iter(cases).map(|case| case.tried(&node)).buffer_unordered(AT_ONCE).collect().await;
    let told: Vec<String> = seen.iter().filter_map(|seen| seen.told.clone()).collect();
    let leaked: Vec<String> = seen.iter().filter_map(|seen| seen.leaked.clone()).collect();
    let mut gone = lost(&node, &houses).await;
    gone.extend(node.faults());
    let tried = format!(
        "{} requests of {} kinds for things of other tenants and callers, {} tenants",
        grouped(count),
        attempts.len(),
        houses.len()
    );
    vec![
        Row::none("isolation.leaks", format!("{tried}: answers with anything of theirs"), &leaked),
        Row::none("isolation.told", "the same: answers that differ from a random id's", &told),
        Row::none("isolation.lost", "afterwards: things that their owners no longer have", &gone),
    ]
}

struct Case<'a> {
    attempt: &'a Attempt,
    attacker: &'a House,
    victim: &'a House,
    /// What the victim has, and what nobody has.
    real: String,
    random: String,
}

#[derive(Default)]
struct Seen {
    told: Option<String>,
    leaked: Option<String>,
}

impl<'a> Case<'a> {
    fn new(index: usize, attempts: &'a [Attempt], houses: &'a [House], random: &mut Random) -> Self {
        let attempt = &attempts[index % attempts.len()];
        let attacker = random.below(houses.len());
        let victim = (attacker + 1 + random.below(houses.len() - 1)) % houses.len();
        let (attacker, victim) = (&houses[attacker], &houses[victim]);
        let (real, random) = attempt.thing.of(victim, random);
        Self { attempt, attacker, victim, real, random }
    }

    async fn tried(self, node: &Node) -> Seen {
        let ask =
            async |named: &str| exchange(node.address, &self.attempt.request(self.attacker, self.victim, named)).await;
        let (real, random) = (ask(&self.real).await, ask(&self.random).await);
        let (seen, nothing) = (real.without(&self.real), random.without(&self.random));
        let what = format!("{} by {} of {}", self.attempt.name, self.attacker.tenant.slug, self.victim.tenant.slug);
        let whole = real.in_time && random.in_time && real.status().is_some();
        Seen {
            leaked: seen.contains(&self.victim.treasure).then(|| format!("{what}: {seen}")),
            told: (!whole || seen != nothing).then(|| format!("{what}:\n{seen}\nand for nothing:\n{nothing}")),
        }
    }
}
