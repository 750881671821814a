#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The daemon's life under load: it is reloaded, drained and stopped, and its executors die and hang, while jobs of all
flows run. Every answer is right, and every accepted job ends once."""
import os
import random
import signal
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from load import Crowd, Flows  # noqa: E402
from machine import ONE_DEVICE, TWO_DEVICES, MachineTest, eventually, main  # noqa: E402

OTHER_DEVICES = TWO_DEVICES.replace("affinity: [1]", "affinity: [1], env: {HAC_LIFE_TEST: again}")
SETTINGS = {"result_expiry": "1s", "executor_idle_timeout": "1s", "idle_exit": "60s"}


def slope(samples):
    """Growth a step of a straight line through the samples (least squares)."""
    n = len(samples)
    middle, mean = (n - 1) / 2, sum(samples) / n
    return sum((i - middle) * (s - mean) for i, s in enumerate(samples)) / sum((i - middle)**2 for i in range(n))


class Reload(MachineTest):
    def change(self, machine, rng, turn):
        """Other devices, other limits; every tenth time something that cannot be read. Whether it is sound."""
        bad = turn % 10 == 9
        machine.set_profile(rng.choice((ONE_DEVICE, TWO_DEVICES, OTHER_DEVICES)))
        machine.configure(**SETTINGS, max_jobs_per_user=rng.choice((900, 1000)))
        broken = machine.root / "config_home" / "hac" / "profiles" / "01-bad.yaml"
        broken.unlink(missing_ok=True)
        if bad and turn % 20 == 9:
            machine.set_profile("name: x\nkind: abacus\n", broken.name)
        elif bad:
            machine.configure(**SETTINGS, max_jobs_per_user="many")
        return not bad

    def reload(self, machine, daemon, sound, by_signal):
        """One reload; by a signal there is no answer, so a question about devices waits until it is through."""
        before = machine.devices() if not sound else None
        if by_signal:
            os.kill(daemon.pid, signal.SIGHUP)
            if before is not None:
                eventually(lambda: "the old configuration stays" in machine.log()[-4000:], 10)
        elif sound:
            machine.good("reload")
        else:
            machine.bad(2, "reload", says="yaml:")
        if before is not None:
            self.assertEqual([d["name"] for d in machine.devices()], [d["name"] for d in before])

    def reloads(self, times, seed):
        machine = self.machine(TWO_DEVICES, config=SETTINGS)
        flows = Flows(machine)
        daemon = machine.baseline(lambda: [flows.run(name) for name in Flows.NAMES])
        rng = random.Random(seed)
        memory, descriptors, seconds = [], [], []
        with Crowd(flows) as crowd:
            for turn in range(times):
                sound = self.change(machine, rng, turn)
                began = time.monotonic()
                self.reload(machine, daemon, sound, turn % 4 != 0)
                seconds.append(time.monotonic() - began)
                crowd.wait_for(rng.choice((0, 1, 2)))
                if crowd.problems:
                    break
                memory.append(daemon.rss())
                descriptors.append(sum(daemon.descriptors().values()))
        self.assertEqual(crowd.problems, [], machine.log()[-3000:])
        self.assertTrue(daemon.alive())
        half = len(memory) // 2
        print(f"{times} reloads, {sum(crowd.done.values())} jobs {dict(crowd.done)}; a reload took "
              f"{sorted(seconds)[len(seconds) // 2]:.3f} s in the middle, {max(seconds):.3f} s at most; second half: memory "
              f"{slope(memory[half:]):+.0f} bytes and descriptors {slope(descriptors[half:]):+.4f} a reload", file=sys.stderr)
        machine.check_clean(slack=12 << 20)
        self.assertIn("the old configuration stays", machine.log())
        self.assertIn("is removed", machine.log())

    def test_under_load(self):
        self.reloads(40, 1)

    def test_removed_while_it_works(self):
        """A device goes while a job runs on it: the job is done on what is there then, and its executor leaves."""
        machine = self.machine(TWO_DEVICES, config=SETTINGS)
        daemon = machine.baseline()
        machine.generate("u32", "random", 8000000)
        process = machine.start("sort", "in", "--type", "u32", "--algorithm", "bitonic", "-o", "out", "--receipt", "r.json")
        self.assertTrue(eventually(lambda: any(d["running"] for d in machine.devices()), 20, 0.005))
        machine.set_profile(ONE_DEVICE)
        machine.good("reload")
        self.assertEqual([d["name"] for d in machine.devices()], ["cpu"])
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out, err), (0, b"", b""), machine.log()[-3000:])
        self.assertIsNone(machine.wrong("u32", "in", "out"))
        self.assertTrue(eventually(lambda: not set(daemon.executors()) & {"cpu.0", "cpu.1"}, 10),
                        "executors of a device that was removed stay")
        machine.sort_and_check("u32", "--devices", "cpu")
        machine.bad(2, "sort", "in", "--type", "u32", "--devices", "cpu.0", "-o", "out", says="unknown device")
        machine.check_clean(slack=16 << 20)

    def test_named_device_gets_other_settings(self):
        """A job that may use one device only goes on when that gets other settings, and says so when it is gone."""
        machine = self.machine(TWO_DEVICES, config=SETTINGS)
        machine.baseline()
        machine.generate("u32", "random", 8000000)
        words = ("sort", "in", "--type", "u32", "--algorithm", "bitonic", "--devices", "cpu.1", "-o", "out")
        for profile, code in ((OTHER_DEVICES, 0), (ONE_DEVICE, 1)):
            process = machine.start(*words)
            self.assertTrue(eventually(lambda: any(d["running"] for d in machine.devices()), 20, 0.005))
            machine.set_profile(profile)
            machine.good("reload")
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (code, b""), err)
            if code == 0:
                self.assertIsNone(machine.wrong("u32", "in", "out"))
                self.assertEqual(err, b"")
            else:
                self.assertIn(b"a reload has removed it", err)
        machine.check_clean(slack=16 << 20)


class LongReload(Reload):
    """long: HAC_TEST_RELOADS for another number."""
    test_under_load = test_removed_while_it_works = test_named_device_gets_other_settings = None

    def test_1000(self):
        self.reloads(int(os.environ.get("HAC_TEST_RELOADS", "1000")), 2)


if __name__ == "__main__":
    main()
