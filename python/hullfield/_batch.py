"""Rows of answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt

from hullfield._arrays import as_array, frozen
from hullfield._errors import InvalidTypeError

if TYPE_CHECKING:
    import pandas
    import pyarrow

S_co = TypeVar("S_co", covariant=True)

#: Fields by the type of their numbers. Two more have one of several types: ``axis``, and ``point``, which is a number or a place.
Whole = Literal[
    "a",
    "b",
    "body",
    "cast",
    "degeneracy",
    "face",
    "feature_indices",
    "feature_kinds",
    "outcome",
    "pair",
    "part",
    "part_a",
    "part_b",
    "path",
    "point_count",
    "posture",
    "query",
    "ray",
    "status",
]
Real = Literal[
    "distance",
    "free_until",
    "nearest",
    "normal",
    "points",
    "position_a",
    "position_b",
    "rotation_a",
    "rotation_b",
    "separation",
    "separations",
    "time",
]
Flag = Literal["initial_overlap", "is_free", "is_hit", "occluded"]


@dataclass(frozen=True, eq=False)
class Batch(Generic[S_co]):
    """The answer of a call for many queries: ``rows`` in a fixed order, the same from run to run, and ``stats``.

    ``rows`` is a numpy array, structured where a row has several fields: ``batch.rows["a"]``, or shorter ``batch["a"]``. It can't be written to:
    ``batch.rows.copy()`` can. ``numpy.asarray(batch)`` is ``rows``, without a copy.
    """

    rows: npt.NDArray[Any]
    stats: S_co

    def __post_init__(self) -> None:
        # Every wait for the answer gives these rows.
        object.__setattr__(self, "rows", frozen(self.rows))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Batch, (self.rows, self.stats))

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, key: Whole) -> npt.NDArray[np.uint32]: ...

    @overload
    def __getitem__(self, key: Real) -> npt.NDArray[np.float64]: ...

    @overload
    def __getitem__(self, key: Flag) -> npt.NDArray[np.bool_]: ...

    @overload
    def __getitem__(self, key: Any) -> Any: ...

    def __getitem__(self, key: Any) -> Any:
        return self.rows[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if self.rows.dtype.names is not None and sys._getframe(1).f_globals.get("__name__") == "pandas.core.frame":
            # It would make one column of whole rows, which it then can't show.
            raise InvalidTypeError("pandas.DataFrame makes no columns of a batch's fields: batch.to_pandas() does")
        return as_array(self.rows, dtype, copy)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The fields by their names, without a copy; ``value`` where a row is a single number."""
        if self.rows.dtype.names is None:
            return {"value": self.rows}
        return {name: self.rows[name] for name in self.rows.dtype.names}

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a table: a field of several numbers becomes a column for each, ``normal_0``, ``normal_1``, ``normal_2``."""
        import pandas

        columns: dict[str, npt.NDArray[Any]] = {}
        for name, field in self.columns().items():
            if field.ndim == 1:
                columns[name] = field
                continue
            for index in np.ndindex(field.shape[1:]):
                suffix = "_".join(str(i) for i in index)
                columns[f"{name}_{suffix}"] = field[(slice(None), *index)]
        return pandas.DataFrame(columns)

    def to_arrow(self) -> pyarrow.Table:
        """The rows as a table of pyarrow: a field of several numbers is a column of lists of a fixed size."""
        import pyarrow

        def column(field: npt.NDArray[Any]) -> Any:
            values = pyarrow.array(np.ascontiguousarray(field).reshape(-1))
            for length in reversed(field.shape[1:]):
                values = pyarrow.FixedSizeListArray.from_arrays(values, length)
            return values

        return pyarrow.table({name: column(field) for name, field in self.columns().items()})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """For polars, duckdb and others that read Arrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)
