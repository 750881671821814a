# SPDX-License-Identifier: Apache-2.0
"""What tests of attacks have in common: hacd as the machine's service, and users who connect to it. They need root, which
connects as several users and starts hacd as its service's user."""
import os
import shutil
import signal
import subprocess

import wire
from machine import LIBEXEC, ONE_DEVICE, eventually
from users import FIRST_UID, User, UsersTest

ATTACKER, VICTIM, SERVICE = FIRST_UID + 200, FIRST_UID + 201, FIRST_UID + 202
MIB = 1 << 20
DONE = 3


def as_user(uid):
    """The beginning of a command that runs as that user, without capabilities."""
    return ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups"]


class Service:
    """hacd as the machine's service: not private, as a user of its own."""

    def __init__(self, test, config="", prefix=(), uid=SERVICE, name="hacd.sock", environment=None,
                 profile=ONE_DEVICE):
        self.machine = test.machine(profile)
        self.root = self.machine.root
        self.socket = self.root / name
        config_path = self.root / "hacd.yaml"
        profiles = self.root / "config_home" / "hac" / "profiles"
        if "calibrate_when_idle" not in config:
            config += "calibrate_when_idle: false\n"
        config_path.write_text(f"profile_directories: [{profiles}]\n" + config)
        for folder, _, files in os.walk(self.root):
            for path in [folder, *(os.path.join(folder, f) for f in files)]:
                os.chown(path, uid, uid)
        os.chmod(self.root, 0o755)
        environment = self.machine.environment | {"STATE_DIRECTORY": str(self.root / "state_home" / "hac"),
                                                  "CACHE_DIRECTORY": str(self.root / "cache_home" / "hac"), **(environment or {})}
        self.log_file = open(self.root / "log", "w+", encoding="utf-8")
        test.addCleanup(self.log_file.close)
        self.process = subprocess.Popen([*prefix, *as_user(uid), LIBEXEC / "hacd", "--socket", self.socket, "--config",
                                         config_path], env=environment, stdin=subprocess.DEVNULL,
                                        stdout=self.log_file, stderr=self.log_file, cwd="/")
        test.addCleanup(self.stop, test)
        test.assertTrue(eventually(self.listens), self.log())
        os.chmod(self.socket, 0o666)

    def listens(self):
        """Between bind and listen the path is there, and connections are refused."""
        try:
            wire.Client(self.socket, False).close()
        except OSError:
            return False
        return True

    def log(self):
        return (self.root / "log").read_text(encoding="utf-8")

    def stop(self, test):
        self.process.send_signal(signal.SIGTERM)
        test.assertEqual(self.process.wait(60), 0, self.log())


class AttackTest(UsersTest):
    def setUp(self):
        super().setUp()
        if shutil.which("setpriv") is None:
            self.skipTest("needs setpriv: NOT TESTED")

    def connect(self, at, uid):
        """`at`: a machine or a service."""
        client = User(at, uid).connect()
        self.addCleanup(client.close)
        return client
