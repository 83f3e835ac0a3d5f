//! Saves a built surface as bytes, and loads it.
//!
//! The file keeps what can't be recomputed: points, triangles, sources, the report, walkable triangles and links. Edges, islands and the
//! tree are recomputed, which takes less time than a build and gives the same bits. So the only contents to trust are indices and numbers,
//! each of which is checked.

use std::ops::ControlFlow;

use glam::DVec3;

use crate::error::{Error, Location, Result};
use crate::navigate::surface::mesh::build::{
    LoadOptions, MAX_COORDINATE, ModelFace, Report, check_max_snap, count_edges,
};
use crate::navigate::surface::mesh::check::check;
use crate::navigate::surface::mesh::progress::ProgressReporter;
use crate::navigate::surface::mesh::topology::{Mesh, NON_MANIFOLD};
use crate::navigate::surface::query::surface::{Link, Surface};

/// The first bytes of a file.
const MAGIC: [u8; 8] = *b"hullsurf";

/// The version of the layout that [`Surface::to_bytes`] describes.
const VERSION: u32 = 1;

const HEADER_BYTES: u64 = 8 + 4 + 3 * 4 + 4 * 4 + 2 * 8 + 8;
const CHECKSUM_BYTES: u64 = 8;

impl Surface {
    /// The surface as bytes, for [`from_bytes`](Self::from_bytes): about 35 bytes a triangle. It includes the report, the walkable
    /// triangles, the links and [`max_snap`](crate::navigate::surface::Options::max_snap). It does not include
    /// [landmarks](crate::navigate::surface::Options::landmarks), which are larger and are measured again.
    ///
    /// The layout; all numbers are little-endian:
    ///
    /// - the 8 bytes `hullsurf`;
    /// - as u32: the version, 1; the numbers of points, triangles and links; the lengths of the report's four lists of faces;
    /// - as u64: the report's numbers of welded and unused points;
    /// - as f64: `max_snap`, infinite for `None`;
    /// - the points, 3 f64 each;
    /// - the triangles, 3 u32 each;
    /// - the model and face of each triangle, 2 u32 each;
    /// - a bit for each triangle, set if it is walkable, the lowest bit of a byte first;
    /// - the lists in the order of [`Report`], 2 u32 for each face;
    /// - the links: `from` and `to`, 3 f64 each, the cost as f64, and a byte that is 1 for a two-way link;
    /// - the 64-bit FNV-1a hash of all bytes before (Fowler, Noll, Vo 1991).
    ///
    /// ```
    /// use hullfield::navigate::surface::{LoadOptions, Model, Options, Surface};
    ///
    /// let points = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
    /// let surface = Surface::new(&[Model::triangles(points, &[[0, 1, 2]])], Options::default())?;
    /// let bytes = surface.to_bytes();
    /// let again = Surface::from_bytes(&bytes, LoadOptions::default())?;
    /// assert_eq!(again.triangles(), surface.triangles());
    /// assert!(Surface::from_bytes(&bytes[1..], LoadOptions::default()).is_err());
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let lists = lists(&self.report);
        let mut bytes = Vec::with_capacity(34 * self.mesh.triangle_count() + 1024);
        bytes.extend(MAGIC);
        let counts = [self.mesh.points.len(), self.mesh.triangle_count(), self.links.len()];
        let counts = counts.into_iter().chain(lists.map(<[ModelFace]>::len)).map(|count| count as u32);
        bytes.extend(std::iter::once(VERSION).chain(counts).flat_map(u32::to_le_bytes));
        for count in [self.report.welded_count, self.report.unused_count] {
            bytes.extend((count as u64).to_le_bytes());
        }
        bytes.extend(self.max_snap.to_le_bytes());
        bytes.extend(self.mesh.points.iter().flat_map(|point| point.to_array()).flat_map(f64::to_le_bytes));
        bytes.extend(self.mesh.triangles.iter().flatten().flat_map(|corner| corner.to_le_bytes()));
        bytes.extend(self.mesh.sources.iter().flatten().flat_map(|part| part.to_le_bytes()));
        let bits =
            |flags: &[bool]| flags.iter().zip(0..).fold(0, |byte, (&flag, bit)| byte | u8::from(flag) << bit);
        bytes.extend(self.walkable.chunks(8).map(bits));
        let faces = lists.into_iter().flatten().flat_map(|from| [from.model, from.face]);
        bytes.extend(faces.flat_map(u32::to_le_bytes));
        for link in &self.links {
            let numbers = link.from.into_iter().chain(link.to).chain([link.cost]);
            bytes.extend(numbers.flat_map(f64::to_le_bytes));
            bytes.push(u8::from(link.two_way));
        }
        bytes.extend(hash(&bytes).to_le_bytes());
        bytes
    }

    /// Loads a surface from the bytes of [`to_bytes`](Self::to_bytes). Its answers equal those of the saved surface bit for bit.
    ///
    /// Cost: linear in the number of triangles; with [landmarks](LoadOptions::landmarks), as for a build.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the byte and what is wrong there, for any bytes that are not a saved surface; [`Error::Value`] for a
    /// `max_snap` that is negative or NaN. No memory is allocated beyond what the length of the bytes justifies.
    pub fn from_bytes(bytes: &[u8], options: LoadOptions) -> Result<Self> {
        let wanted_snap = options.max_snap.map(Some).map(check_max_snap).transpose()?;
        let mut reader = Reader { bytes, at: 0 };
        if reader.take::<8>()? != MAGIC {
            return refuse(0, "it does not begin with the word hullsurf".to_owned());
        }
        let version = reader.u32()?;
        if version != VERSION {
            return refuse(8, format!("its version is {version}, only {VERSION} is read"));
        }
        let mut counts = [0u32; 7];
        for count in &mut counts {
            *count = reader.u32()?;
        }
        let [point_count, triangle_count, link_count, lists @ ..] = counts.map(u64::from);
        let limit = u64::from(NON_MANIFOLD / 3) - 1;
        if point_count > u64::from(u32::MAX / 4) || !(1..=limit).contains(&triangle_count) {
            return refuse(
                12,
                format!("it has {point_count} points and {triangle_count} triangles, which no surface has"),
            );
        }
        // All counts are less than 2³², so the sum can't overflow.
        let needed = HEADER_BYTES
            + 24 * point_count
            + 20 * triangle_count
            + triangle_count.div_ceil(8)
            + 8 * lists.iter().sum::<u64>()
            + 57 * link_count
            + CHECKSUM_BYTES;
        if needed != bytes.len() as u64 {
            return refuse(12, format!("its counts need {needed} bytes, there are {}", bytes.len()));
        }
        let (content, sum) = bytes.split_at(bytes.len() - CHECKSUM_BYTES as usize);
        if sum != hash(content).to_le_bytes() {
            return refuse(content.len(), "its checksum does not match: it was damaged".to_owned());
        }
        let mut report = Report { welded_count: reader.count()?, ..Report::default() };
        report.unused_count = reader.count()?;
        let at = reader.at;
        let max_snap = reader.f64()?;
        if !(max_snap >= 0.0) {
            return refuse(at, format!("its max_snap is {max_snap}, it must be 0 or more"));
        }
        let mut mesh = Mesh::default();
        mesh.points.reserve_exact(point_count as usize);
        for index in 0..point_count {
            let at = reader.at;
            let point = reader.point()?;
            if !point.iter().all(|part| part.abs() <= MAX_COORDINATE) {
                return refuse(at, format!("point {index} is {point:?}, coordinates must be at most 1e75"));
            }
            mesh.points.push(DVec3::from(point));
        }
        mesh.triangles.reserve_exact(triangle_count as usize);
        for index in 0..triangle_count {
            let at = reader.at;
            let corners = [reader.u32()?, reader.u32()?, reader.u32()?];
            if let Some(corner) = corners.iter().find(|&&corner| u64::from(corner) >= point_count) {
                return refuse(
                    at,
                    format!("triangle {index} names the point {corner}, there are {point_count}"),
                );
            }
            let [a, b, c] = corners.map(|corner| mesh.points[corner as usize]);
            if a == b || b == c || c == a {
                return refuse(at, format!("triangle {index} has two corners in one place"));
            }
            mesh.triangles.push(corners);
        }
        mesh.sources.reserve_exact(triangle_count as usize);
        for _ in 0..triangle_count {
            mesh.sources.push([reader.u32()?, reader.u32()?]);
        }
        let mut walkable = Vec::with_capacity(triangle_count as usize);
        while walkable.len() < triangle_count as usize {
            let at = reader.at;
            let [byte] = reader.take::<1>()?;
            let bits = (triangle_count as usize - walkable.len()).min(8);
            if u32::from(byte) >> bits != 0 {
                return refuse(at, "it has walkable flags beyond the last triangle".to_owned());
            }
            walkable.extend((0..bits).map(|bit| byte >> bit & 1 == 1));
        }
        let kept =
            [&mut report.not_simple, &mut report.collapsed, &mut report.duplicates, &mut report.zero_area];
        for (list, count) in kept.into_iter().zip(lists) {
            list.reserve_exact(count as usize);
            for _ in 0..count {
                list.push(ModelFace { model: reader.u32()?, face: reader.u32()? });
            }
        }
        let mut links = Vec::with_capacity(link_count as usize);
        for index in 0..link_count {
            let at = reader.at;
            let (from, to, cost) = (reader.point()?, reader.point()?, reader.f64()?);
            let [two_way] = reader.take::<1>()?;
            let is_good = check(Location::Argument, "from", from).is_ok()
                && check(Location::Argument, "to", to).is_ok()
                && (0.0..=1e150).contains(&cost)
                && two_way <= 1;
            if !is_good {
                return refuse(at, format!("link {index} has a number out of range"));
            }
            links.push(Link { from, to, cost, two_way: two_way == 1 });
        }
        mesh.connect();
        mesh.measure();
        count_edges(&mesh, &mut report);
        let max_snap = wanted_snap.unwrap_or(max_snap);
        let mut surface = Self { walkable, max_snap, links, ..Self::from_mesh(mesh, report) };
        if options.landmarks {
            surface.measure_landmarks(&mut ProgressReporter {
                on_progress: &mut |_| ControlFlow::Continue(()),
            })?;
        }
        Ok(surface)
    }
}

/// The report's lists of faces, in the order of the file.
fn lists(report: &Report) -> [&[ModelFace]; 4] {
    [&report.not_simple, &report.collapsed, &report.duplicates, &report.zero_area]
}

fn refuse<T>(offset: usize, message: String) -> Result<T> {
    Err(Error::invalid(Location::Byte(offset), message))
}

/// The FNV-1a hash: it detects damage, not malice.
fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Reads numbers in sequence.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<N>());
        match taken {
            Some(taken) => {
                self.at += N;
                Ok(*taken)
            }
            None => refuse(self.bytes.len(), "it ends within its header".to_owned()),
        }
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn f64(&mut self) -> Result<f64> {
        Ok(f64::from_le_bytes(self.take()?))
    }

    fn point(&mut self) -> Result<[f64; 3]> {
        Ok([self.f64()?, self.f64()?, self.f64()?])
    }

    fn count(&mut self) -> Result<usize> {
        let at = self.at;
        let count = u64::from_le_bytes(self.take()?);
        usize::try_from(count).or_else(|_| refuse(at, format!("a count of {count}")))
    }
}
