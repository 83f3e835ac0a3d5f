"""What a raster of the caller means: which cells have no data, what their numbers stand for, and where they are.

A raster is a numpy array, or an ``xarray.DataArray`` as xarray and rioxarray make them. Attributes that a DataArray still has are taken as GDAL
takes them: cells equal to ``_FillValue`` have no data, and numbers are ``scale_factor`` times what is stored, plus ``add_offset``. (A file that was
opened with ``masked=True`` or ``mask_and_scale=True`` has no such attributes any more.)
"""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield._arrays import array_of, mask_of
from hullfield._errors import InvalidInputError, InvalidTypeError

#: The attributes of a DataArray that name the number which stands for no data, in the order in which rioxarray looks for them.
_NO_DATA = ("_FillValue", "missing_value", "fill_value", "nodata")
#: How far coordinates may be off, in cells.
_TOLERANCE = 1e-3


#: Where cells lie on a globe: the latitudes of the outer edges of the first and the last row, the width of a cell in degrees, and the ellipsoid, by the
#: radius of its equator in metres and its flattening.
Globe = tuple[tuple[float, float], float, tuple[float, float]]

_WGS84 = (6_378_137.0, 1 / 298.257_223_563)


@dataclass(frozen=True, eq=False)
class Raster:
    """The numbers of a raster, (rows, columns), and which cells have no data; None where all have."""

    values: npt.NDArray[Any]
    mask: npt.NDArray[np.bool_] | None

    def filled(self, value: float) -> npt.NDArray[Any]:
        """The numbers, with this one in the cells without data."""
        if self.mask is None:
            return self.values
        kind = self.values.dtype
        wide = kind if kind.kind == "f" or float(value).is_integer() else np.dtype(np.float64)
        found = self.values.astype(wide)
        found[self.mask] = value
        return found


def is_labelled(value: object) -> bool:
    """Whether a value is an ``xarray.DataArray``."""
    if isinstance(value, np.ndarray) or not hasattr(value, "ndim"):
        return False
    return all(hasattr(value, name) for name in ("dims", "coords", "attrs", "values", "transpose"))


def _labelled(value: Any) -> Any:
    """An ``xarray.Variable``, whose attributes say what its numbers mean too, as a DataArray without coordinates; all else as it is."""
    names = ("dims", "attrs", "values", "transpose")
    if isinstance(value, np.ndarray) or is_labelled(value) or not all(hasattr(value, name) for name in names):
        return value
    if not type(value).__module__.startswith("xarray."):
        return value
    import xarray

    return xarray.DataArray(value) if isinstance(value, xarray.Variable) else value


def raster_of(name: str, value: Any) -> Raster:
    """The numbers and the mask of a raster, or of a window of one."""
    value = _read(_labelled(value))
    mask = mask_of(value)
    if mask is not None:
        data = getattr(value, "unmasked", None)
        values = np.asarray(np.ma.getdata(value) if data is None else data)
        return Raster(_numbers(name, values), mask)
    if not is_labelled(value):
        return Raster(_numbers(name, array_of(name, value)), None)
    # Of an array that is read lazily, read once.
    values = _numbers(name, np.asarray(value.values))
    mask = _no_data(name, values, value.attrs)
    scale, offset = _scale_of(name, value)
    if (scale, offset) != (1.0, 0.0):
        values = values * np.float64(scale) + np.float64(offset)
    return Raster(values, mask)


def _scale_of(name: str, value: Any) -> tuple[float, float]:
    scale, offset = (
        _attribute(name, value.attrs, key, rest) for key, rest in (("scale_factor", 1.0), ("add_offset", 0.0))
    )
    return scale, offset


def is_scaled(name: str, value: Any) -> bool:
    """Whether the numbers of a DataArray stand for others."""
    return _scale_of(name, value) != (1.0, 0.0)


def _read(value: Any) -> Any:
    """What gives a masked array only when it is read, as variables of netCDF4, as that array; all else as it is."""
    if (
        isinstance(value, np.ndarray)
        or is_labelled(value)
        or not hasattr(value, "__array__")
        or mask_of(value) is not None
    ):
        return value
    try:
        found = np.asanyarray(value)
    except Exception:  # What is wrong is said where the numbers are taken.
        return value
    return found if isinstance(found, np.ma.MaskedArray) else value


