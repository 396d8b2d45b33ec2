//! A seeded simulation of pumps over edge-triggered sockets: whoever can make progress waits in the queue or has an edge coming.
//! A failing seed is printed and replays exactly.

use session::pump::{BUDGET_BYTES, Budget, Edge, Readiness, RunQueue};

/// xorshift64*: enough for drawing cases, and the same everywhere.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) % bound
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }
}

/// The kernel's side of one direction, with edges merged as epoll merges them.
#[derive(Default)]
struct World {
    arrived: usize,
    fin: bool,
    source_edge: bool,
    room: usize,
    wants_room: bool,
    target_edge: bool,
    delivered: usize,
    sent: usize,
}

impl World {
    fn arrive(&mut self, bytes: usize) {
        if !self.fin {
            self.arrived += bytes;
            self.sent += bytes;
            self.source_edge = true;
        }
    }

    fn end(&mut self) {
        self.fin = true;
        self.source_edge = true;
    }

    fn drain(&mut self, bytes: usize) {
        self.room += bytes;
        if self.wants_room {
            self.wants_room = false;
            self.target_edge = true;
        }
    }

    /// `None` is EAGAIN, 0 bytes is the FIN.
    fn read(&mut self, wanted: usize) -> Option<usize> {
        let got = self.arrived.min(wanted);
        self.arrived -= got;
        (got > 0 || self.fin).then_some(got)
    }

    fn write(&mut self, offered: usize) -> Option<usize> {
        let taken = self.room.min(offered);
        self.room -= taken;
        self.delivered += taken;
        self.wants_room |= taken < offered;
        (taken > 0).then_some(taken)
    }
}

struct Pump {
    world: World,
    source: Readiness,
    target: Readiness,
    held: usize,
    ended: bool,
    done: bool,
    queued_in_turn: u64,
}

impl Pump {
    fn new(room: usize) -> Self {
        Self {
            world: World { room, ..World::default() },
            source: Readiness::fresh(),
            target: Readiness::fresh(),
            held: 0,
            ended: false,
            done: false,
            queued_in_turn: 0,
        }
    }

    /// Whether the kernel would let it go on now.
    fn can_progress(&self) -> bool {
        match (self.done, self.held, self.ended) {
            (true, _, _) => false,
            (false, 0, true) => true,
            (false, 0, false) => self.world.arrived > 0 || self.world.fin,
            (false, _, _) => self.world.room > 0,
        }
    }
}

/// What the loop under test does with a short read, and after a spent budget; the faulty ones must be found out.
#[derive(Clone, Copy, PartialEq)]
enum Rules {
    Right,
    ShortReadDespiteFin,
    BudgetWithoutQueue,
    EdgeOnlyWhenIdle,
}

/// Runs one pump for its turn; whether it must be queued again.
fn run(pump: &mut Pump, dice: &mut Dice, rules: Rules) -> bool {
    let mut budget = Budget::default();
    loop {
        // The peers do not wait while the loop works.
        if dice.one_in(20) {
            disturb(&mut pump.world, dice);
        }
        if pump.held > 0 {
            if !pump.target.writable {
                return false;
            }
            match pump.world.write(pump.held) {
                Some(taken) => {
                    pump.target.wrote(taken, pump.held);
                    pump.held -= taken;
                }
                None => pump.target.write_blocked(),
            }
        } else if pump.ended {
            pump.done = true;
            return false;
        } else if !pump.source.readable {
            return false;
        } else if budget.is_spent() {
            return rules != Rules::BudgetWithoutQueue;
        } else {
            let wanted = budget.bytes_left().min(64 * 1024);
            match pump.world.read(wanted) {
                Some(0) => pump.ended = true,
                Some(got) => {
                    pump.source.read(got, wanted);
                    if rules == Rules::ShortReadDespiteFin && got < wanted {
                        pump.source.read_blocked();
                    }
                    pump.held = got;
                    budget.book(got);
                }
                None => pump.source.read_blocked(),
            }
        }
    }
}

fn disturb(world: &mut World, dice: &mut Dice) {
    match dice.below(4) {
        0 => world.arrive(1),
        1 => world.arrive(dice.below(3 * BUDGET_BYTES as u64) as usize),
        2 => world.drain(1 + dice.below(100_000) as usize),
        _ if dice.one_in(8) => world.end(),
        _ => {}
    }
}

