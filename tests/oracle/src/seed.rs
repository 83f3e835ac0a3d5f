//! Seeds that differ from run to run.

use std::sync::OnceLock;

/// The variable that numbers the run: a decimal number. Unset is 0.
const VARIABLE: &str = "HULLFIELD_SEED";

/// The seed of a test in this run. `fixed` is the test's own number.
///
/// In run 0 it is `fixed`. In every other run it is another number, which depends on `fixed` and the run alone. So ten runs draw ten
/// times as many cases. After a panic the program prints the run that repeats it.
///
/// A test takes such a seed if its assertions hold for every seed. A test keeps a fixed seed if it asserts that a rare case occurs, or
/// if it repeats a case that was once wrong.
///
/// # Panics
/// If `HULLFIELD_SEED` is not a decimal number below 2⁶⁴.
pub fn seed(fixed: u64) -> u64 {
    static RUN: OnceLock<u64> = OnceLock::new();
    varied(fixed, *RUN.get_or_init(run_number))
}

/// `count` of `items` in their order, others in each run: all of them have their turn where there are runs enough. All if there are no more.
///
/// A test takes them where its cases are of one kind, and all of them would take minutes.
pub fn pick<T: Clone>(fixed: u64, items: &[T], count: usize) -> Vec<T> {
    picked(seed(fixed), items, count)
}

/// `count` of `items` in their order, chosen by `seed`: the first steps of a shuffle (Fisher and Yates).
fn picked<T: Clone>(seed: u64, items: &[T], count: usize) -> Vec<T> {
    let mut rows: Vec<usize> = (0..items.len()).collect();
    let count = count.min(items.len());
    for k in 0..count {
        let left = (items.len() - k) as u64;
        let random = mixed(seed.wrapping_add(k as u64));
        rows.swap(k, k + ((u128::from(random) * u128::from(left)) >> 64) as usize);
    }
    rows.truncate(count);
    rows.sort_unstable();
    rows.into_iter().map(|row| items[row].clone()).collect()
}

/// The number of the run. From the first call on a panic prints it, unless it is 0.
fn run_number() -> u64 {
    let Ok(text) = std::env::var(VARIABLE) else { return 0 };
    let Ok(run) = text.parse::<u64>() else { panic!("{VARIABLE} is `{text}`, it must be a decimal number") };
    if run > 0 {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            before(info);
            eprintln!("repeat with {VARIABLE}={run}");
        }));
    }
    run
}

fn varied(fixed: u64, run: u64) -> u64 {
    if run == 0 { fixed } else { mixed(fixed ^ mixed(run)) }
}

/// A bijection of 64 bits: SplitMix64 (Steele, Lea and Flood 2014, "Fast Splittable Pseudorandom Number Generators").
fn mixed(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of SplitMix64 from the seed 1234567.
    #[test]
    fn the_mix_is_the_published_one() {
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        let found = [0, 1, 2].map(|k: u64| mixed(1_234_567_u64.wrapping_add(k.wrapping_mul(step))));
        assert_eq!(found, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn each_run_has_other_seeds() {
        assert_eq!([0, 1, 77].map(|fixed| varied(fixed, 0)), [0, 1, 77]);
        let mut all: Vec<u64> =
            (0..40).flat_map(|run| (0..40).map(move |fixed| varied(fixed, run))).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 1600);
        assert_eq!(varied(5, 9), varied(5, 9));
    }

    #[test]
    fn each_item_has_its_turn() {
        let items = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
        let mut turns = [0; 7];
        for run in 0..700 {
            let some = picked(varied(3, run), &items, 2);
            assert!(some.len() == 2 && some[0] < some[1], "{some:?}");
            some.iter().for_each(|one| turns[items.iter().position(|item| item == one).unwrap()] += 1);
        }
        assert!(turns.iter().all(|turn| (150..250).contains(turn)), "{turns:?}");
        assert_eq!(picked(5, &items, 7), items);
        assert_eq!(picked(5, &items, 90), items);
        assert!(picked(5, &items, 0).is_empty() && picked(5, &items[..0], 3).is_empty());
    }
}