def _numbers(name: str, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if values.dtype.kind not in "biuf":
        raise InvalidTypeError(f"{name} has the dtype {values.dtype}, it must hold real numbers")
    return values


def _attribute(name: str, attributes: Any, key: str, default: float) -> float:
    try:
        return float(attributes.get(key, default))
    except (TypeError, ValueError):
        raise InvalidInputError(f"the attribute {key} of {name} is {attributes[key]!r}, it must be a number") from None


def _no_data(name: str, values: npt.NDArray[Any], attributes: Any) -> npt.NDArray[np.bool_] | None:
    key = next((key for key in _NO_DATA if attributes.get(key) is not None), None)
    if key is None or values.dtype.kind == "b":
        return None
    try:
        numbers = np.atleast_1d(np.asarray(attributes[key], dtype=np.float64 if values.dtype.kind == "f" else None))
        numbers = numbers if numbers.dtype.kind in "iuf" else numbers.astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(f"the attribute {key} of {name} is {attributes[key]!r}, it must be a number") from None
    mask = np.zeros(values.shape, dtype=np.bool_)
    for number in numbers.reshape(-1):
        if values.dtype.kind == "f":
            # A file says the number with more digits than its cells hold.
            with np.errstate(over="ignore"):
                mask |= values == number.astype(values.dtype)
        else:
            mask |= values == number
    return mask if mask.any() else None


def plane(value: Any) -> Any:
    """A DataArray of one band, as rioxarray opens files, without the dimension of bands; an ``xarray.Variable`` as a DataArray; all else as it is."""
    value = _labelled(value)
    if is_labelled(value) and value.ndim == 3 and value.shape[0] == 1:
        return value.isel({value.dims[0]: 0}, drop=True)
    return value


def aligned(name: str, value: Any, frame_name: str, frame: Any) -> Any:
    """A raster in the order of the cells of another, where both say where their cells are: transposed and flipped as it needs.

    Raises:
        InvalidInputError: they don't have the same cells, or not the same reference system.
    """
    if value is frame or not (is_labelled(value) and is_labelled(frame)):
        return value
    if set(value.dims) != set(frame.dims):
        raise InvalidInputError(f"{name} has the dimensions {value.dims}, {frame_name} has {frame.dims}: rename one's")
    value = value.transpose(*frame.dims)
    for dim in frame.dims:
        if dim in value.coords and dim in frame.coords:
            value = _along(name, value, frame_name, frame, dim)
    if not _same_system(value, frame):
        raise InvalidInputError(
            f"{name} has another reference system than {frame_name}: reproject one to match the other"
        )
    has_axes = all(dim in value.coords and dim in frame.coords for dim in frame.dims)
    ours, theirs = (None, None) if has_axes else (_affine_of(array) for array in (value, frame))
    if ours is not None and theirs is not None:
        cell = max(abs(part) for row in (theirs[:2], theirs[3:5]) for part in row)
        if max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) > _TOLERANCE * cell:
            raise InvalidInputError(
                f"{name} has the transform {ours}, {frame_name} has {theirs}: they must be the same"
            )
    return value


def _affine_of(array: Any) -> tuple[float, ...] | None:
    """The affine transform of an array: the one that it carries, or that of its coordinates, if they are even."""
    carried = _affine(array)
    if carried is not None or len(array.dims) != 2 or any(dim not in array.coords for dim in array.dims):
        return carried
    down, across = (np.asarray(array.coords[dim].values) for dim in array.dims)
    if any(at.dtype.kind not in "iuf" or len(at) < 2 for at in (down, across)):
        return None
    (a, c), (e, f) = (_line(at.astype(np.float64)) for at in (across, down))
    return a, 0.0, c, 0.0, e, f


