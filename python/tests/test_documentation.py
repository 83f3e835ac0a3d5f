"""The README's examples run, and everything public is documented."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import hullfield

README = Path(__file__).parent.parent / "README.md"
MODULES = ["hullfield", "hullfield.collide"]
MODULES += ["hullfield.flow", "hullfield.navigate", "hullfield.navigate.room", "hullfield.navigate.surface"]


def examples() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("number", range(len(examples())))
def test_an_example_runs(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    code = examples()[number]
    exec(compile(code, f"README.md, example {number}", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    # A comment behind a print says what it prints.
    expected = re.findall(r"print\(.*\)\s+# (.*)", code)
    assert printed == expected


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_is_documented(name: str) -> None:
    module = importlib.import_module(name)
    missing = []
    for public in module.__all__:
        item = getattr(module, public)
        if not inspect.getdoc(item) and not isinstance(item, (int, float, str, dict)):
            missing.append(public)
        if inspect.isclass(item):
            for attribute, value in vars(item).items():
                if not attribute.startswith("_") and callable(value) and not inspect.getdoc(value):
                    missing.append(f"{public}.{attribute}")
    assert not missing


def test_exceptions_are_the_built_in_ones_too() -> None:
    assert issubclass(hullfield.InvalidInputError, ValueError)
    assert issubclass(hullfield.InvalidTypeError, TypeError)
    assert issubclass(hullfield.MemoryLimitError, MemoryError)
    assert issubclass(hullfield.FileError, OSError)
    assert all(issubclass(getattr(hullfield, name), hullfield.Error) for name in hullfield.__all__ if "Error" in name)
