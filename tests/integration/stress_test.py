#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libhac from many threads at once (stress.c), and a soak in the long tier."""
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import BUILD, ONE_DEVICE, TWO_DEVICES, MachineTest, main  # noqa: E402


SLACK = 128 << 10  # bytes


class StressCase(MachineTest):
    def stress(self, machine, threads, rounds, seed=1, timeout=100):
        done = subprocess.run([BUILD / "tests" / "stress", str(threads), str(rounds), str(seed)],
                              env=machine.environment, capture_output=True, text=True, timeout=timeout, check=False)
        self.assertEqual(done.returncode, 0, f"{done.stderr}\n{machine.log()[-3000:]}")


class Quick(StressCase):
    def test_few(self):
        machine = self.machine(TWO_DEVICES)
        machine.baseline()
        self.stress(machine, 4, 15)
        machine.check_clean(slack=24 << 20)


class Stress(StressCase):
    def test_threads(self):
        for profile in (ONE_DEVICE, TWO_DEVICES):
            machine = self.machine(profile)
            machine.baseline()
            self.stress(machine, 8, 60)
            machine.check_clean(slack=24 << 20)

    def test_64_clients(self):
        machine = self.machine(TWO_DEVICES)
        machine.baseline()
        self.stress(machine, 64, 8)
        machine.check_clean(slack=48 << 20)


class LongStress(StressCase):
    """long"""

    def test_pool_is_given_back(self):
        """After a minute without work no pool memory is kept."""
        machine = self.machine(ONE_DEVICE, config={"idle_exit": "none"})
        daemon = machine.baseline()
        self.stress(machine, 4, 10)
        self.assertGreater(daemon.descriptors(pool=True).get("/memfd:hac-pool", 0), 0)
        time.sleep(70)
        self.assertNotIn("/memfd:hac-pool", daemon.descriptors(pool=True))
        machine.check_clean()

    def test_soak(self):
        """An hour, HAC_TEST_SECONDS for another time. From the middle on memory must not grow: less than 1 MiB an hour,
        beside what an allocator may need for the day."""
        seconds = float(os.environ.get("HAC_TEST_SECONDS", "3600"))
        machine = self.machine(TWO_DEVICES, config={"idle_exit": "none"})
        daemon, turn = machine.baseline(), 1
        for half in range(2):
            first, began = daemon.rss(), time.monotonic()
            while time.monotonic() - began < seconds / 2:
                self.stress(machine, 8, 50, turn)
                turn += 1
            time.sleep(70)
            grown, hours = daemon.rss() - first, (time.monotonic() - began) / 3600
            print(f"half {half + 1}: {turn - 1} turns so far, {grown} bytes more in {hours:.3f} hours")
        self.assertLess(grown, max(SLACK, hours * (1 << 20)))
        machine.check_clean(slack=24 << 20)


if __name__ == "__main__":
    main()
