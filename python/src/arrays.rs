//! numpy arrays in and out.
//!
//! Python code (`hullfield/_arrays.py`) has checked the dtype and made the arrays contiguous, so here they are borrowed as they are.

use bytemuck::Pod;
use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::error::invalid;

/// An array of rows of `N` numbers, as the library takes them.
pub(crate) fn rows<'a, T: Element + Pod, const N: usize>(
    py: Python<'_>,
    name: &str,
    array: &'a PyReadonlyArrayDyn<'_, T>,
) -> PyResult<&'a [[T; N]]> {
    let has_rows = array.ndim() == 2 && array.shape()[1] == N;
    match array.as_slice() {
        Ok(numbers) if has_rows => Ok(bytemuck::cast_slice(numbers)),
        _ => {
            let message =
                format!("{name} has the shape {:?}, (n, {N}) and C order are needed", array.shape());
            Err(invalid(py, &message))
        }
    }
}

/// An array of numbers of any shape, row-major.
pub(crate) fn numbers<'a, T: Element>(
    py: Python<'_>,
    name: &str,
    array: &'a PyReadonlyArrayDyn<'_, T>,
) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| invalid(py, &format!("{name} is not in C order")))
}

/// The column of an array that may be missing: then empty.
pub(crate) fn optional<'a, T: Element>(
    py: Python<'_>,
    name: &str,
    array: Option<&'a PyReadonlyArrayDyn<'_, T>>,
) -> PyResult<&'a [T]> {
    array.map_or(Ok(&[]), |array| numbers(py, name, array))
}

/// A one-dimensional array that takes over the numbers.
pub(crate) fn array<T: Element>(py: Python<'_>, numbers: Vec<T>) -> Py<PyAny> {
    PyArray1::from_vec(py, numbers).into_any().unbind()
}

/// An array that takes over the numbers, of this shape.
pub(crate) fn shaped<T: Element>(py: Python<'_>, numbers: Vec<T>, shape: &[usize]) -> PyResult<Py<PyAny>> {
    Ok(PyArray1::from_vec(py, numbers).reshape(shape)?.into_any().unbind())
}

/// An array of rows of `N` numbers that takes them over.
pub(crate) fn matrix<T: Element + Pod, const N: usize>(
    py: Python<'_>,
    rows: Vec<[T; N]>,
) -> PyResult<Py<PyAny>> {
    let count = rows.len();
    let numbers: Vec<T> = bytemuck::allocation::cast_vec(rows);
    shaped(py, numbers, &[count, N])
}

/// A row of a structured array.
pub(crate) trait Row: Pod + Send {
    /// Name, numpy's code of the type, count (0: a number, not an array) and offset of each field.
    const FIELDS: &'static [(&'static str, &'static str, &'static [usize], usize)];

    /// Where the dtype is kept, because making it takes longer than the query of a pair.
    fn cell() -> &'static PyOnceLock<Py<PyAny>>;

    /// numpy's dtype.
    fn dtype(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
        Self::cell().get_or_try_init(py, || Self::make(py).map(Bound::unbind)).map(|dtype| dtype.bind(py))
    }

    /// Makes numpy's dtype.
    fn make(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let (names, formats, offsets) = (PyList::empty(py), PyList::empty(py), PyList::empty(py));
        // What only fills a gap has no name in numpy.
        for (name, code, shape, offset) in Self::FIELDS.iter().filter(|field| !field.0.starts_with('_')) {
            names.append(name)?;
            if shape.is_empty() {
                formats.append(code)?;
            } else {
                formats.append((code, pyo3::types::PyTuple::new(py, *shape)?))?;
            }
            offsets.append(offset)?;
        }
        let fields = PyDict::new(py);
        fields.set_item("names", names)?;
        fields.set_item("formats", formats)?;
        fields.set_item("offsets", offsets)?;
        fields.set_item("itemsize", size_of::<Self>())?;
        py.import("numpy")?.getattr("dtype")?.call1((fields,))
    }
}

/// A structured array that takes over the rows.
pub(crate) fn structured<R: Row>(py: Python<'_>, rows: Vec<R>) -> PyResult<Py<PyAny>> {
    let dtype = R::dtype(py)?;
    let words = match align_of::<R>() {
        8 => PyArray1::<u64>::from_vec(py, words_of(rows)).into_any(),
        4 => PyArray1::<u32>::from_vec(py, words_of(rows)).into_any(),
        _ => PyArray1::<u8>::from_vec(py, words_of(rows)).into_any(),
    };
    Ok(words.call_method1("view", (dtype,))?.unbind())
}

/// One row, as numpy's scalar of its dtype. It can't be written to.
pub(crate) fn scalar<R: Row>(py: Python<'_>, row: R) -> PyResult<Py<PyAny>> {
    static FROM_BUFFER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let bytes = PyBytes::new(py, bytemuck::bytes_of(&row));
    let rows = FROM_BUFFER.import(py, "numpy", "frombuffer")?.call1((bytes, R::dtype(py)?))?;
    Ok(rows.get_item(0)?.unbind())
}

/// The same memory as words of the rows' alignment.
fn words_of<R: Row, W: Pod>(rows: Vec<R>) -> Vec<W> {
    bytemuck::allocation::try_cast_vec(rows).unwrap_or_else(|(_, rows)| bytemuck::cast_slice(&rows).to_vec())
}

/// Declares a row of a structured array: a plain struct, its fields and their numpy types.
macro_rules! row {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $kind:tt),* $(,)? }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
        pub(crate) struct $name { $(pub(crate) $field: $crate::arrays::kind!(type $kind)),* }

        impl $crate::arrays::Row for $name {
            fn cell() -> &'static pyo3::sync::PyOnceLock<pyo3::Py<pyo3::PyAny>> {
                static DTYPE: pyo3::sync::PyOnceLock<pyo3::Py<pyo3::PyAny>> = pyo3::sync::PyOnceLock::new();
                &DTYPE
            }

            const FIELDS: &'static [(&'static str, &'static str, &'static [usize], usize)] = &[
                $((
                    stringify!($field),
                    $crate::arrays::kind!(code $kind),
                    $crate::arrays::kind!(shape $kind),
                    std::mem::offset_of!($name, $field),
                )),*
            ];
        }
    };
}
pub(crate) use row;

/// The types of a field of [`row`]: `f64`, `[f64; 3]`, `[[f64; 3]; 2]`, and so on.
macro_rules! kind {
    (type [[[$t:ident; $n:literal]; $m:literal]; $l:literal]) => { [[[$t; $n]; $m]; $l] };
    (type [[$t:ident; $n:literal]; $m:literal]) => { [[$t; $n]; $m] };
    (type [$t:ident; $n:literal]) => { [$t; $n] };
    (type bool) => { u8 };
    (type $t:ident) => { $t };
    (shape [[[$t:ident; $n:literal]; $m:literal]; $l:literal]) => { &[$l, $m, $n] };
    (shape [[$t:ident; $n:literal]; $m:literal]) => { &[$m, $n] };
    (shape [$t:ident; $n:literal]) => { &[$n] };
    (shape $t:ident) => { &[] };
    (code [$t:tt; $n:literal]) => { $crate::arrays::kind!(code $t) };
    (code bool) => { "?" };
    (code f64) => { "<f8" };
    (code f32) => { "<f4" };
    (code u64) => { "<u8" };
    (code i64) => { "<i8" };
    (code u32) => { "<u4" };
    (code i32) => { "<i4" };
    (code u8) => { "u1" };
}
pub(crate) use kind;
