//! The numbers of accessors, plain, quantized and sparse.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::json::{Accessor, BufferView, Root, Shape};
use super::uri::{Place, base64, place};
use crate::error::{Error, Result};

/// Gives the bytes of a file beside the scene, by its path, and no more than a number of them.
pub(super) type Beside<'a> = &'a dyn Fn(&str, u64) -> Result<Vec<u8>>;

/// How many items an accessor of any file may have that no buffer has; a larger file may have as many as it has bytes.
const ZERO_COUNT: u64 = 1 << 16;

/// The buffers of a file. Only those are read that something asks for.
pub(super) struct Buffers<'a> {
    pub(super) name: &'a str,
    pub(super) root: &'a Root,
    file_bytes: u64,
    binary: Option<Rc<Vec<u8>>>,
    beside: Beside<'a>,
    /// The largest size that a buffer claims of each file.
    claims: HashMap<String, u64>,
    files: RefCell<HashMap<String, Rc<Vec<u8>>>>,
    data: RefCell<HashMap<usize, Rc<Vec<u8>>>>,
    /// How many bytes were read of buffers in other files.
    read_bytes: Cell<u64>,
    /// The sparse accessors whose indices are known to be in order.
    checked: RefCell<HashMap<usize, ()>>,
}

impl<'a> Buffers<'a> {
    /// The buffers of a file of `file_bytes` bytes.
    pub(super) fn new(
        name: &'a str,
        root: &'a Root,
        file_bytes: u64,
        binary: Option<&[u8]>,
        beside: Beside<'a>,
    ) -> Self {
        let mut claims: HashMap<String, u64> = HashMap::new();
        for buffer in &root.buffers {
            if let Some(Ok(Place::File(path))) = buffer.uri.as_deref().map(place) {
                let claim = claims.entry(path).or_default();
                *claim = buffer.byte_length.max(*claim);
            }
        }
        Self {
            name,
            root,
            file_bytes,
            binary: binary.map(|binary| Rc::new(binary.to_vec())),
            beside,
            claims,
            files: RefCell::default(),
            data: RefCell::default(),
            read_bytes: Cell::new(0),
            checked: RefCell::default(),
        }
    }

    /// How many bytes the file has, with the buffers in other files that were read so far.
    pub(super) fn all_bytes(&self) -> u64 {
        self.file_bytes + self.read_bytes.get()
    }

    fn failed(&self, message: impl std::fmt::Display) -> Error {
        Error::file(self.name, message)
    }

    /// The bytes of a buffer, at least as many as it claims.
    fn buffer(&self, index: usize) -> Result<Rc<Vec<u8>>> {
        if let Some(data) = self.data.borrow().get(&index) {
            return Ok(Rc::clone(data));
        }
        let buffer = self
            .root
            .buffers
            .get(index)
            .ok_or_else(|| self.failed(format!("buffer {index} does not exist")))?;
        let data = match buffer.uri.as_deref() {
            None => match (&self.binary, index) {
                (Some(binary), 0) => Rc::clone(binary),
                _ => return Err(self.failed(format!("buffer {index}: its binary part is missing"))),
            },
            Some(uri) => match place(uri).map_err(|message| self.failed(message))? {
                Place::Data(text) => {
                    Rc::new(base64(text).ok_or_else(|| self.failed("a data URI is not valid base64"))?)
                }
                Place::File(path) => self.file(path)?,
            },
        };
        if (data.len() as u64) < buffer.byte_length {
            let message = format!("buffer {index} has {} bytes, {} expected", data.len(), buffer.byte_length);
            return Err(self.failed(message));
        }
        self.data.borrow_mut().insert(index, Rc::clone(&data));
        Ok(data)
    }

    fn file(&self, path: String) -> Result<Rc<Vec<u8>>> {
        if let Some(data) = self.files.borrow().get(&path) {
            return Ok(Rc::clone(data));
        }
        let most = self.claims.get(&path).copied().unwrap_or_default();
        let data = Rc::new((self.beside)(&path, most)?);
        self.read_bytes.set(self.read_bytes.get() + data.len() as u64);
        self.files.borrow_mut().insert(path, Rc::clone(&data));
        Ok(data)
    }

