//! The deepest contacts of each body.

#[cfg(doc)]
use crate::collide::narrow_phase::rows::Precision;
use crate::collide::narrow_phase::rows::{Batch, Contact};
use crate::collide::narrow_phase::timed_call::timed_call;
use crate::collide::query::arena::Arena;
use crate::collide::query::options::ContactOptions;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::pairs::Pairs;
use crate::error::{Error, Location, Result};
use crate::pending::Pending;

impl Arena {
    /// Measures contacts as [`contacts`](Self::contacts) does, and lists the deepest `count` of each body alone, sorted by the pair.
    ///
    /// A contact is listed where it is one of the `count` with the least separation of either of its bodies, statics too: each body
    /// has its deepest contacts, and one that is the deepest of several others has theirs besides. Of contacts of the same separation that
    /// of the lower pair counts as the deeper one. Where bodies have worlds, each world's rows are those of a query of its own: a static has its
    /// deepest contacts in each.
    ///
    /// With [`Precision::Fast`] separations are within τ, so engines may list others of contacts that are as deep as that; with
    /// [`Precision::Exact`] the rows are the same everywhere. [`Stats`](crate::collide::Stats) are those of all contacts.
    ///
    /// # Cost
    /// That of [`contacts`](Self::contacts), and some ten nanoseconds a row on the host. All rows are on the host before they are reduced.
    ///
    /// # Errors
    /// As [`contacts`](Self::contacts); [`Error::Value`] where the count is 0.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Body, ContactOptions, Hull, Options};
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::ball(1.0)?], Options::default())?;
    /// // A row of balls: the first two overlap most.
    /// let bodies = [0.0, 1.0, 2.5, 4.25].map(|x| Body::new(0).at([x, 0.0, 0.0]));
    /// let found = arena.deepest_contacts(&bodies, 1, &ContactOptions::default())?.wait()?;
    /// let pairs: Vec<_> = found.rows.iter().map(|row| [row.a, row.b]).collect();
    /// assert_eq!(pairs, [[0, 1], [1, 2], [2, 3]]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn deepest_contacts<'a>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        count: u32,
        options: &ContactOptions,
    ) -> Result<Pending<Batch<Contact>>> {
        self.deepest_contacts_inner(bodies.into(), count, options)
    }

    fn deepest_contacts_inner(
        &self,
        columns: BodyColumns<'_>,
        count: u32,
        options: &ContactOptions,
    ) -> Result<Pending<Batch<Contact>>> {
        timed_call(|| {
            if count == 0 {
                return Err(Error::value(Location::Argument, "count", count, "it must be at least 1"));
            }
            let (worlds, mover_count, static_count) =
                (columns.worlds.to_vec(), columns.bodies.len(), self.statics().len());
            let found = self.contacts(columns, Pairs::BroadPhase, options)?;
            Ok(found.chain(move |mut found| {
                Ok(Pending::spawn(move |_| {
                    keep_deepest(&mut found.rows, &worlds, mover_count, static_count, count as usize);
                    Ok(found)
                }))
            }))
        })
    }
}

/// Keeps the rows that are among the `count` deepest of either body. Each of the worlds, by which rows are grouped, has the statics for itself.
fn keep_deepest(
    rows: &mut Vec<Contact>,
    worlds: &[u32],
    mover_count: usize,
    static_count: usize,
    count: usize,
) {
    // A static has a number in each world, after those of the movers.
    let mut numbers = vec![(0_u32, 0_usize); static_count];
    let (mut group, mut world, mut body_count) = (0, None, mover_count);
    let mut partner = |row: &Contact| {
        let Some(still) = (row.b as usize).checked_sub(mover_count) else { return row.b as usize };
        let own = worlds.get(row.a as usize);
        if world != Some(own) {
            (group, world) = (group + 1, Some(own));
        }
        let (of, number) = &mut numbers[still];
        if *of != group {
            (*of, *number) = (group, body_count);
            body_count += 1;
        }
        *number
    };
    let pairs: Vec<[usize; 2]> = rows.iter().map(|row| [row.a as usize, partner(row)]).collect();
    // The rows of each body, one body after another.
    let mut ends = vec![0_usize; body_count + 1];
    for &body in pairs.iter().flatten() {
        ends[body + 1] += 1;
    }
    for body in 0..body_count {
        ends[body + 1] += ends[body];
    }
    let mut places = vec![0_usize; 2 * rows.len()];
    for (at, pair) in pairs.iter().enumerate() {
        for &body in pair {
            places[ends[body]] = at;
            ends[body] += 1;
        }
    }
    let mut is_kept = vec![false; rows.len()];
    let mut begin = 0;
    for &end in &ends[..body_count] {
        let places = &mut places[begin..end];
        if places.len() > count {
            let deeper =
                |&i: &usize, &j: &usize| rows[i].separation.total_cmp(&rows[j].separation).then(i.cmp(&j));
            places.select_nth_unstable_by(count - 1, deeper);
        }
        places.iter().take(count).for_each(|&at| is_kept[at] = true);
        begin = end;
    }
    let mut is_kept = is_kept.into_iter();
    rows.retain(|_| is_kept.next().unwrap_or(false));
}
