#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hacd measures devices that it does not know while there are no jobs."""
import json
import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import wire  # noqa: E402
from attacks import ATTACKER, VICTIM, Service  # noqa: E402
from machine import LIBEXEC, ONE_DEVICE, PLATFORM, MachineTest, eventually, main  # noqa: E402
from users import User, UsersTest  # noqa: E402

POSING = """name: acc
match: {platform: "%s"}
kind: fpga
memory: {host: false}
""" % (PLATFORM or "Portable Computing Language")
SLOW = ONE_DEVICE.replace("threads: 2", "threads: 2, testing: {slowdown: 20}")
DEVICES = 1  # a topic
ON = {"calibrate_when_idle": "true", "executor_idle_timeout": "60s"}


class IdleCalibration(MachineTest):
    def state(self, machine):
        return machine.devices()[0]["calibration"]

    def measured(self, profile):
        machine = self.machine(profile, config=ON)
        self.assertIn(self.state(machine), ("waiting", "measuring"))
        self.assertTrue(eventually(lambda: self.state(machine) == "measured", 60, 0.3), self.state(machine))
        self.assertEqual(machine.json("jobs")["jobs"], [])
        for command in ("show", "why", "log", "trace"):  # its job is nobody's, not even an administrator's
            machine.bad(2, command, says="you have no jobs")
            machine.bad(2, command, "1", says="there is no job 1 of yours")
        machine.bad(2, "cancel", "1", says="there is no job 1 of yours")
        return machine

    def test_new_device(self):
        machine = self.measured(ONE_DEVICE)
        self.assertGreater(machine.devices()[0]["capability"]["sort.u32"], 0)  # before the first job
        machine.generate("u32", "random", 100000)
        machine.sort_and_check("u32")

    def test_accelerator(self):
        machine = self.measured(POSING)
        machine.generate("u32", "random", 100000)
        machine.sort_and_check("u32")

    def test_kept(self):
        """What was measured is known to the next hacd."""
        machine = self.measured(ONE_DEVICE)
        daemon = machine.running()
        machine.good("drain")
        self.assertEqual(daemon.wait(), 0)
        self.assertEqual(self.state(machine), "measured")

    def test_drain(self):
        """A measurement ends when hacd leaves, before all is measured."""
        for leave in (lambda machine, _: machine.good("drain"), lambda _, daemon: os.kill(daemon.pid, signal.SIGTERM)):
            machine = self.machine(SLOW, config=ON | {"drain_deadline": "60s"})
            self.assertTrue(eventually(lambda: self.state(machine) == "measuring", 60, 0.05))
            told = machine.json("version")["daemon"]  # it is nobody's job
            self.assertEqual((told["jobs"], told["jobs_running"]), (0, 0))
            self.assertNotRegex(machine.good("metrics").decode(), r'hacd_jobs\{[^}]*calibrate[^}]*\} [1-9]')
            daemon = machine.running()
            leave(machine, daemon)
            self.assertEqual(daemon.wait(), 0)
            self.assertEqual(self.state(machine), "waiting")

    def test_jobs_come(self):
        """A job ends the measurement, does not wait for it, and is not refused because of what it holds."""
        machine = self.machine(SLOW, config=ON | {"max_jobs_per_user": "1", "pool_memory_per_user": "8MiB"})
        machine.generate("u32", "random", 1000)
        self.assertTrue(eventually(lambda: self.state(machine) in ("measuring", "measured"), 60, 0.05))
        began = time.monotonic()
        machine.sort_and_check("u32")
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual([job["flow"] for job in machine.json("jobs", "--all")["jobs"]
                          if job["flow"] == "calibrate"], [])

    def test_private_daemon_leaves(self):
        """A measurement does not keep a private daemon alive."""
        for idle_exit in (3, 8):  # before the measurement would begin, and while it goes on
            machine = self.machine(SLOW, config=ON | {"idle_exit": f"{idle_exit}s"})
            self.state(machine)
            daemon = machine.running()
            self.assertTrue(eventually(lambda: not daemon.alive(), idle_exit + 10, 0.2))

    def test_off(self):
        machine = self.machine(ONE_DEVICE, config={"executor_idle_timeout": "60s"})
        self.assertEqual(self.state(machine), "off")
        time.sleep(4)
        self.assertEqual((self.state(machine), machine.running().executor_pids()), ("off", []))
        self.assertNotIn("not measured yet", machine.good("devices").decode())


class OfSystemDaemon(UsersTest):
    """hacd as the machine's service, whose own user never connects."""
    CONFIG = "calibrate_when_idle: true\nexecutor_idle_timeout: 60s\n"

    def state(self, client):
        return json.loads(client.text(wire.QUERY, wire.message(f1=DEVICES)))["devices"][0]["calibration"]

    def comes_in(self, service, uid):
        try:
            User(service, uid).connect().close()
        except ConnectionRefusedError:
            return False
        return True

    def measured(self, config=""):
        client = User(Service(self, self.CONFIG + config), VICTIM).connect()
        self.addCleanup(client.close)
        self.assertTrue(eventually(lambda: self.state(client) == "measured", 60, 0.3), self.state(client))

    def test_new_device(self):
        self.measured()

    def test_limits_of_users(self):
        """The account that measures has none."""
        self.measured("max_jobs_per_user: 1\npool_memory_per_user: 1MiB\n")

    def test_without_landlock(self):
        """hacd's own executor does not keep users out, and ends with the measurement."""
        if b"landlock.version" not in (LIBEXEC / "hacd").read_bytes():
            self.skipTest("built without HAC_FAILPOINTS: NOT TESTED")
        service = Service(self, self.CONFIG, environment={"HAC_FAILPOINTS": "landlock.version=EOPNOTSUPP"}, profile=SLOW)
        root = User(service, 0).connect()  # the first user, who has no executor
        self.assertTrue(eventually(lambda: self.state(root) == "measuring", 60, 0.05), self.state(root))
        root.close()
        for uid in (VICTIM, ATTACKER):
            self.assertTrue(eventually(lambda: self.comes_in(service, uid), 1, 0.1))


if __name__ == "__main__":
    main()
