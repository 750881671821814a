# SPDX-License-Identifier: Apache-2.0
"""A private daemon for a benchmark, in a directory of its own."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


class Machine:
    """A private daemon with the given profile (text, or None for the shipped ones). It builds its kernels, which takes
    minutes, unless `seed` is a folder with kernels: another machine's, or what tests/seed.py leaves."""

    def __init__(self, build, profile=None, vendor="pocl.icd", seed=None):
        self.build = build
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="hac-bench-"))
        self.env = dict(os.environ)
        for name in ("RUNTIME", "STATE", "CACHE", "CONFIG"):
            key = f"XDG_{name}_DIR" if name == "RUNTIME" else f"XDG_{name}_HOME"
            path = self.directory / name.lower()
            path.mkdir(mode=0o700)
            self.env[key] = str(path)
        self.env["HAC_LIBEXEC"] = str(build / "libexec")
        self.env["HAC_PROFILES"] = str(ROOT / "config" / "profiles")
        self.env["OCL_ICD_VENDORS"] = os.environ.get("OCL_ICD_VENDORS", vendor)
        self.env.pop("HAC_SOCKET", None)
        if seed is not None:
            self.plant(pathlib.Path(seed))
        if profile is not None:
            profiles = self.directory / "config" / "hac" / "profiles"
            profiles.mkdir(parents=True)
            (profiles / "00-bench.yaml").write_text(profile)

    def plant(self, seed):
        programs, tested = seed / "programs", seed / "tested-devices"
        if not programs.exists():
            programs, tested = seed / "cache" / "hac" / "programs", seed / "state" / "hac" / "tested-devices"
        for source, folder in ((programs, self.directory / "cache" / "hac"), (tested, self.directory / "state" / "hac")):
            folder.mkdir(mode=0o700)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / source.name)

    def hacctl(self, *args, check=True):
        command = [str(self.build / "hacctl" / "hacctl"), *args]
        return subprocess.run(command, env=self.env, check=check, capture_output=True, text=True)

    def program(self, name, *args):
        command = [str(self.build / "bench" / name), *map(str, args)]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def daemon(self):
        return json.loads(self.hacctl("version", "--json").stdout)["daemon"]["pid"]

    def settle(self):
        """Waits until no builder has been seen for a second: it would be measured along, and between two of them
        there are moments without."""
        quiet = 0
        for _ in range(600):
            children = subprocess.run(["ps", "-o", "args=", "--ppid", str(self.daemon())], capture_output=True, text=True)
            quiet = 0 if "--build" in children.stdout else quiet + 1
            if quiet > 5:
                return
            time.sleep(0.2)

    def calibrate(self):
        """On a quiet machine: kernels are built before."""
        self.hacctl("devices")
        self.settle()
        self.hacctl("calibrate")
        self.settle()

    def close(self):
        self.hacctl("--no-autostart", "drain", check=False)
        time.sleep(0.5)
        shutil.rmtree(self.directory, ignore_errors=True)
