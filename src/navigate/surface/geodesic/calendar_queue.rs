//! The open list of windows: buckets of distance, within which the order matters little. But in a fair one nothing waits again and again
//! for what was put in after it: else, where each entry brings one that is hardly further, they would come first for ever.
//!
//! A calendar queue (Brown 1988) of one year: what is further ahead than that waits until the year is over. Exact searches
//! that take what is only roughly the nearest do more work, never other work (Xu, Wang, Liu, Liu, He 2015, "Fast wavefront
//! propagation for computing exact geodesic distances on meshes").

use crate::navigate::shared::heap::Entry;

/// Buckets of a year.
const YEAR: usize = 1024;

/// A list of entries, taken out roughly least key first.
#[derive(Debug, Clone)]
pub(crate) struct Calendar {
    days: Vec<Vec<Entry>>,
    /// What is taken of today before anything that comes in meanwhile.
    now: Vec<Entry>,
    /// What comes after this year.
    later: Vec<Entry>,
    /// What is left of the day that is being taken.
    today: usize,
    /// The key that the year begins at, and days for each unit of keys.
    begin: f64,
    per_key: f64,
    count: usize,
    is_fair: bool,
}

impl Default for Calendar {
    fn default() -> Self {
        Self {
            days: vec![Vec::new(); YEAR],
            now: Vec::new(),
            later: Vec::new(),
            today: 0,
            begin: 0.0,
            per_key: 1.0,
            count: 0,
            is_fair: true,
        }
    }
}

impl Calendar {
    /// Empties it; from now on a day is as long as `width`. Keys are 0 or more. In one that `is_fair` what comes in for today waits for all
    /// that is there, else it comes out first.
    pub(crate) fn begin(&mut self, width: f64, is_fair: bool) {
        if self.count > 0 {
            self.days.iter_mut().for_each(Vec::clear);
            self.now.clear();
            self.later.clear();
        }
        let per_key = width.recip();
        self.per_key = if per_key.is_finite() { per_key } else { 1.0 };
        (self.today, self.begin, self.count, self.is_fair) = (0, 0.0, 0, is_fair);
    }

    #[inline]
    pub(crate) fn push(&mut self, key: f64, index: u32) {
        self.count += 1;
        self.put(Entry { key, index });
    }

    #[inline]
    fn put(&mut self, entry: Entry) {
        // Behind today is today; what is too far ahead saturates.
        let day = (((entry.key - self.begin) * self.per_key) as usize).max(self.today);
        match self.days.get_mut(day) {
            Some(_) if day == self.today && !self.is_fair => self.now.push(entry),
            Some(day) => day.push(entry),
            None => self.later.push(entry),
        }
    }

    /// Takes an entry of the first day that has any.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Entry> {
        if self.count == 0 {
            return None;
        }
        loop {
            if let Some(entry) = self.now.pop() {
                self.count -= 1;
                return Some(entry);
            }
            match self.days.get_mut(self.today) {
                Some(day) if !day.is_empty() => std::mem::swap(day, &mut self.now),
                _ => {
                    self.today += 1;
                    if self.today >= YEAR {
                        self.turn();
                    }
                }
            }
        }
    }

    /// A new year, which begins with the least of what is left.
    #[cold]
    fn turn(&mut self) {
        let later = std::mem::take(&mut self.later);
        self.begin = later.iter().fold(f64::INFINITY, |least, entry| least.min(entry.key));
        self.today = 0;
        later.into_iter().for_each(|entry| self.put(entry));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_waits_for_ever() {
        let mut calendar = Calendar::default();
        calendar.begin(1.0, true);
        for index in 0..3 {
            calendar.push(0.5, index);
        }
        let mut waited = [0; 3];
        for step in 1..100 {
            let entry = calendar.pop().unwrap();
            // Hardly further, and so today again.
            calendar.push(entry.key + 1e-9, entry.index);
            let since = step - std::mem::replace(&mut waited[entry.index as usize], step);
            assert!(since <= 5, "{} waited {since}", entry.index);
        }
        assert!(waited.iter().all(|&last| last > 94), "{waited:?}");
        calendar.begin(1.0, true);
        assert!(calendar.pop().is_none());
    }

    #[test]
    fn entries_come_out_day_by_day() {
        for width in [1e-3, 0.5, 1e9, 0.0, f64::INFINITY] {
            let mut calendar = Calendar::default();
            calendar.begin(width, true);
            let mut state = 1_u64;
            let mut left = std::collections::BTreeSet::new();
            let mut push =
                |calendar: &mut Calendar, left: &mut std::collections::BTreeSet<u32>, at: f64, index| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    calendar.push(at + (state >> 40) as f64 / 1e5, index);
                    left.insert(index);
                };
            for index in 0..500 {
                push(&mut calendar, &mut left, 0.0, index);
            }
            let mut last = 0.0;
            let mut index = 500;
            while let Some(entry) = calendar.pop() {
                assert!(left.remove(&entry.index));
                if width > 0.0 && width < 1e3 {
                    assert!(entry.key >= last - width, "{} after {last}, days of {width}", entry.key);
                }
                last = last.max(entry.key);
                if index < 1500 {
                    push(&mut calendar, &mut left, entry.key, index);
                    index += 1;
                }
            }
            assert!(left.is_empty());
        }
    }
}
