"""Rows of both engines agree in what must be equal. Without an adapter these are skipped."""

import os
import pickle
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hullfield
from hullfield.collide import Arena, BodyColumns, Hull, RayColumns, ShapeCastColumns


@pytest.fixture(scope="module")
def gpu() -> hullfield.Engine:
    try:
        return hullfield.Engine.gpu()
    except hullfield.NoGpuError as error:
        if os.environ.get("HULLFIELD_REQUIRE_GPU") == "1":
            raise
        pytest.skip(f"no adapter: {error}")


HULLS = [Hull.ball(0.5), Hull.cuboid([0.4, 0.3, 0.2]), Hull(np.random.default_rng(2).normal(0, 0.3, (30, 3)))]


def crowd(count: int = 400, *, worlds: bool = False) -> BodyColumns:
    random = np.random.default_rng(4)
    return BodyColumns(
        random.integers(0, 3, count),
        random.uniform(-3, 3, (count, 3)).astype(np.float32),
        Rotation.random(count, rng=random).as_quat().astype(np.float32),
        random.uniform(0.7, 1.3, (count, 1)),
        worlds=np.arange(count) // 100 if worlds else None,
    )


def equal(one: Any, other: Any, fields: list[str]) -> None:
    assert len(one) == len(other) > 0
    for field in fields:
        assert one[field].tobytes() == other[field].tobytes(), field


def arenas(gpu: hullfield.Engine, **options: Any) -> list[Arena]:
    return [Arena(HULLS, engine=engine, **options) for engine in [hullfield.Engine.cpu(), gpu]]


def test_engines_say_what_they_are(gpu: hullfield.Engine) -> None:
    assert gpu.backend == "gpu" and gpu.adapter_name and gpu.reason
    assert pickle.loads(pickle.dumps(gpu)).backend == "gpu"
    assert any(adapter["name"] == gpu.adapter_name for adapter in hullfield.adapters())


@pytest.mark.parametrize("worlds", [False, True])
def test_verdicts_are_equal(gpu: hullfield.Engine, worlds: bool) -> None:
    bodies, (cpu_arena, gpu_arena) = crowd(worlds=worlds), arenas(gpu, statics=BodyColumns(1, scales=2.0))
    one, other = cpu_arena.intersections(bodies), gpu_arena.intersections(bodies)
    equal(one, other, ["a", "b", "status"])
    assert (one["b"] == len(bodies)).any()
    given = one.rows[["a", "b"]][:50].tolist()
    equal(cpu_arena.intersections(bodies, given), gpu_arena.intersections(bodies, given), ["a", "b", "status"])


def test_measures_are_equal_within_the_tolerance(gpu: hullfield.Engine) -> None:
    bodies, (cpu_arena, gpu_arena) = crowd(), arenas(gpu)
    for name in ["distances", "contacts", "manifolds", "gradients"]:
        one, other = (getattr(arena, name)(bodies, margin=0.1) for arena in (cpu_arena, gpu_arena))
        equal(one, other, ["a", "b", "status"])
        assert np.abs(one["separation"] - other["separation"]).max() < 2e-5, name
    exact = [arena.contacts(bodies) for arena in arenas(gpu, precision="exact")]
    assert exact[0].rows.tobytes() == exact[1].rows.tobytes()


def test_sweeps_rays_and_shapes_are_equal(gpu: hullfield.Engine) -> None:
    bodies, (cpu_arena, gpu_arena) = crowd(), arenas(gpu)
    random = np.random.default_rng(6)
    velocities = random.normal(size=(len(bodies), 3))
    one, other = (arena.sweeps(bodies, velocities, duration=0.2) for arena in (cpu_arena, gpu_arena))
    equal(one, other, ["a", "b", "outcome"])
    rays = RayColumns(random.uniform(-4, 4, (200, 3)).astype(np.float32), random.normal(size=(200, 3)))
    for name in ["raycasts", "raycasts_all", "occlusions"]:
        one, other = (getattr(arena, name)(bodies, rays) for arena in (cpu_arena, gpu_arena))
        assert one.rows.tobytes() == other.rows.tobytes() and len(one) > 0, name
    casts = ShapeCastColumns(BodyColumns(0, np.full((20, 3), -5.0)), random.uniform(0.5, 1, (20, 3)))
    one, other = (arena.shape_casts(bodies, casts) for arena in (cpu_arena, gpu_arena))
    assert one.rows.tobytes() == other.rows.tobytes()
    points = random.uniform(-3, 3, (100, 3))
    for name in ["nearest_points", "containments"]:
        one, other = (getattr(arena, name)(bodies, points) for arena in (cpu_arena, gpu_arena))
        assert one.rows.tobytes() == other.rows.tobytes(), name
    assert (cpu_arena.hit_counts(bodies).rows == gpu_arena.hit_counts(bodies).rows).all()


def test_positions_in_float64(gpu: hullfield.Engine) -> None:
    near = crowd().arrays()
    near["positions"] = near["positions"].astype(np.float64) + 1e7 + 0.1
    bodies = BodyColumns(**near)
    assert bodies.is_f64
    one, other = (arena.intersections(bodies) for arena in arenas(gpu))
    equal(one, other, ["a", "b", "status"])


def test_prepare_and_estimate(gpu: hullfield.Engine) -> None:
    arena = Arena(HULLS, engine=gpu)
    assert arena.prepare([("intersections", "broad_phase")]).pipeline_count > 0
    estimate = arena.estimate("intersections", 1000)
    assert estimate.hull_bytes > 0 and estimate.device_bytes > estimate.hull_bytes and estimate.staging_bytes > 0
    assert arena.estimate("intersections", crowd(worlds=True)).device_bytes > 0
    candidates = arena.candidates(crowd())
    assert {tuple(p) for p in arena.intersections(crowd()).rows[["a", "b"]].tolist()} <= {
        tuple(p) for p in candidates.tolist()
    }
    small = hullfield.Engine("gpu", memory_limit=1 << 16)
    with pytest.raises(hullfield.MemoryLimitError):
        Arena(HULLS, engine=small).intersections(crowd(20_000))
    few = hullfield.Engine("cpu", answer_limit=1000)
    with pytest.raises(hullfield.MemoryLimitError):
        Arena(HULLS, engine=few).intersections(crowd())
