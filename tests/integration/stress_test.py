#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libhac from many threads at once (stress.c). A soak with it is in soak/."""
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import BUILD, ONE_DEVICE, TWO_DEVICES, MachineTest, main  # noqa: E402


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


if __name__ == "__main__":
    main()
