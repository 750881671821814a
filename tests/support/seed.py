#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Has every device program built and tested once, for the tests that follow: seed.py FOLDER. Quick when all is there."""
import shutil
import sys
import time
from pathlib import Path

from machine import ONE_DEVICE, PLATFORM, TWO_DEVICES, UNEVEN_DEVICES, Machine, children, command_of

BUILD_SECONDS = 900
QUIET_SECONDS = 2  # without a builder: between two of them there are moments without


def build(profile, programs):
    """Lets a daemon that knows nothing but `programs` build and test; returns what it then knows of devices."""
    machine = Machine(profile, config={"idle_exit": "15min"}, seed=False)  # leaves by itself if this is killed
    cache = machine.root / "cache_home" / "hac" / "programs"
    try:
        if programs.exists():
            shutil.copytree(programs, cache)
        daemon = machine.daemon()
        machine.devices()
        began = seen = time.monotonic()
        while time.monotonic() - seen < QUIET_SECONDS:
            if any("--build" in command_of(p) for p in children(daemon.pid)):
                seen = time.monotonic()
            if seen - began > BUILD_SECONDS:
                sys.exit(f"building takes over {BUILD_SECONDS} s")
            time.sleep(0.1)
        for device in machine.devices():
            print(device["name"], device["state"], device["reason"], flush=True)
            for failure in (*device["codelet_failures"], *device["program_failures"]):
                sys.exit(f"{device['name']}: {failure}")
        if PLATFORM is None and any("simt" in str(program) for program in cache.glob("*/*")):
            sys.exit("programs were built that no codelet of these devices uses")
        shutil.rmtree(programs, ignore_errors=True)
        shutil.copytree(cache, programs)
        return (machine.root / "state_home" / "hac" / "tested-devices").read_bytes()
    finally:
        machine.close()


def main():
    seed = Path(sys.argv[1])
    seed.mkdir(parents=True, exist_ok=True)
    tested = b"".join(build(profile, seed / "programs") for profile in (ONE_DEVICE, TWO_DEVICES, UNEVEN_DEVICES))
    (seed / "tested-devices").write_bytes(tested)


main()