    pub(super) fn accessor(&self, index: u32) -> Result<&'a Accessor> {
        let accessor = self.root.accessors.get(index as usize);
        accessor.ok_or_else(|| {
            self.failed(format!("accessor {index} does not exist, there are {}", self.root.accessors.len()))
        })
    }

    /// The numbers of an accessor.
    pub(super) fn values(&self, index: u32) -> Result<Values> {
        let accessor = self.accessor(index)?;
        let failed = |message: String| self.failed(format!("accessor {index}: {message}"));
        let kind = Component::of_code(accessor.component_type)
            .ok_or_else(|| failed(format!("{} is not a type of numbers", accessor.component_type)))?;
        let size = (kind.bytes() * parts(accessor.shape)) as u64;
        let plain = match accessor.buffer_view {
            None => {
                let limit = ZERO_COUNT.max(self.file_bytes);
                if accessor.count > limit {
                    let (count, has) = (accessor.count, self.file_bytes);
                    return Err(failed(format!(
                        "{count} zeros that no buffer has: a file of {has} bytes may have {limit}"
                    )));
                }
                None
            }
            Some(view) => Some(self.slice(index, view, accessor.byte_offset, accessor.count, size)?),
        };
        let sparse = match &accessor.sparse {
            None => None,
            Some(sparse) => {
                let indices = sparse.indices.component_type;
                let kind = Component::of_code(indices)
                    .filter(|kind| matches!(kind, Component::U8 | Component::U16 | Component::U32))
                    .ok_or_else(|| {
                        failed(format!("sparse indices of type {indices} are no whole numbers"))
                    })?;
                let index_size = kind.bytes() as u64;
                let (view, offset) = (sparse.indices.buffer_view, sparse.indices.byte_offset);
                let places = self.slice(index, view, offset, sparse.count, index_size)?;
                let (view, offset) = (sparse.values.buffer_view, sparse.values.byte_offset);
                Some(SparseSlices {
                    count: sparse.count as usize,
                    kind,
                    places,
                    values: self.slice(index, view, offset, sparse.count, size)?,
                })
            }
        };
        let values = Values { kind, normalized: accessor.normalized, count: accessor.count, plain, sparse };
        if let Some(sparse) = &values.sparse
            && !self.checked.borrow().contains_key(&(index as usize))
        {
            let mut places = (0..sparse.count).map(|i| sparse.place(i));
            if !places.clone().is_sorted_by(|a, b| a < b)
                || places.next_back().is_some_and(|last| last >= accessor.count)
            {
                return Err(failed("its sparse indices do not increase, or reach past its count".to_owned()));
            }
            self.checked.borrow_mut().insert(index as usize, ());
        }
        Ok(values)
    }

    /// The bytes of `count` items of `size` bytes from `offset` of a view.
    fn slice(&self, accessor: u32, view: u32, offset: u64, count: u64, size: u64) -> Result<Slice> {
        let failed = |message: String| self.failed(format!("accessor {accessor}: {message}"));
        let views = &self.root.buffer_views;
        let BufferView { buffer, byte_offset, byte_length, byte_stride, .. } = *views
            .get(view as usize)
            .map(|found| (found, self.check_meshopt(found)))
            .ok_or_else(|| failed(format!("buffer view {view} does not exist, there are {}", views.len())))
            .and_then(|(found, checked)| checked.map(|()| found))?;
        let data = self.buffer(buffer as usize)?;
        let stride = byte_stride.filter(|&stride| stride > 0).unwrap_or(size);
        let end = count
            .checked_sub(1)
            .and_then(|last| last.checked_mul(stride)?.checked_add(offset)?.checked_add(size))
            .unwrap_or(u64::MAX);
        let limit = self.root.buffers.get(buffer as usize).map_or(0, |buffer| buffer.byte_length);
        let view_end = byte_offset.saturating_add(byte_length);
        if count == 0 || end > byte_length || view_end > limit {
            return Err(failed(
                "its numbers reach past the end of their buffer, or there are none".to_owned(),
            ));
        }
        Ok(Slice { data, begin: (byte_offset + offset) as usize, stride: stride as usize })
    }

    /// Refuses a view that is only there compressed.
    fn check_meshopt(&self, view: &BufferView) -> Result<()> {
        let buffer = self.root.buffers.get(view.buffer as usize);
        let has_bytes =
            buffer.is_some_and(|buffer| buffer.uri.is_some() || (view.buffer == 0 && self.binary.is_some()));
        if view.is_meshopt() && !has_bytes {
            return Err(self.failed(super::extensions::MESHOPT));
        }
        Ok(())
    }
}