fn simulate(seed: u64, rules: Rules) -> Result<(), String> {
    let mut dice = Dice::new(seed);
    let mut pumps: Vec<Pump> = (0..1 + dice.below(12)).map(|_| Pump::new(dice.below(200_000) as usize)).collect();
    let endless = dice.below(3) as usize;
    let mut queue = RunQueue::new();
    for index in 0..pumps.len() {
        queue.push(index as u32);
    }
    for turn in 1..=400u64 {
        for pump in &mut pumps {
            if turn < 300 && dice.one_in(3) {
                disturb(&mut pump.world, &mut dice);
            }
            if turn >= 300 {
                // Towards the end everybody finishes and the receivers take all there is.
                pump.world.end();
                pump.world.drain(4 * BUDGET_BYTES);
            }
        }
        for pump in pumps.iter_mut().take(endless).filter(|_| turn < 300) {
            pump.world.arrive(BUDGET_BYTES);
            pump.world.drain(2 * BUDGET_BYTES);
        }
        poll(&mut pumps, &mut queue, turn, rules);
        for _ in 0..queue.len() {
            let Some(index) = queue.pop() else {
                return Err(format!("seed {seed}: the queue counts one that is not there"));
            };
            let pump = &mut pumps[index as usize];
            if turn > pump.queued_in_turn + 1 {
                return Err(format!("seed {seed}: pump {index} waited from turn {} to {turn}", pump.queued_in_turn));
            }
            if run(pump, &mut dice, rules) {
                pump.queued_in_turn = turn;
                queue.push(index);
            }
        }
        for (index, pump) in pumps.iter().enumerate() {
            let edge_comes = pump.world.source_edge || pump.world.target_edge;
            if pump.can_progress() && !queue.holds(index as u32) && !edge_comes {
                return Err(format!("seed {seed}: pump {index} is ready and forgotten in turn {turn}"));
            }
        }
    }
    for (index, pump) in pumps.iter().enumerate() {
        if !pump.done || pump.world.delivered != pump.world.sent {
            return Err(format!("seed {seed}: pump {index} delivered {} of {}", pump.world.delivered, pump.world.sent));
        }
    }
    Ok(())
}

fn poll(pumps: &mut [Pump], queue: &mut RunQueue, turn: u64, rules: Rules) {
    for (index, pump) in pumps.iter_mut().enumerate() {
        let world = &mut pump.world;
        let source = std::mem::take(&mut world.source_edge);
        let target = std::mem::take(&mut world.target_edge);
        if !source && !target {
            continue;
        }
        if rules == Rules::EdgeOnlyWhenIdle && pump.held > 0 {
            continue;
        }
        if source {
            let edge = Edge { readable: world.arrived > 0 || world.fin, read_hangup: world.fin, ..Edge::default() };
            pump.source.note(edge);
        }
        if target {
            pump.target.note(Edge { writable: world.room > 0, ..Edge::default() });
        }
        if queue.push(index as u32) {
            pump.queued_in_turn = turn;
        }
    }
}

#[test]
fn whoever_is_ready_is_never_forgotten_and_runs_in_this_turn_or_the_next() {
    for seed in 0..2_000 {
        if let Err(fault) = simulate(seed, Rules::Right) {
            panic!("{fault}");
        }
    }
}

#[test]
fn the_simulation_finds_loops_that_forget() {
    for rules in [Rules::ShortReadDespiteFin, Rules::BudgetWithoutQueue, Rules::EdgeOnlyWhenIdle] {
        let found = (0..2_000).filter(|&seed| simulate(seed, rules).is_err()).count();
        assert!(found > 10, "only {found} of 2000 seeds found the fault");
    }
}

#[test]
fn the_queue_is_first_in_first_out_without_duplicates() {
    let mut queue = RunQueue::new();
    assert!(queue.push(3) && queue.push(1) && !queue.push(3) && queue.push(2));
    assert_eq!(queue.len(), 3);
    assert_eq!(queue.pop(), Some(3));
    assert!(queue.push(3));
    assert_eq!((queue.pop(), queue.pop(), queue.pop(), queue.pop()), (Some(1), Some(2), Some(3), None));
    assert!(queue.is_empty());
}

#[test]
fn whoever_takes_a_forgotten_index_starts_at_the_tail() {
    let mut queue = RunQueue::new();
    queue.push(0);
    queue.push(1);
    queue.forget(0);
    queue.forget(7);
    assert!(!queue.holds(0) && queue.holds(1));
    assert_eq!(queue.len(), 1);
    assert!(queue.push(0));
    assert_eq!((queue.pop(), queue.pop(), queue.pop()), (Some(1), Some(0), None));
}

#[test]
fn a_budget_ends_by_bytes_or_by_operations() {
    let mut budget = Budget::default();
    budget.book(BUDGET_BYTES - 1);
    assert!(!budget.is_spent());
    budget.book(5);
    assert!(budget.is_spent());
    let mut tiny = Budget::default();
    let operations = (0..).take_while(|_| {
        let go_on = !tiny.is_spent();
        tiny.book(1);
        go_on
    });
    assert_eq!(operations.count(), 16);
}
