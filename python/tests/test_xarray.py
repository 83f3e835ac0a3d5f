"""Rasters with coordinates: they are combined by where their cells are, and answers have attributes of their own."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hullfield
from hullfield import cost_distance
from hullfield.flow import Grid, solve_raster

xarray = pytest.importorskip("xarray")


def raster(values: Any, x: Any = None, y: Any = None, **attributes: Any) -> Any:
    values = np.asarray(values)
    rows, columns = values.shape
    x = 500.0 + 20.0 * np.arange(columns) if x is None else x
    y = 900.0 - 30.0 * np.arange(rows) if y is None else y
    return xarray.DataArray(values, dims=("y", "x"), coords={"y": y, "x": x}, attrs=attributes)


def scene() -> tuple[Any, Any, Any]:
    """Targets, friction and heights that are different in every row and column."""
    random = np.random.default_rng(5)
    targets = np.zeros((6, 8), np.uint8)
    targets[1, 6] = 3
    return raster(targets), raster(random.uniform(1, 5, (6, 8))), raster(random.uniform(0, 40, (6, 8)))


def test_coordinates_give_the_size_of_cells() -> None:
    targets, friction, _ = scene()
    found = cost_distance(targets, friction=friction)
    wanted = cost_distance(targets.values, friction=friction.values, cell_size=(20, 30))
    assert np.array_equal(found.distances, wanted.distances)
    assert np.array_equal(cost_distance(targets, friction=friction.values).distances, wanted.distances)
    assert np.array_equal(cost_distance(targets.values, friction=friction).distances, wanted.distances)
    uneven = raster(targets.values, x=np.geomspace(1, 100, 8))
    with pytest.raises(hullfield.InvalidInputError, match="coordinates of x are not evenly spaced"):
        cost_distance(uneven, friction=friction.values)


@pytest.mark.parametrize("flip", ["y", "x", "both", "order", "all"])
def test_rasters_in_another_order_are_aligned(flip: str) -> None:
    targets, friction, elevation = scene()
    wanted = cost_distance(targets, friction=friction, elevation=elevation, allocation=True)
    turned = {
        "y": lambda a: a.isel(y=slice(None, None, -1)),
        "x": lambda a: a.isel(x=slice(None, None, -1)),
        "both": lambda a: a.isel(y=slice(None, None, -1), x=slice(None, None, -1)),
        "order": lambda a: a.transpose("x", "y"),
        "all": lambda a: a.transpose("x", "y").isel(y=slice(None, None, -1)),
    }[flip]
    for given in ((turned(friction), elevation), (friction, turned(elevation)), (turned(friction), turned(elevation))):
        found = cost_distance(targets, friction=given[0], elevation=given[1], allocation=True)
        assert np.array_equal(found.distances, wanted.distances)
        assert found.targets.tolist() == [[6, 1]]
    # The first raster says in which order the cells of the answer are.
    found = cost_distance(turned(targets), friction=friction, elevation=elevation)
    answer = found.to_xarray()
    assert answer.dims == turned(targets).dims and answer.y.equals(turned(targets).y)
    assert np.allclose(
        answer.transpose("y", "x").sortby("y").sortby("x"), wanted.to_xarray().sortby("y").sortby("x"), rtol=1e-6
    )
    column, row = found.targets[0]
    assert turned(targets).values[row, column] == 3


def test_sizes_come_from_coordinates_in_the_order_of_the_first_raster() -> None:
    targets, friction, _ = scene()
    bare = targets.drop_vars(["x", "y"]).transpose("x", "y")
    found = cost_distance(bare, friction=friction)
    assert np.array_equal(found.distances.T, cost_distance(targets, friction=friction).distances)


def test_coordinates_that_are_off_by_rounding_are_the_same() -> None:
    targets, friction, _ = scene()
    near = friction.assign_coords(x=friction.x + 1e-9, y=friction.y.astype(np.float32))
    assert np.array_equal(
        cost_distance(targets, friction=near).distances, cost_distance(targets, friction=friction).distances
    )


@pytest.mark.parametrize(
    "other",
    [
        lambda f: f.assign_coords(x=f.x + 20),
        lambda f: f.assign_coords(y=f.y - 15),
        lambda f: f.assign_coords(x=f.x * 1.01),
        lambda f: f.isel(x=slice(0, 7)),
        lambda f: f.isel(x=[1, 0, 2, 3, 4, 5, 6, 7]),
        lambda f: f.pad(x=1, constant_values=1.0).assign_coords(x=480.0 + 20 * np.arange(10)),
        lambda f: f.rename(x="lon", y="lat"),
        lambda f: f.expand_dims(band=[1, 2]),
    ],
)
def test_other_cells_are_refused(other: Any) -> None:
    targets, friction, elevation = scene()
    with pytest.raises(hullfield.InvalidInputError):
        cost_distance(targets, friction=other(friction))
    with pytest.raises(hullfield.InvalidInputError):
        cost_distance(targets, friction=friction, elevation=other(elevation))
    with pytest.raises(hullfield.InvalidInputError):
        Grid(targets, costs=other(friction.astype(np.uint16)))


def with_system(array: Any, system: str, **attributes: Any) -> Any:
    mapping = xarray.DataArray(0, attrs={"crs_wkt": system, **attributes})
    found = array.assign_coords(spatial_ref=mapping)
    found.encoding["grid_mapping"] = "spatial_ref"
    return found


def test_other_reference_systems_are_refused() -> None:
    targets, friction, _ = scene()
    here = with_system(targets, "EPSG:25832")
    cost_distance(here, friction=with_system(friction, "EPSG:25832"))
    cost_distance(here, friction=friction)
    with pytest.raises(hullfield.InvalidInputError, match="friction has another reference system than the raster"):
        cost_distance(here, friction=with_system(friction, "EPSG:25833"))


def test_sheared_transforms_are_refused_and_turned_ones_measured() -> None:
    plain = xarray.DataArray(np.ones((3, 4)), dims=("y", "x"))
    sheared = with_system(plain, "", GeoTransform="100 3 4 200 0 6")
    with pytest.raises(hullfield.InvalidInputError, match="not at right angles"):
        cost_distance(np.eye(3, 4), friction=sheared)
    turned = with_system(plain, "", GeoTransform="100 3 -8 200 4 6")
    found = cost_distance(np.eye(3, 4), friction=turned)
    assert np.array_equal(
        found.distances, cost_distance(np.eye(3, 4), friction=np.ones((3, 4)), cell_size=(5, 10)).distances
    )
    moved = with_system(plain, "", GeoTransform="103 3 -8 200 4 6")
    with pytest.raises(hullfield.InvalidInputError, match="transform"):
        cost_distance(turned.copy(data=np.eye(3, 4)), friction=moved)


@pytest.mark.parametrize("key", ["_FillValue", "missing_value", "nodata"])
def test_a_fill_value_is_no_data(key: str) -> None:
    friction = raster(np.array([[1, 250, 1], [1, 250, 2]], np.uint8), **{key: np.uint8(250)})
    targets = raster(np.array([[9, 0, 0], [0, 0, 40]], np.uint8), **{key: 40})
    found = cost_distance(targets, friction=friction)
    assert found.targets.tolist() == [[0, 0]] and np.isinf(found.distances[:, 1:]).all()
    heights = raster(np.array([[0, 0, 0], [0, -3.4e38, 0]], np.float32), **{key: -3.4e38})
    found = cost_distance(targets, friction=raster(np.ones((2, 3))), elevation=heights)
    assert np.isinf(found.distances).sum() == 1 and np.isinf(found.distances[1, 1])
    costs = raster(np.array([[1, 77, 1], [1, 77, 1]], np.uint16), **{key: 77})
    assert (np.asarray(solve_raster(costs, [[0, 0]]))[:, 1:] == 2**64 - 1).all()
    assert Grid(np.zeros((2, 3), bool), costs=costs).obstacle_count == 2


def test_stored_numbers_are_scaled() -> None:
    targets = raster(np.eye(4, 5))
    stored = raster(np.arange(20, dtype=np.int16).reshape(4, 5), scale_factor=0.5, add_offset=1.0, _FillValue=3)
    want = np.arange(20).reshape(4, 5) * 0.5 + 1
    want[0, 3] = np.nan
    assert np.array_equal(
        cost_distance(targets, friction=stored).distances, cost_distance(targets, friction=raster(want)).distances
    )
    found = np.asarray(solve_raster(stored, [[0, 0]]))
    assert found.dtype == np.float64
    assert np.array_equal(found, np.asarray(solve_raster(want, [[0, 0]], cell_size=(20, 30))))


def test_a_band_of_one_needs_no_squeeze() -> None:
    targets, friction, _ = scene()
    found = cost_distance(targets.expand_dims(band=[1]), friction=friction.expand_dims(band=[1]))
    assert np.array_equal(found.distances, cost_distance(targets, friction=friction).distances)
    assert found.to_xarray().dims == ("y", "x")
    assert solve_raster(targets.expand_dims(band=[1]) + 1, [[0, 0]]).shape == (6, 8)


def test_an_answer_has_attributes_of_its_own() -> None:
    targets, friction, _ = scene()
    targets = targets.assign_coords(time=np.datetime64("2024-05-01", "ns"))
    targets.attrs.update(
        _FillValue=0, scale_factor=1.0, add_offset=0.0, units="class", grid_mapping="crs", AREA_OR_POINT="Area"
    )
    targets.name = "huts"
    solved = cost_distance(targets, friction=friction)
    answer = solved.to_xarray()
    assert answer.name == "cost_distance" and answer.attrs == {"long_name": "least cost to the nearest target"}
    assert answer.encoding == {} and answer.dtype == np.float32 and "time" in answer.coords
    answer[0, 0] = 5
    assert solved.distances[0, 0] != 5
    friction.attrs["units"] = "min m-1"
    targets.x.attrs["units"] = "m"
    assert cost_distance(targets, friction=friction).to_xarray().attrs["units"] == "min m-1 m"
    assert cost_distance(None, [[0, 0]], friction=friction).to_xarray().x.equals(friction.x)
    again = pickle.loads(pickle.dumps(solved))
    assert again.to_xarray().equals(solved.to_xarray())


def test_a_dataset_is_no_raster() -> None:
    targets, friction, _ = scene()
    for given in (friction.to_dataset(name="friction"), [friction]):
        with pytest.raises(hullfield.Error):
            cost_distance(targets, friction=given)


def test_a_transform_is_compared_with_coordinates() -> None:
    targets, friction, _ = scene()
    placed = friction.drop_vars(["x", "y"]).assign_coords(spatial_ref=0)
    # Corners: half a cell before the first centres.
    for transform, is_alike in (
        ("490 20 0 915 0 -30", True),
        ("500 20 0 915 0 -30", False),
        ("490 20 0 915 0 -31", False),
    ):
        placed.spatial_ref.attrs["GeoTransform"] = transform
        for frame, other in ((targets, placed), (placed, targets + 1.0)):
            if is_alike:
                found = cost_distance(None, [[6, 1]], friction=frame + 1, elevation=other)
                assert np.isfinite(found.distances).all()
            else:
                with pytest.raises(hullfield.InvalidInputError, match="they must be the same"):
                    cost_distance(None, [[6, 1]], friction=frame + 1, elevation=other)


def test_variables_have_attributes_too() -> None:
    values = np.array([[1.0, 9.0, 1.0], [1.0, 1.0, 1.0]])
    variable = xarray.Variable(("y", "x"), values, attrs={"_FillValue": 9.0, "scale_factor": 2.0})
    wanted = cost_distance(None, [[0, 0]], friction=np.where(values == 9, np.nan, 2 * values)).distances
    assert np.array_equal(cost_distance(None, [[0, 0]], friction=variable).distances, wanted)
    assert np.array_equal(np.asarray(solve_raster(variable, [[0, 0]])).astype(np.float32), wanted)
    costs = xarray.Variable(("y", "x"), values.astype(np.uint8), attrs={"_FillValue": 9})
    assert Grid(np.zeros((2, 3), bool), costs=costs).obstacle_count == 1


def test_degrees_are_a_warning() -> None:
    friction = xarray.DataArray(
        np.ones((3, 4)), dims=("lat", "lon"), coords={"lat": [47.2, 47.1, 47.0], "lon": 9.0 + 0.1 * np.arange(4)}
    )
    with pytest.warns(UserWarning, match="geodesic=True has true lengths in metres"):
        cost_distance(None, [[0, 0]], friction=friction)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cost_distance(None, [[0, 0]], friction=friction, cell_size=(7600, 11100))
        cost_distance(scene()[0], friction=scene()[1])
        cost_distance(None, [[0, 0]], friction=friction, geodesic=True)
    with pytest.warns(UserWarning, match="geodesic=True has true lengths in metres"):
        solve_raster(friction, [[0, 0]])


def true_costs(geod: Any, friction: Any, latitudes: Any, longitudes: Any, target: tuple[int, int]) -> Any:
    """Dijkstra over all pairs of neighbours, with the lengths of geodesics between them."""
    rows, columns = friction.shape
    found = np.full(friction.shape, np.inf)
    found[target] = 0.0
    waiting = {target}
    while waiting:
        row, column = min(waiting, key=lambda cell: found[cell])
        waiting.remove((row, column))
        for to in ((row + i, column + j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j):
            if not (0 <= to[0] < rows and 0 <= to[1] < columns and friction[to] > 0):
                continue
            length = geod.inv(longitudes[column], latitudes[row], longitudes[to[1]], latitudes[to[0]])[2]
            cost = found[row, column] + length * 0.5 * (friction[row, column] + friction[to])
            if cost < found[to]:
                found[to] = cost
                waiting.add(to)
    return found


@pytest.mark.parametrize("kind", ["north_up", "south_up", "polar", "grads", "moon"])
def test_geodesic_lengths_are_true(kind: str) -> None:
    pyproj = pytest.importorskip("pyproj")
    rows, columns, step = 12, 9, 0.5
    first = {"south_up": -5.0, "polar": 89.5, "grads": 40.0}.get(kind, 62.0)
    latitudes = first - step * np.arange(rows) * (-1 if kind == "south_up" else 1)
    longitudes = 10.0 + 0.75 * np.arange(columns)
    friction = np.random.default_rng(3).uniform(1, 4, (rows, columns))
    friction[3, 2:7] = np.nan
    moon = 'GEOGCS["Moon",DATUM["Moon",SPHEROID["Moon",1737400,0]],PRIMEM["Reference_Meridian",0],UNIT["degree",0.0174532925199433]]'
    system = {"grads": "EPSG:4807", "moon": moon}.get(kind, "EPSG:4326")
    scale = 0.9 if kind == "grads" else 1.0
    geod = {
        "grads": pyproj.Geod(a=6378249.2, b=6356515),
        "moon": pyproj.Geod(a=1737400, b=1737400),
    }.get(kind, pyproj.Geod(ellps="WGS84"))
    wanted = true_costs(geod, friction, scale * latitudes, scale * longitudes, (1, 4))
    array = xarray.DataArray(
        friction, dims=("y", "x"), coords={"y": latitudes, "x": longitudes}, attrs={"units": "s/m"}
    )
    array = array.assign_coords(spatial_ref=0)
    array.spatial_ref.attrs["crs_wkt"] = pyproj.CRS.from_user_input(system).to_wkt()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = cost_distance(None, [[4, 1]], friction=array, geodesic=True)
        tiles = solve_raster(array, [[4, 1]], geodesic=True, tile_edge=5)
    reached = np.isfinite(wanted)
    assert (np.isfinite(found.distances) == reached).all()
    assert found.distances[reached] == pytest.approx(wanted[reached], rel=3e-7)
    assert np.asarray(tiles)[reached] == pytest.approx(wanted[reached], rel=2e-9)
    assert (np.asarray(tiles).astype(np.float32) == found.distances).all()
    if kind in ("north_up", "south_up", "polar"):
        up = -step if kind != "south_up" else step
        transform = (0.75, 0, 10.0 - 0.375, 0, up, first - 0.5 * up)
        given = cost_distance(None, [[4, 1]], friction=friction, transform=transform, geodesic=True)
        assert given.distances[reached] == pytest.approx(found.distances[reached], rel=3e-7)
    assert found.to_xarray().attrs["units"] == "s/m m"


def test_what_has_no_geodesic_lengths_is_said() -> None:
    pyproj = pytest.importorskip("pyproj")
    targets, friction, _ = scene()
    with pytest.raises(hullfield.InvalidInputError, match="coordinates are degrees, and these say something else"):
        cost_distance(targets, friction=friction, geodesic=True)
    with pytest.raises(hullfield.InvalidInputError, match="needs coordinates in degrees"):
        cost_distance(targets.values, friction=friction.values, geodesic=True)
    with pytest.raises(hullfield.InvalidInputError, match="leave out cell_size"):
        cost_distance(targets.values, friction=friction.values, cell_size=3, geodesic=True)
    with pytest.raises(hullfield.InvalidInputError, match="columns of transform are no meridians"):
        cost_distance(targets.values, friction=friction.values, transform=(1, 0.5, 0, 0, -1, 9), geodesic=True)
    with pytest.raises(hullfield.InvalidInputError, match="centres of rows must lie from -90 to 90"):
        cost_distance(targets.values, friction=friction.values, transform=(1, 0, 0, 0, -1, 95), geodesic=True)
    lonlat = friction.rename(x="lat", y="lon").assign_coords(lat=np.arange(8.0), lon=np.arange(6.0))
    with pytest.raises(hullfield.InvalidInputError, match="rows of the rasters are lon, they must be latitudes"):
        cost_distance(None, [[0, 0]], friction=lonlat, geodesic=True)
    turned = friction.assign_coords(x=np.arange(8.0), y=np.arange(6.0), spatial_ref=0)
    turned.spatial_ref.attrs["crs_wkt"] = pyproj.CRS.from_proj4(
        "+proj=ob_tran +o_proj=longlat +o_lat_p=40 +o_lon_p=0 +lon_0=10 +datum=WGS84 +to_meter=0.0174532925199433"
    ).to_wkt()
    with pytest.raises(hullfield.InvalidInputError):
        cost_distance(None, [[0, 0]], friction=turned, geodesic=True)
    # Geocentric coordinates are no degrees.
    cubic = friction.assign_coords(spatial_ref=0)
    cubic.spatial_ref.attrs["crs_wkt"] = pyproj.CRS.from_epsg(4978).to_wkt()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cost_distance(targets, friction=cubic)


def test_what_rioxarray_opens_and_writes(tmp_path: Path) -> None:
    rasterio = pytest.importorskip("rasterio")
    rioxarray = pytest.importorskip("rioxarray")
    values = np.array([[0, 0, 2, 0], [0, 0, 0, 0], [7, 0, 0, 0]], np.uint8)
    place = rasterio.Affine(25, 0, 1000, 0, -50, 4000)
    options = {"driver": "GTiff", "height": 3, "width": 4, "count": 1, "crs": "EPSG:25832", "transform": place}
    with rasterio.open(tmp_path / "targets.tif", "w", dtype="uint8", nodata=7, **options) as file:
        file.write(values, 1)
    friction = np.full((3, 4), 2, np.int16)
    friction[1, 1:] = -32768
    with rasterio.open(tmp_path / "friction.tif", "w", dtype="int16", nodata=-32768, **options) as file:
        file.write(friction, 1)
    wanted = cost_distance(None, [[2, 0]], friction=np.where(friction < 0, np.nan, friction), transform=place).distances
    for masked in (False, True):
        targets = rioxarray.open_rasterio(tmp_path / "targets.tif", masked=masked)
        ground = rioxarray.open_rasterio(tmp_path / "friction.tif", masked=masked)
        solved = cost_distance(targets, friction=ground)
        assert np.array_equal(solved.distances, wanted)
        answer = solved.to_xarray()
        assert answer.rio.nodata is None and answer.rio.crs.to_epsg() == 25832
        answer.rio.to_raster(tmp_path / "answer.tif")
        with rasterio.open(tmp_path / "answer.tif") as file:
            assert file.nodata is None and file.transform == place and np.array_equal(file.read(1), wanted)
    with rasterio.open(tmp_path / "masked.tif", "w", dtype="int16", nodata=-32768, **options) as file:
        file.write(friction, 1)
    with rasterio.open(tmp_path / "masked.tif") as file:
        found = cost_distance(None, [[2, 0]], friction=file.read(1, masked=True), transform=file.transform)
        assert np.array_equal(found.distances, wanted)
    other = ground.rio.write_crs("EPSG:25833")
    with pytest.raises(hullfield.InvalidInputError, match="another reference system"):
        cost_distance(targets, friction=other)
