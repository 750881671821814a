# SPDX-License-Identifier: Apache-2.0
"""Folders of a private daemon, below one that is its own."""
import shutil
from pathlib import Path


def make_folders(root):
    """Makes them; returns the variables that name them."""
    environment = {}
    for name in ("RUNTIME_DIR", "STATE_HOME", "CACHE_HOME", "CONFIG_HOME", "DATA_HOME"):
        path = root / name.lower()
        path.mkdir(mode=0o700)
        environment[f"XDG_{name}"] = str(path)
    return environment


def plant_programs(root, seed):
    """Device programs that were built before (seed.py), and which devices passed their tests."""
    (root / "cache_home" / "hac").mkdir(mode=0o700)
    shutil.copytree(Path(seed, "programs"), root / "cache_home" / "hac" / "programs")
    (root / "state_home" / "hac").mkdir(mode=0o700)
    shutil.copy(Path(seed, "tested-devices"), root / "state_home" / "hac")
