//! The shapes that bodies are made of, laid out for an engine once.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::collide::broad_phase::search_pool::SearchPool;
use crate::collide::compound::field::Field;
use crate::collide::compound::field_scenes::FieldScenes;
use crate::collide::compound::part::{Compound, Part};
use crate::collide::compound::shape::{PartList, Shape as PartShape};
use crate::collide::handle::body::Body;
use crate::collide::handle::shape::Shape;
use crate::collide::hull::Hull;
use crate::collide::query::gpu::arena::GpuArena;
use crate::collide::scene::query_input::Scene as HullSet;
use crate::engine::Engine;
use crate::error::{Error, Location, Result};
use crate::parallel::map;

/// What bodies are made of: hulls, compounds and height fields, laid out once and, on a GPU engine, uploaded.
///
/// A copy of the handle shares them. [`Scene`](crate::collide::next::Scene)s over the same shapes share the memory of their queries too.
///
/// ```
/// use hullfield::Engine;
/// use hullfield::collide::next::{Body, Compound, Hull, Part, Scene, SceneOptions, Shapes};
/// use hullfield::collide::Pairs;
///
/// let dumbbell = Compound::new([Part::new(0), Part::new(1).at([-1.0, 0.0, 0.0]), Part::new(1).at([1.0, 0.0, 0.0])]);
/// let shapes = [Hull::cuboid([1.0, 0.2, 0.2])?.into(), Hull::ball(0.5)?.into(), dumbbell.into()];
/// let shapes = Shapes::new(&Engine::auto()?, shapes)?;
/// let bodies = [Body::new(2), Body::new(2).at([2.9, 0.0, 0.0])];
/// let scene = Scene::new(&shapes, &bodies, SceneOptions::default())?;
/// let found = scene.intersections(Pairs::BroadPhase)?.wait()?;
/// // The right ball of the first and the left ball of the second.
/// assert_eq!((found.rows.len(), found.rows[0].part_a, found.rows[0].part_b), (1, 2, 1));
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Shapes {
    engine: Engine,
    pub(crate) table: Arc<ShapeTable>,
}

/// Checked shapes.
#[derive(Debug)]
pub(crate) struct ShapeTable {
    shapes: Vec<Shape>,
    pub(crate) laid_out: Vec<LaidOut>,
    removed: BTreeSet<u32>,
    /// The hulls among the shapes.
    pub(crate) hulls: Arc<HullSet>,
    /// The same on the device; none on the CPU engine.
    pub(crate) gpu: Option<Arc<GpuArena>>,
    /// Where there are height fields.
    pub(crate) fields: Option<Arc<FieldScenes>>,
    /// The memory of the CPU's searches.
    pub(crate) searches: Arc<SearchPool>,
}

/// A shape as queries read it.
#[derive(Debug, Clone)]
pub(crate) enum LaidOut {
    /// Index of the hull.
    Hull(u32),
    /// Parts, which name hulls by their indices, or a height field.
    Parts(Arc<PartShape>),
    Removed,
}

impl Shapes {
    /// Lays out shapes. Bodies name them by their index here, and so do the parts of compounds.
    ///
    /// # Errors
    /// [`Error::Invalid`] where a compound has no parts; at its [`Location::Part`] [`Error::Invalid`] where a part is no hull or a half-space,
    /// [`Error::Missing`] where there is no such shape, and [`Error::Value`] for a number. [`Error::TooMany`] where the vertices of all hulls
    /// exceed 2³² − 1. On a GPU engine [`Error::MemoryLimit`], [`Error::OutOfMemory`] and [`Error::DeviceLost`].
    ///
    /// # Size
    /// On a GPU engine hulls that do not fit in one binding (128 MiB by WebGPU's default: 8 million vertices) are split into blocks. Queries run
    /// over pairs of blocks one after the other. The rows stay the same.
    pub fn new(engine: &Engine, shapes: impl IntoIterator<Item = Shape>) -> Result<Self> {
        Self::of(engine, shapes.into_iter().collect(), BTreeSet::new())
    }

    fn of(engine: &Engine, shapes: Vec<Shape>, removed: BTreeSet<u32>) -> Result<Self> {
        let table = Arc::new(ShapeTable::new(engine, shapes, removed)?);
        Ok(Self { engine: engine.clone(), table })
    }

