//! The two handles: [`Shapes`](shapes::Shapes), what bodies are made of, and [`Scene`](scene::Scene), bodies that live from query to query.

pub(crate) mod body;
pub(crate) mod events;
pub(crate) mod fields;
pub(crate) mod id;
pub(crate) mod kept;
pub(crate) mod options;
pub(crate) mod pair_query;
pub(crate) mod pairs;
pub(crate) mod parts;
pub(crate) mod probe;
pub(crate) mod probes;
pub(crate) mod queries;
pub(crate) mod robots;
pub(crate) mod rows;
pub(crate) mod rules;
pub(crate) mod scene;
pub(crate) mod shape;
pub(crate) mod shapes;
pub(crate) mod slots;
pub(crate) mod snapshot;
pub(crate) mod state;
