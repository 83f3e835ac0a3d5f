"""Runs a program that works for minutes, and sends it Ctrl-C."""

import signal
import subprocess
import sys
import textwrap
import time

PROGRAM = """
import signal, sys
# A parent in the background may have it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
{setup}
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
{after}
print("after", flush=True)
"""


def lines_after_interrupt(setup: str, call: str, after: str = "") -> list[str]:
    """What the program prints after Ctrl-C came half a second into ``call``, which would take minutes."""
    program = PROGRAM.format(setup=textwrap.dedent(setup), call=call, after=textwrap.dedent(after))
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        first = child.stdout.readline()
        if first.strip() != "ready":
            child.kill()
            raise AssertionError(first + str(child.communicate()))
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        out, errors = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 0, errors
    return out.split()