    /// The engine of queries over these shapes.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// How many shapes there are, removed ones included.
    pub fn len(&self) -> usize {
        self.table.shapes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.table.shapes.is_empty()
    }

    /// A shape; `None` where there is none, or it was removed.
    pub fn get(&self, index: u32) -> Option<&Shape> {
        let shape = self.table.shapes.get(index as usize)?;
        (!self.table.removed.contains(&index)).then_some(shape)
    }

    /// Adds shapes to this handle and returns their indices. Others keep theirs.
    ///
    /// Other handles, also copies of this one, and scenes do not see the change: see
    /// [`Scene::set_shapes`](crate::collide::next::Scene::set_shapes).
    ///
    /// # Cost
    /// All shapes are laid out again and, on a GPU engine, uploaded. So add many at once, between frames.
    ///
    /// # Errors
    /// As [`Shapes::new`]. The handle is then unchanged.
    pub fn insert(&mut self, shapes: impl IntoIterator<Item = Shape>) -> Result<Range<u32>> {
        let first = self.len() as u32;
        let all = self.table.shapes.iter().cloned().chain(shapes).collect();
        *self = Self::of(&self.engine, all, self.table.removed.clone())?;
        Ok(first..self.len() as u32)
    }

    /// Removes shapes from this handle. Others keep their indices. Removed indices are not used again.
    ///
    /// # Cost
    /// As [`Shapes::insert`].
    ///
    /// # Errors
    /// [`Error::Missing`] where there is no such shape, [`Error::Invalid`] where it was removed before or is a part of a compound that stays;
    /// otherwise as [`Shapes::new`]. The handle is then unchanged.
    pub fn remove(&mut self, indices: &[u32]) -> Result<()> {
        let (at, count) = (Location::Argument, self.len() as u64);
        let mut removed = self.table.removed.clone();
        for &index in indices {
            if u64::from(index) >= count {
                return Err(Error::Missing { at, what: "shape", index: index.into(), count });
            }
            if !removed.insert(index) {
                return Err(Error::invalid(at, format!("shape {index} was removed before")));
            }
        }
        *self = Self::of(&self.engine, self.table.shapes.clone(), removed)?;
        Ok(())
    }
}

impl ShapeTable {
    fn new(engine: &Engine, shapes: Vec<Shape>, removed: BTreeSet<u32>) -> Result<Self> {
        let (count, limit) = (shapes.len() as u64, u64::from(u32::MAX));
        if count > limit {
            return Err(Error::TooMany { what: "shapes", count, limit });
        }
        let hull_of = |(_, shape): &(u32, &Shape)| matches!(shape, Shape::Hull(_));
        let of_hulls: Vec<u32> = (0..).zip(&shapes).filter(hull_of).map(|(index, _)| index).collect();
        let hulls: Vec<Hull> = shapes
            .iter()
            .filter_map(|shape| if let Shape::Hull(hull) = shape { Some(hull.clone()) } else { None })
            .collect();
        let removed_hulls: BTreeSet<u32> = removed
            .iter()
            .filter_map(|index| of_hulls.binary_search(index).ok())
            .map(|at| at as u32)
            .collect();
        let hulls = Arc::new(HullSet::with_removed(&hulls, &removed_hulls)?);
        let gpu = match engine.context() {
            Some(context) => Some(Arc::new(GpuArena::new(context, &hulls)?)),
            None => None,
        };
        let has_fields = shapes.iter().any(|shape| matches!(shape, Shape::HeightField(_)));
        let fields = has_fields.then(|| Arc::new(FieldScenes::new(&hulls)));
        let rows: Vec<(u32, &Shape)> = (0..).zip(&shapes).collect();
        let lay_out = |&(index, shape): &(u32, &Shape)| {
            if removed.contains(&index) {
                return Ok(LaidOut::Removed);
            }
            Ok(match shape {
                Shape::Hull(_) => LaidOut::Hull(hull_index(&of_hulls, index)),
                Shape::HeightField(field) => LaidOut::Parts(Arc::new(PartShape::Field(Field::new(field)))),
                Shape::Compound(compound) => {
                    let parts = parts_of_hulls(index, compound, (&shapes, &removed), &of_hulls)?;
                    LaidOut::Parts(Arc::new(PartShape::Parts(PartList::new(index as usize, &parts, &hulls)?)))
                }
            })
        };
        let laid_out: Result<Vec<LaidOut>> = map(&rows, lay_out).into_iter().collect();
        let laid_out = laid_out?;
        Ok(Self { laid_out, shapes, removed, hulls, gpu, fields, searches: Arc::default() })
    }

