"""Rows of answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas

S_co = TypeVar("S_co", covariant=True)


@dataclass(frozen=True, eq=False)
class Batch(Generic[S_co]):
    """The answer of a call for many queries: ``rows`` in a fixed order, the same from run to run, and ``stats``.

    ``rows`` is a numpy array, structured where a row has several fields: ``batch.rows["a"]``, or shorter ``batch["a"]``.
    """

    rows: npt.NDArray[Any]
    stats: S_co

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: Any) -> Any:
        return self.rows[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a table: a field of several numbers becomes a column for each, ``normal_0``, ``normal_1``, ``normal_2``."""
        import pandas

        if self.rows.dtype.names is None:
            return pandas.DataFrame({"value": self.rows})
        columns: dict[str, npt.NDArray[Any]] = {}
        for name in self.rows.dtype.names:
            field = self.rows[name]
            if field.ndim == 1:
                columns[name] = field
                continue
            for index in np.ndindex(field.shape[1:]):
                suffix = "_".join(str(i) for i in index)
                columns[f"{name}_{suffix}"] = field[(slice(None), *index)]
        return pandas.DataFrame(columns)