def _line(at: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The mean step of coordinates, and the outer edge of the first cell."""
    step = float(at[-1] - at[0]) / (len(at) - 1)
    return step, float(at[0]) - 0.5 * step


def _along(name: str, value: Any, frame_name: str, frame: Any, dim: Any) -> Any:
    ours, theirs = (np.asarray(array.coords[dim].values) for array in (value, frame))
    if ours.shape == theirs.shape:
        if _are_equal(ours, theirs):
            return value
        if _are_equal(ours[::-1], theirs):
            return value.isel({dim: slice(None, None, -1)})
    ends = (f"{len(at)} from {at[0]} to {at[-1]}" if len(at) else "none" for at in (ours, theirs))
    said, wanted = ends
    raise InvalidInputError(
        f"the coordinates {dim} of {name} are {said}, those of {frame_name} {wanted}: they must be the same, in either order"
    )


def _are_equal(ours: npt.NDArray[Any], theirs: npt.NDArray[Any]) -> bool:
    if ours.dtype.kind not in "iuf" or theirs.dtype.kind not in "iuf":
        return bool((ours == theirs).all())
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    # Coordinates of one cell alone are equal where they are equal but for rounding.
    cell = np.abs(np.diff(theirs)).min() if len(theirs) > 1 else 1e-6 * max(1.0, float(np.abs(theirs).max(initial=0.0)))
    return bool((np.abs(ours - theirs) <= _TOLERANCE * cell).all())


def _mapping(array: Any) -> Any:
    """The coordinate that holds the reference system, or None."""
    named = array.encoding.get("grid_mapping") or array.attrs.get("grid_mapping")
    for name in (named, "spatial_ref", "crs"):
        if isinstance(name, str) and name in array.coords:
            return array.coords[name]
    return None


def _system(array: Any) -> str | None:
    """The reference system as text, as the array says it."""
    mapping = _mapping(array)
    said = {} if mapping is None else mapping.attrs
    found = said.get("crs_wkt") or said.get("spatial_ref") or array.attrs.get("crs")
    return None if not found else str(found)


def _parsed(system: str) -> Any:
    """The reference system as an object of rasterio or pyproj; None without either, or where it can't be read."""
    try:
        from rasterio.crs import CRS

        return CRS.from_user_input(system)
    except Exception:
        pass
    try:
        import pyproj

        return pyproj.CRS.from_user_input(system)
    except Exception:
        return None


def _same_system(value: Any, frame: Any) -> bool:
    ours, theirs = _system(value), _system(frame)
    if ours is None or theirs is None or ours == theirs:
        return True
    parsed = _parsed(ours), _parsed(theirs)
    return None not in parsed and bool(parsed[0] == parsed[1])


def _is_geographic(array: Any) -> bool:
    system = _system(array)
    if system is not None:
        parsed = _parsed(system)
        if parsed is not None:
            return bool(parsed.is_geographic)
        text = system.lstrip().upper()
        if text.startswith(("GEOGCS", "GEOGCRS", "GEOGRAPHICCRS", "GEODCRS", "GEODETICCRS")):
            # The same word stands for geocentric systems.
            return re.search(r"\bCS\s*\[\s*CARTESIAN", text) is None
        if "[" in text:
            return False
    if {str(dim).lower() for dim in array.dims} in ({"lat", "lon"}, {"latitude", "longitude"}):
        return True
    axes = [array.coords[dim] for dim in array.dims if dim in array.coords]
    return any(str(axis.attrs.get("units", "")).startswith("degree") for axis in axes)


def _affine(array: Any) -> tuple[float, ...] | None:
    """The affine transform a, b, c, d, e, f that the array carries beside its coordinates, as rioxarray keeps it."""
    mapping = _mapping(array)
    text = None if mapping is None else mapping.attrs.get("GeoTransform")
    if text is None:
        return None
    try:
        c, a, b, f, d, e = (float(part) for part in str(text).split())
    except ValueError:
        raise InvalidInputError(f"the attribute GeoTransform is {text!r}, it must be six numbers") from None
    return a, b, c, d, e, f


def step_sizes(
    frames: list[Any], transform: Any, size: Any, is_geodesic: bool, shape: tuple[int, int]
) -> tuple[tuple[float, float], Globe | None]:
    """The size of a cell along x and y, and where cells lie on a globe, if lengths are geodesics."""
    if is_geodesic:
        return (1.0, 1.0), _globe(frames, transform, size, shape)
    return _cell_size(frames, transform, size), None


def _cell_size(frames: list[Any], transform: Any, size: Any) -> tuple[float, float]:
    """The size of a cell along x and y, in map units: given, or that of the first raster that says it, or 1."""
    if transform is not None and size is not None:
        raise InvalidInputError("give transform or cell_size, not both")
    if size is not None:
        given = np.atleast_1d(array_of("cell_size", size))
        if given.dtype.kind not in "iuf":
            raise InvalidTypeError(f"cell_size has the dtype {given.dtype}, it must hold real numbers")
        if given.shape not in ((1,), (2,)):
            raise InvalidInputError(
                f"cell_size has the shape {given.shape}, it must be a number, or two: along x and y"
            )
        return float(given[0]), float(given[-1])
    if transform is not None:
        return _size_of_transform(_six(transform))
    for array in filter(is_labelled, frames):
        found = _size_of_labels(array)
        if found is not None:
            if _is_geographic(array):
                message = (
                    "the coordinates are degrees, so distances are degrees times friction, and a degree of longitude is shorter than one of "
                    "latitude: geodesic=True has true lengths in metres"
                )
                warnings.warn(message, stacklevel=5)
            return found
    return 1.0, 1.0


def _globe(frames: list[Any], transform: Any, size: Any, shape: tuple[int, int]) -> Globe:
    """Where the cells of rasters in degrees lie on a globe."""
    if size is not None:
        raise InvalidInputError(
            "with geodesic=True the rasters' coordinates or transform say where cells lie: leave out cell_size"
        )
    rows, _ = shape
    labelled = [array for array in frames if is_labelled(array)]
    if transform is not None:
        # Who gives a transform with geodesic=True says that its numbers are degrees, unless a raster says more.
        system = next((found for found in map(_system, labelled) if found is not None), None)
        return _on_globe(
            _edges_of_transform(_six(transform), rows), 1.0 if system is None else _degrees_a_unit(system), system
        )
    for array in labelled:
        edges = _edges(array, rows)
        if edges is None:
            continue
        if not _is_geographic(array):
            raise InvalidInputError(
                "geodesic=True is for rasters whose coordinates are degrees, and these say something else: leave it out"
            )
        mapping = _mapping(array)
        system = _system(array)
        turned = "" if mapping is None else str(mapping.attrs.get("grid_mapping_name", ""))
        if turned.startswith("rotated") or (system is not None and "DERIVINGCONVERSION" in _text(system).upper()):
            raise InvalidInputError("the degrees are those of turned poles: reproject the rasters for geodesic=True")
        return _on_globe(edges, 1.0 if system is None else _degrees_a_unit(system), system)
    raise InvalidInputError("geodesic=True needs coordinates in degrees: of an xarray.DataArray, or a transform")


def _on_globe(edges: tuple[float, float, float], degrees: float, system: str | None) -> Globe:
    first, last, width = (degrees * edge for edge in edges)
    return (first, last), width, _WGS84 if system is None else _ellipsoid(system)


def _edges_of_transform(numbers: Any, rows: int) -> tuple[float, float, float]:
    """The latitudes of the outer edges of the first and the last row, and the width of a cell."""
    a, b, _, d, e, f = numbers
    if abs(b) > 1e-9 * abs(a) or abs(d) > 1e-9 * abs(e):
        raise InvalidInputError("the columns of transform are no meridians: reproject the rasters for geodesic=True")
    return f, f + e * rows, abs(a)


def _edges(array: Any, rows: int) -> tuple[float, float, float] | None:
    """The same of a DataArray; None where it says none."""
    sizes = _size_of_labels(array)
    if sizes is None:
        return None
    down, across = array.dims
    if any(dim not in array.coords or array.sizes[dim] < 2 for dim in (down, across)):
        transform = _affine(array)
        return None if transform is None else _edges_of_transform(transform, rows)
    units = str(array.coords[down].attrs.get("units", "")).lower()
    if str(down).lower() in ("x", "lon", "longitude") or re.match(r"degrees?_?e", units):
        raise InvalidInputError(f"the rows of the rasters are {down}, they must be latitudes: transpose the rasters")
    at = np.asarray(array.coords[down].values, dtype=np.float64)
    half = 0.5 * (at[-1] - at[0]) / (len(at) - 1)
    return float(at[0] - half), float(at[-1] + half), sizes[0]


def _text(system: str) -> str:
    """The reference system as well-known text, or as it is where nothing can tell."""
    parsed = _parsed(system)
    try:
        return system if parsed is None else str(parsed.to_wkt())
    # Other systems have no such text.
    except Exception:
        return system


def _degrees_a_unit(system: str) -> float:
    """The degrees in one unit of longitude and latitude."""
    text = re.sub(r"PRIMEM\s*\[[^\[\]]*(\[[^\[\]]*\][^\[\]]*)*\]", "", _text(system), flags=re.IGNORECASE)
    found = re.search(r"\b(?:ANGLE)?UNIT\s*\[\s*\"[^\"]*\"\s*,\s*([-+.\deE]+)", text, flags=re.IGNORECASE)
    size = _number(found.group(1)) if found else None
    return 1.0 if size is None or size <= 0 else math.degrees(size)


def _ellipsoid(system: str) -> tuple[float, float]:
    """The radius of the equator in metres, and the flattening; those of WGS 84 where the system does not say them."""
    pattern = r"(?:SPHEROID|ELLIPSOID)\s*\[\s*\"[^\"]*\"\s*,\s*([-+.\deE]+)\s*,\s*([-+.\deE]+)"
    found = re.search(pattern, _text(system), flags=re.IGNORECASE)
    numbers = [_number(part) for part in found.groups()] if found else [None, None]
    equator, inverse = numbers
    if equator is None or inverse is None:
        return _WGS84
    return equator, 0.0 if inverse == 0 else 1.0 / inverse


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _six(transform: Any) -> list[float]:
    try:
        numbers = [float(number) for number in tuple(transform)[:6]]
    # Objects may raise anything.
    except Exception:
        message = f"transform is {transform!r}, it must be an affine transform of six numbers: a, b, c, d, e, f"
        raise InvalidTypeError(message) from None
    if len(numbers) != 6:
        raise InvalidInputError(f"transform has {len(numbers)} numbers, an affine transform has 6: a, b, c, d, e, f")
    return numbers


def _size_of_transform(numbers: Any) -> tuple[float, float]:
    a, b, _, d, e, _ = numbers
    along_x, along_y = math.hypot(a, d), math.hypot(b, e)
    if abs(a * b + d * e) > 1e-9 * along_x * along_y:
        raise InvalidInputError("the axes of transform are not at right angles, so cells are no rectangles")
    return along_x, along_y


def _size_of_labels(array: Any) -> tuple[float, float] | None:
    if len(array.dims) != 2:
        return None
    if any(dim not in array.coords for dim in array.dims):
        transform = _affine(array)
        return None if transform is None else _size_of_transform(transform)
    sizes = []
    for dim in reversed(array.dims):
        at = np.asarray(array.coords[dim].values)
        if at.dtype.kind not in "iuf":
            raise InvalidInputError(
                f"the coordinates of {dim} have the dtype {at.dtype}, they must be numbers: give cell_size"
            )
        if len(at) < 2:
            transform = _affine(array)
            return None if transform is None else _size_of_transform(transform)
        steps = np.diff(at.astype(np.float64))
        mean = float(steps.mean())
        if mean == 0 or not np.abs(steps - mean).max() <= _TOLERANCE * abs(mean):
            raise InvalidInputError(f"the coordinates of {dim} are not evenly spaced: give cell_size")
        sizes.append(abs(mean))
    return sizes[0], sizes[1]


@dataclass(frozen=True, eq=False)
class Place:
    """Where the cells of a raster are: its dimensions and coordinates, without its numbers."""

    dims: tuple[Any, ...]
    coords: dict[Any, Any]
    mapping: str | None
    units: str | None

    def labelled(self, values: npt.NDArray[Any], name: str, attributes: dict[str, Any]) -> Any:
        """Numbers as an ``xarray.DataArray``, with the coordinates of the raster, and nothing else of it."""
        import xarray

        found = xarray.DataArray(values, coords=self.coords, dims=self.dims, name=name, attrs=attributes)
        if self.mapping is not None:
            found.encoding["grid_mapping"] = self.mapping
        return found


def place_of(frame: Any, friction: Any, is_geodesic: bool) -> Place:
    """Where the cells of a raster are, and the units of friction times length, if both are said."""
    coords = {key: array for key, array in frame.coords.items() if set(array.dims) <= set(frame.dims)}
    mapping = _mapping(frame)
    units = None
    if is_labelled(friction) and (is_geodesic or frame.dims[-1] in frame.coords):
        of_length = "m" if is_geodesic else frame.coords[frame.dims[-1]].attrs.get("units")
        said = friction.attrs.get("units"), of_length
        units = " ".join(said) if all(isinstance(unit, str) for unit in said) else None
    return Place(frame.dims, coords, None if mapping is None else str(mapping.name), units)
