"""A set that keeps bodies from frame to frame, by ids, and tells which pairs begin to touch and no longer do."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from hullfield import _native
from hullfield._arrays import ArrayLike, array_of, as_array, frozen
from hullfield._errors import InvalidInputError, InvalidTypeError
from hullfield._pending import Pending, query
from hullfield._scalars import real
from hullfield.collide._arena import Arena
from hullfield.collide._columns import BodyColumns, bodies_of
from hullfield.collide._limits import refuse_all
from hullfield.collide._numbers import column, positions_column
from hullfield.collide._rows import Stats

NO_ID = 0xFFFF_FFFF_FFFF_FFFF
"""Stands in a row for the id of a body where the second side of the pair is a static."""


class Found:
    """The answer of a query over a set of bodies: rows sorted by ``(id_a, id_b)``, and statistics.

    ``rows`` is a structured array with the fields of the arena's query of the same name; there ``a`` and ``b`` are slots, followed by the
    statics. Besides: ``id_a`` and ``id_b``, the bodies' ids when the query was asked, and ``static_b``: the static that the second side is, where
    ``id_b`` is :data:`NO_ID`; else :data:`NONE`.
    """

    __slots__ = ("_native", "_rows")

    def __init__(self, native: Any) -> None:
        self._native = native
        self._rows: npt.NDArray[Any] | None = None

    @property
    def rows(self) -> npt.NDArray[Any]:
        """The rows."""
        if self._rows is None:
            self._rows = frozen(self._native.rows)
        return self._rows

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return as_array(self.rows, dtype, copy)

    def __reduce__(self) -> NoReturn:
        raise InvalidTypeError("an answer of a set does not pickle, as it belongs to the set: pickle its rows")

    def __copy__(self) -> Found:
        return self

    def __deepcopy__(self, _: Any) -> Found:
        # It does not change.
        return self

    @property
    def stats(self) -> Stats:
        """Statistics of the query."""
        return Stats(**self._native.stats)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: Any) -> Any:
        return self.rows[key]


class Bodies:
    """Bodies that live from frame to frame: a set with stable ids, and begin, stay and end events of its pairs.

    An id is a ``uint64``: a slot in the low 32 bits, and in the high ones how many bodies the slot held before. The slot of a removed body is
    used again with the next generation, so an id never names another body than the one it was given for. A slot is a row of the queries, so
    arrays of the caller's, indexed by ``ids & 0xffffffff``, keep data of the bodies.

    A query changes nothing. :meth:`events` compares its answer with the last one that was handed in, and remembers it.

    Args:
        arena: the arena of the queries; it is kept as it is now, see :meth:`set_arena`.

    >>> from hullfield.collide import Arena, Bodies, BodyColumns, Hull, Phase
    >>> bodies = Bodies(Arena([Hull.ball(0.5)]))
    >>> ids = bodies.insert(BodyColumns(0, [[0, 0, 0], [2, 0, 0]]))
    >>> for x in [0, 1.25, 1.5, 0]:
    ...     bodies.set_poses(ids[:1], [[x, 0, 0]])
    ...     print([Phase(event["phase"]).name for event in bodies.events(bodies.contacts())])
    []
    ['BEGIN']
    ['STAY']
    ['END']

    It may be used from several threads, one call at a time. It does not pickle: keep :meth:`get` of its :attr:`ids`, and insert that anew.
    """

    __slots__ = ("_arena", "_native")

    def __init__(self, arena: Arena) -> None:
        if not isinstance(arena, Arena):
            raise InvalidTypeError(f"arena is of the type {type(arena).__name__}, it must be an Arena")
        self._arena = arena._copy()
        self._native = _native.Bodies(arena._native)

    @property
    def arena(self) -> Arena:
        """The arena of the queries."""
        return self._arena

    def set_arena(self, arena: Arena) -> None:
        """Uses another arena from now on: one with more hulls, other statics or options. Bodies, ids and events go on.

        Raises:
            InvalidInputError: a body can't be one of that arena's, or its engine is of another kind. The set is then unchanged.
        """
        if not isinstance(arena, Arena):
            raise InvalidTypeError(f"arena is of the type {type(arena).__name__}, it must be an Arena")
        self._native.set_arena(arena._native)
        self._arena = arena._copy()

    def insert(self, bodies: BodyColumns) -> npt.NDArray[np.uint64]:
        """Inserts bodies and returns their ids, (n,), in their order.

        Raises:
            InvalidInputError: a body that can't be used, with its row, or columns of worlds, owners or exclusions. None is inserted then.
        """
        return self._native.insert(bodies_of("bodies", bodies))  # type: ignore[no-any-return]

    def remove(self, ids: ArrayLike) -> None:
        """Removes bodies by their ids, (n,). Their touching pairs end with the next events.

        Raises:
            InvalidInputError: an id that is not in the set, or twice. None is removed then.
        """
        self._native.remove(_ids(ids))

    def set(self, ids: ArrayLike, bodies: BodyColumns) -> None:
        """Replaces bodies: their poses, their hulls, all of them.

        Args:
            ids: whose, (n,).
            bodies: as many.

        Raises:
            InvalidInputError: an id that is not in the set, or a body that can't be used. None is changed then.
        """
        rows, columns = _ids(ids), bodies_of("bodies", bodies)
        if len(rows) != len(bodies):
            raise InvalidInputError(f"ids has {len(rows)} rows, there are {len(bodies)} bodies")
        self._native.set(rows, columns)

    def set_poses(self, ids: ArrayLike, positions: ArrayLike | None = None, rotations: ArrayLike | None = None) -> None:
        """Moves bodies. What is not given stays.

        Args:
            ids: whose, (n,).
            positions: (n, 3), as for :class:`BodyColumns`: float64 counts exactly as given.
            rotations: unit quaternions ``x, y, z, w``, (n, 4), float32.

        Raises:
            InvalidInputError: as :meth:`set`. None is changed then.
        """
        rows = _ids(ids)
        short, wide = (None, None) if positions is None else positions_column("positions", positions, len(rows))
        self._native.set_poses(rows, short, wide, column("rotations", rotations, len(rows), 4))

    def get(self, ids: ArrayLike) -> BodyColumns:
        """The bodies of ids, (n,), as columns."""
        bodies = BodyColumns.__new__(BodyColumns)
        bodies._native = self._native.get(_ids(ids))
        return bodies

    def contains(self, ids: ArrayLike) -> npt.NDArray[np.bool_]:
        """Whether bodies are in the set, (n,)."""
        return self._native.contains(_ids(ids))  # type: ignore[no-any-return]

    @property
    def ids(self) -> npt.NDArray[np.uint64]:
        """The ids of all bodies, in the order of their slots."""
        return self._native.ids()  # type: ignore[no-any-return]

    @query
    def intersections(self) -> Pending[Found]:
        """Which bodies touch, also with statics: :meth:`Arena.intersections`. The set may change meanwhile: the answer is about the call's time."""
        return Pending(self._native.intersections(), Found)

    @query
    def distances(self, *, margin: float | None = None) -> Pending[Found]:
        """How far bodies within a margin are apart: :meth:`Arena.distances`, which says when a margin is needed."""
        count = len(self)
        if margin is None:
            refuse_all(count * (count - 1) // 2 + count * self._arena._static_count)
            margin = np.inf
        return Pending(self._native.distances(real("margin", margin)), Found)

    @query
    def contacts(self, *, margin: float = 0.0) -> Pending[Found]:
        """How deep bodies overlap, and where: :meth:`Arena.contacts`."""
        return Pending(self._native.contacts(real("margin", margin)), Found)

    @query
    def manifolds(self, *, margin: float = 0.0) -> Pending[Found]:
        """The same with up to four points of each contact: :meth:`Arena.manifolds`."""
        return Pending(self._native.manifolds(real("margin", margin)), Found)

    def events(self, found: Found) -> npt.NDArray[Any]:
        """What became of the touching pairs since the last answer that was handed in.

        Args:
            found: an answer of this set, of any query with any margin. Answers are handed in in the order of their queries, each once.

        Returns:
            Rows sorted by ``(a, b)``: ``a`` and ``b``, ids; ``static_b`` as in :class:`Found`; ``phase`` (:class:`Phase`). An END is the only event
            that names a removed body, and it comes once.

        Raises:
            InvalidInputError: the answer of another set, or of an earlier query. Nothing is changed then.
        """
        if not isinstance(found, Found):
            raise InvalidTypeError(f"found is of the type {type(found).__name__}, it must be an answer of this set")
        return self._native.events(found._native)  # type: ignore[no-any-return]

    @property
    def touching(self) -> npt.NDArray[Any]:
        """The pairs that touched in the answer whose events were taken last: rows ``a``, ``b`` and ``static_b``, as of :meth:`events`."""
        return self._native.touching()  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return len(self._native)

    def __reduce__(self) -> NoReturn:
        raise InvalidTypeError(
            "a set of bodies does not pickle, as ids and events belong to it: pickle bodies.get(bodies.ids), and insert that anew"
        )

    def __repr__(self) -> str:
        return f"<hullfield.collide.Bodies: {len(self)} bodies>"


def _ids(ids: ArrayLike) -> npt.NDArray[np.uint64]:
    array = array_of("ids", ids)
    if array.ndim == 0:
        array = array[None]
    if array.ndim != 1:
        raise InvalidInputError(f"ids has the shape {array.shape}, it must be (n,)")
    if array.size == 0:
        return np.zeros(0, np.uint64)
    if array.dtype.kind not in "iu":
        raise InvalidTypeError(f"ids has the dtype {array.dtype}, it must hold ids, uint64")
    if array.dtype.kind == "i" and (array < 0).any():
        raise InvalidInputError(f"ids holds {array.min()}, which is no id")
    return np.ascontiguousarray(array, dtype=np.uint64)
