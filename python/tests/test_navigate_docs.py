"""The examples of the documentation of flow, navigate and geodesic hold."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["flow", "_raster", "_geodesic", "navigate.room", "navigate.surface"])
def test_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"hullfield.{name}"))
    assert result.attempted > 3 and result.failed == 0
