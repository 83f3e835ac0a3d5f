"""The examples run as a reader would run them, and the notebooks hold what they gave."""

import ast
import json
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = ["geodesic_bands", "grasp_labels", "terrain"]


def run(name: str, *arguments: str | Path) -> str:
    """What a script prints."""
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    return done.stdout


def assert_picture(file: Path) -> None:
    """A PNG of at most 640 pixels across."""
    start = file.read_bytes()[:24]
    assert start[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", start[16:24])
    assert 300 < width <= 640 and 200 < height <= 640


def number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    assert found is not None, text
    return float(found.group(1))


def test_contacts(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    text = run("contacts", "--picture", tmp_path / "contacts.png")
    assert text.startswith("bodies 0 and 1 overlap by 0.100 along [1. 0. 0.]\n")
    assert 3000 < number(r"10000 bodies on the \w+: (\d+) contacts", text) < 20_000
    assert_picture(tmp_path / "contacts.png")


def test_grasp_labels(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    text = run("grasp_labels", "--picture", tmp_path / "grasps.png")
    free, good = number(r"([\d.]+)% are free,", text), number(r"([\d.]+)% are free with", text)
    assert 10 < good < free < 95
    assert_picture(tmp_path / "grasps.png")


def test_grasp_labels_over_workers() -> None:
    pytest.importorskip("ray")
    here, there = run("grasp_labels"), run("grasp_labels", "--workers", "2")
    assert "are free" in here.splitlines()[-1]
    assert there.splitlines()[-1] == here.splitlines()[-1]


def test_terrain(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    text = run("terrain", "--picture", tmp_path / "terrain.png")
    assert number(r"2000 x 2000 cells in [\d.]+ s: (\d+) reach the hut", text) > 1_000_000
    assert 1 < number(r"at most ([\d.]+) hours", text) < number(r"farthest place ([\d.]+)", text) < 24
    assert_picture(tmp_path / "terrain.png")


def test_terrain_from_a_file(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    arguments: list[str | Path] = ["--full", "--size", "1500", "--memory-limit", "30", "--folder", tmp_path / "files"]
    text = run("terrain", *arguments, "--picture", tmp_path / "terrain.png")
    tiles = number(r"(\d+) tiles", text)
    assert tiles > 1
    assert number(r"(\d+) of them found", text) == 0
    assert number(r"cells in [\d.]+ s: (\d+) reach the hut", text) > 500_000
    assert_picture(tmp_path / "terrain.png")
    # The tiles are there already.
    again = run("terrain", *arguments)
    assert number(r"(\d+) of them found", again) > tiles / 2
    assert number(r", (\d+) solved", again) < tiles
    assert again.splitlines()[-1] == text.splitlines()[-1]


def test_geodesic_bands(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    trimesh = pytest.importorskip("trimesh")
    text = run("geodesic_bands", "--picture", tmp_path / "bands.png")
    assert 3.13 < number(r"icosphere: .*: ([\d.]+) over the surface, 2.0000 through", text) < 3.1416
    assert_picture(tmp_path / "bands.png")
    # Two boxes, the second of which is not reached.
    boxes = [trimesh.creation.box(extents=[1, 1, 1]), trimesh.creation.box(extents=[1, 1, 1])]
    boxes[1].apply_translation([3, 0, 0])
    trimesh.util.concatenate(boxes).export(tmp_path / "boxes.ply")
    text = run("geodesic_bands", tmp_path / "boxes.ply", "--picture", tmp_path / "boxes.png")
    assert text.startswith("boxes.ply: 16 vertices")
    assert number(r": ([\d.]+) over the surface", text) == pytest.approx(5**0.5, abs=1e-4)
    assert_picture(tmp_path / "boxes.png")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_holds_what_it_gave(name: str) -> None:
    file = EXAMPLES / "notebooks" / f"{name}.ipynb"
    assert file.stat().st_size < 400_000
    cells: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} <= {"stream", "display_data", "execute_result"}
    assert all(output.get("name", "stdout") == "stdout" for output in outputs)
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert any(output["output_type"] == "stream" for output in outputs)
    text = json.dumps([{**output, "data": {**output.get("data", {}), "image/png": ""}} for output in outputs])
    assert re.search(r"/home/|/tmp/|/root/|[A-Z]:\\\\|Warning", text) is None


def functions(code: str) -> dict[str, str]:
    return {node.name: ast.dump(node) for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_has_the_functions_of_its_script(name: str) -> None:
    cells = json.loads((EXAMPLES / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    script = functions((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))
    # Those that draw show their picture instead of writing it into a file.
    same = {function: body for function, body in functions(code).items() if not function.startswith("draw")}
    assert len(same) >= 2
    assert {function: script.get(function) for function in same} == same


def test_each_notebook_is_tested() -> None:
    assert sorted(file.stem for file in (EXAMPLES / "notebooks").glob("*.ipynb")) == NOTEBOOKS