    /// How many parts a body of a shape has that are hulls: none where it is a height field.
    pub(crate) fn part_count(&self, shape: u32) -> usize {
        match &self.laid_out[shape as usize] {
            LaidOut::Hull(_) => 1,
            LaidOut::Parts(parts) => parts.list().map_or(0, |list| list.parts.len()),
            LaidOut::Removed => 0,
        }
    }

    /// The parts of a shape, where it is no hull.
    pub(crate) fn parts(&self, shape: u32) -> Option<&PartShape> {
        match &self.laid_out[shape as usize] {
            LaidOut::Parts(parts) => Some(parts),
            _ => None,
        }
    }

    /// The height field that a shape is.
    pub(crate) fn field(&self, shape: u32) -> Option<&Field> {
        self.parts(shape)?.field()
    }

    /// Whether a shape is a half-space.
    pub(crate) fn is_half_space(&self, shape: u32) -> bool {
        match &self.laid_out[shape as usize] {
            LaidOut::Hull(hull) => self.hulls.supports.records[*hull as usize].half_space != 0,
            _ => false,
        }
    }

    /// Checks a body.
    ///
    /// # Errors
    /// At `at`: [`Error::Missing`] for a shape that does not exist, [`Error::Invalid`] for one that was removed and for a scale that its shape
    /// can't have, [`Error::Value`] for a number.
    pub(crate) fn check(&self, body: &Body, at: Location) -> Result<()> {
        let count = self.laid_out.len() as u64;
        let Some(laid_out) = self.laid_out.get(body.shape as usize) else {
            return Err(Error::Missing { at, what: "shape", index: body.shape.into(), count });
        };
        body.check(at)?;
        match laid_out {
            LaidOut::Removed => {
                Err(Error::invalid(at, format!("shape {} was removed from the shapes", body.shape)))
            }
            LaidOut::Hull(hull) => {
                let (instance, _) = body.instance(*hull);
                instance.radius(0, &self.hulls.supports).map(drop).map_err(|error| error.moved_to(at))
            }
            LaidOut::Parts(parts) => {
                let [x, y, z] = body.scale;
                if x != y || y != z {
                    let allowed = "a compound or a height field must have the same scale along all axes";
                    return Err(Error::value(at, "scale", format!("{:?}", body.scale), allowed));
                }
                if !parts.fits(f64::from(x), f64::from(body.padding)) {
                    let allowed = "it must leave each part a radius from 1e-18 to 1e18, and the mean of its vertices within 1e18 of its origin";
                    return Err(Error::value(at, "scale", format!("{x:?}"), allowed));
                }
                Ok(())
            }
        }
    }
}

/// The index of a hull among the hulls.
fn hull_index(of_hulls: &[u32], shape: u32) -> u32 {
    of_hulls.partition_point(|&other| other < shape) as u32
}

/// A compound whose parts name hulls by their indices among the hulls.
fn parts_of_hulls(
    row: u32,
    compound: &Compound,
    (shapes, removed): (&[Shape], &BTreeSet<u32>),
    of_hulls: &[u32],
) -> Result<Compound> {
    let part = |(index, part): (usize, &Part)| {
        let at = Location::Part { compound: row as usize, part: index };
        let Some(shape) = shapes.get(part.hull as usize) else {
            let (index, count) = (part.hull.into(), shapes.len() as u64);
            return Err(Error::Missing { at, what: "shape", index, count });
        };
        if removed.contains(&part.hull) {
            return Err(Error::invalid(at, format!("shape {} was removed from the shapes", part.hull)));
        }
        if !matches!(shape, Shape::Hull(_)) {
            return Err(Error::invalid(at, format!("shape {} is no hull, parts are hulls", part.hull)));
        }
        Ok(Part { hull: hull_index(of_hulls, part.hull), ..*part })
    };
    Ok(Compound { parts: compound.parts.iter().enumerate().map(part).collect::<Result<_>>()? })
}