/// The type of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    pub(super) fn of_code(code: u32) -> Option<Self> {
        Some(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    pub(super) fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }
}

/// How many numbers an item has. Matrices of small numbers have gaps; they are not asked for.
fn parts(shape: Shape) -> usize {
    match shape {
        Shape::Scalar => 1,
        Shape::Vec2 => 2,
        Shape::Vec3 => 3,
        Shape::Vec4 | Shape::Mat2 => 4,
        Shape::Mat3 => 9,
        Shape::Mat4 => 16,
    }
}

/// Items in a buffer.
#[derive(Debug)]
struct Slice {
    data: Rc<Vec<u8>>,
    begin: usize,
    stride: usize,
}

impl Slice {
    /// The first bytes of a part of an item; zeros past the end, which is not reached.
    fn bytes(&self, item: usize, part: usize, size: usize) -> [u8; 4] {
        let at = self.begin + item * self.stride + part * size;
        let mut found = [0; 4];
        for (to, from) in found.iter_mut().zip(self.data.get(at..at + size).unwrap_or_default()) {
            *to = *from;
        }
        found
    }
}

/// The items of an accessor that are not where the others are.
#[derive(Debug)]
struct SparseSlices {
    count: usize,
    kind: Component,
    places: Slice,
    values: Slice,
}

impl SparseSlices {
    /// The item that value `i` replaces.
    fn place(&self, i: usize) -> u64 {
        u64::from(u32::from_le_bytes(self.places.bytes(i, 0, self.kind.bytes())))
    }

    /// The value that replaces an item.
    fn find(&self, item: u64) -> Option<usize> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.place(middle) < item {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low < self.count && self.place(low) == item).then_some(low)
    }
}

/// The numbers of an accessor. Without a buffer they are zeros.
#[derive(Debug)]
pub(super) struct Values {
    pub(super) kind: Component,
    normalized: bool,
    pub(super) count: u64,
    plain: Option<Slice>,
    sparse: Option<SparseSlices>,
}

impl Values {
    /// Whether the numbers are zeros, as no buffer has them.
    pub(super) fn has_no_buffer(&self) -> bool {
        self.plain.is_none()
    }

    fn bytes(&self, item: u64, part: usize) -> [u8; 4] {
        let size = self.kind.bytes();
        if let Some(sparse) = &self.sparse
            && let Some(found) = sparse.find(item)
        {
            return sparse.values.bytes(found, part, size);
        }
        self.plain.as_ref().map_or([0; 4], |plain| plain.bytes(item as usize, part, size))
    }

    /// A number of an item. Normalised integers are from 0 to 1, or from -1 to 1.
    pub(super) fn number(&self, item: u64, part: usize) -> f64 {
        let bytes = self.bytes(item, part);
        // The lowest signed number would be below -1.
        let scaled = |value: f64, most: f64| if self.normalized { (value / most).max(-1.0) } else { value };
        let [first, second, ..] = bytes;
        match self.kind {
            Component::I8 => scaled(f64::from(first as i8), f64::from(i8::MAX)),
            Component::U8 => scaled(f64::from(first), f64::from(u8::MAX)),
            Component::I16 => scaled(f64::from(i16::from_le_bytes([first, second])), f64::from(i16::MAX)),
            Component::U16 => scaled(f64::from(u16::from_le_bytes([first, second])), f64::from(u16::MAX)),
            Component::U32 => f64::from(u32::from_le_bytes(bytes)),
            Component::F32 => f64::from(f32::from_le_bytes(bytes)),
        }
    }

    /// The first numbers of an item.
    pub(super) fn numbers<const N: usize>(&self, item: u64) -> [f64; N] {
        std::array::from_fn(|part| self.number(item, part))
    }

    /// A whole number of an item, for unsigned integers.
    pub(super) fn whole(&self, item: u64, part: usize) -> u32 {
        u32::from_le_bytes(self.bytes(item, part))
    }

    /// Whether the numbers are unsigned integers.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.kind, Component::U8 | Component::U16 | Component::U32)
    }
}
