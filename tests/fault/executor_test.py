#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Executors die, hang and crash while they work: the answer is right all the same, and no other job is affected."""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import (BUILD, LIBEXEC, ONE_DEVICE, TWO_DEVICES, MachineTest, children, command_of,  # noqa: E402
                     eventually, main, state_of)

SPLIT = ("--algorithm", "bitonic", "--scheme", "upper", "--fold", "none")
ITEMS = 4000000


def kill(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def builders_of(daemon):
    return [p for p in children(daemon.pid) if "--build" in command_of(p)]


class FaultCase(MachineTest):
    def prepare(self, machine, items=ITEMS, pattern="random"):
        """An input, models that know both devices, and how long the sort then takes on them."""
        machine.generate("u32", pattern, items)
        for _ in range(2):
            machine.sort_and_check("u32", *SPLIT)
        machine.good("sort", "in", "--type", "u32", *SPLIT, "-o", "out", "--receipt", "out.json")
        return json.loads(Path(machine.path("out.json")).read_text())["measured_seconds"]

    def sort_while(self, machine, disturb, out="out"):
        """Starts the sort, calls disturb() while it runs, checks the answer and returns the receipt."""
        process = machine.start("sort", "in", "--type", "u32", *SPLIT, "-o", out, "--receipt", f"{out}.json")
        disturb()
        stdout, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, stdout, err), (0, b"", b""), machine.log()[-3000:])
        self.assertIsNone(machine.wrong("u32", "in", out), machine.log()[-3000:])
        receipt = json.loads(Path(machine.path(f"{out}.json")).read_text())
        self.assertEqual(receipt["state"], "done")
        return receipt


class Kill(FaultCase):
    def kills(self, times, seed, profile=TWO_DEVICES):
        """SIGKILL at random moments of cooperative sorts, while another user uses the service."""
        machine = self.machine(profile)
        daemon = machine.baseline()
        rng = random.Random(seed)
        seconds = self.prepare(machine)
        other = subprocess.Popen([BUILD / "tests" / "stress", "1", str(10 * times), str(seed)],
                                 env=machine.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        killed = noticed = started_over = done = 0
        # on a busy machine sorts start later, so more of the kills come before
        while done < times or (done < 5 * times and (killed <= times // 2 or noticed < max(1, times // 6))):
            done += 1
            def disturb():
                nonlocal killed
                time.sleep(0.005 + rng.uniform(0, seconds))
                pids = daemon.executor_pids()
                rng.shuffle(pids)
                for pid in pids[:rng.choice((1, 1, 2))]:
                    killed += kill(pid, signal.SIGKILL)
            receipt = self.sort_while(machine, disturb)
            lost = sum(device["tasks_lost"] for device in receipt["devices"])
            # the records no longer have what a restart made again
            self.assertLessEqual(lost, receipt["retries"])
            self.assertLessEqual(receipt["restarts"], receipt["retries"])
            if receipt["retries"]:
                self.assertIn("signal 9", receipt["log"])
            noticed += receipt["retries"] > 0
            started_over += receipt["restarts"] > 0
        out, err = other.communicate(timeout=300)
        self.assertEqual((other.returncode, err), (0, ""), out)
        print(f"{killed} executors killed; {noticed} of {done} sorts lost one, {started_over} started over",
              file=sys.stderr)
        self.assertGreater(killed, times // 2)
        self.assertGreaterEqual(noticed, max(1, times // 6))
        for device in machine.devices():  # a SIGKILL from outside says nothing about a device
            self.assertEqual((device["state"], device["reason"]), ("ready", ""))
        machine.check_clean(slack=24 << 20)

    def test_two_devices(self):
        self.kills(7, 1)

    def test_one_device(self):
        self.kills(5, 2, ONE_DEVICE)

    def test_all_at_once_and_again(self):
        """Every executor, five times in one job."""
        machine = self.machine(TWO_DEVICES)
        daemon = machine.baseline()
        self.prepare(machine)

        def disturb():
            for _ in range(5):
                time.sleep(0.1)
                for pid in daemon.executor_pids():
                    kill(pid, signal.SIGKILL)
        self.sort_while(machine, disturb)
        machine.check_clean(slack=16 << 20)


class BuilderKilled(FaultCase):
    def test_and_built_again(self):
        """A killed builder is no reason to give the device up."""
        machine = self.machine(ONE_DEVICE, seed=False)
        process = machine.start("devices")
        self.assertTrue(eventually(machine.running))
        daemon = machine.running()
        self.assertTrue(eventually(lambda: builders_of(daemon)))
        time.sleep(0.2)
        kill(builders_of(daemon)[0], signal.SIGKILL)
        process.communicate(timeout=60)
        self.assertIn("warning hacd: cpu: building its kernels was ended by signal 9 (Killed); another one goes on [builder-died",
                      machine.log())
        machine.generate("u32", "random", 70000)
        machine.sort_and_check("u32", "--algorithm", "bitonic")
        time.sleep(0.2)
        for pid in builders_of(daemon):
            kill(pid, signal.SIGKILL)
        machine.sort_and_check("u32", "--algorithm", "bitonic", "--argsort")
        self.assertEqual(machine.devices()[0]["state"], "ready")


class LongKill(Kill):
    """long: 200 kills, HAC_TEST_KILLS for another number."""
    test_two_devices = test_one_device = test_all_at_once_and_again = None

    def test_200(self):
        self.kills(int(os.environ.get("HAC_TEST_KILLS", "200")), 3)


class Hang(FaultCase):
    # A second for a task of 50 ms: on a busy machine a slow task must not be taken for a stopped one.
    CONFIG = {"task_deadline_minimum": "1s", "task_deadline_factor": 3}

    def stop_one(self, daemon, which=0):
        pids = sorted(daemon.executor_pids())
        if len(pids) > which:
            kill(pids[which], signal.SIGSTOP)
            return pids[which]
        return None

    def test_stopped(self):
        """A task that does not end: hacd kills its executor at the deadline, and the task runs again."""
        for profile in (TWO_DEVICES, ONE_DEVICE):
            machine = self.machine(profile, config=self.CONFIG)
            daemon = machine.baseline()
            seconds = self.prepare(machine)
            began = time.monotonic()
            self.sort_while(machine, lambda: None)
            usual = time.monotonic() - began  # on a machine as busy as this one is now
            stopped = []

            def disturb():
                time.sleep(seconds / 3)
                stopped.append(eventually(lambda: self.stop_one(daemon), pause=0.001))
            began = time.monotonic()
            receipt = self.sort_while(machine, disturb)
            self.assertIsNotNone(stopped[0])
            self.assertLess(time.monotonic() - began, 5 + 5 * usual, f"{receipt}\n{machine.log()[-3000:]}")
            self.assertTrue(eventually(lambda: state_of(stopped[0]) is None), "a stopped executor stays")
            if receipt["retries"]:
                self.assertRegex(receipt["log"], "did not answer|hung|deadline|time")
            machine.check_clean(slack=16 << 20)

    def test_stopped_when_idle(self):
        """An idle executor is asked to exit and does not."""
        machine = self.machine(TWO_DEVICES, config={**self.CONFIG, "executor_idle_timeout": "1s"})
        daemon = machine.baseline()
        for _ in range(10):  # on a busy machine they may have exited before the test looks
            machine.warm_up()
            stopped = [pid for pid in daemon.executor_pids() if kill(pid, signal.SIGSTOP)]
            if stopped:
                break
        self.assertTrue(stopped)
        time.sleep(1.5)  # now they have been asked
        machine.generate("u32", "random", 70000)
        began = time.monotonic()
        machine.sort_and_check("u32", "--algorithm", "bitonic")
        self.assertLess(time.monotonic() - began, 15)
        machine.check_clean()

    def test_stopped_while_draining(self):
        machine = self.machine(TWO_DEVICES, config={"executor_idle_timeout": "60s"})
        daemon = machine.daemon()
        machine.warm_up()
        for pid in daemon.executor_pids():
            kill(pid, signal.SIGSTOP)
        os.kill(daemon.pid, signal.SIGTERM)
        self.assertEqual(daemon.wait(15), 0)  # a drain with running jobs has 25 s


class LongHang(Hang):
    """long"""
    test_stopped = test_stopped_when_idle = test_stopped_while_draining = None

    def test_stopped_at_start(self):
        """An executor that hangs before it is ready, as in a driver's initialisation."""
        machine = self.machine(ONE_DEVICE, config=self.CONFIG)
        daemon = machine.baseline()
        machine.generate("u32", "random", 70000)
        process = machine.start("sort", "in", "--type", "u32", "--algorithm", "bitonic", "-o", "out")
        self.assertTrue(eventually(daemon.executor_pids, 5, 0.0005))
        kill(daemon.executor_pids()[0], signal.SIGSTOP)
        out, err = process.communicate(timeout=50)
        self.assertEqual((process.returncode, out, err), (0, b"", b""))
        self.assertIsNone(machine.wrong("u32", "in", "out"))
        machine.check_clean(slack=16 << 20)


class Crash(FaultCase):
    def test_crash_once(self):
        machine = self.machine(TWO_DEVICES)
        daemon = machine.baseline()
        seconds = self.prepare(machine, ITEMS // 2)
        for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS):
            def disturb(number=number):
                time.sleep(seconds / 3)
                for pid in daemon.executor_pids()[:1]:
                    kill(pid, number)
            self.sort_while(machine, disturb)
        machine.check_clean(slack=16 << 20)

    def test_back_off(self):
        """A device whose executors keep crashing waits longer and longer; hacd stays idle meanwhile."""
        machine = self.machine(ONE_DEVICE)
        daemon = machine.baseline()
        machine.generate("u32", "random", 1 << 21)  # long enough for the test to see its executor at work
        process = machine.start("sort", "in", "--type", "u32", "--algorithm", "bitonic", "-o", "out")
        began, cpu, pids = time.monotonic(), daemon.cpu_seconds(), []
        while time.monotonic() - began < 3 and process.poll() is None:
            for pid in daemon.executor_pids():
                if pid not in pids and kill(pid, signal.SIGSEGV):
                    began = began if pids else time.monotonic()
                    pids.append(pid)
            began = began if pids else time.monotonic()  # a busy machine may be slow to start the first one
            time.sleep(0.0005)
        self.assertIn(len(pids), range(1, 8), "no back-off")
        self.assertLess(daemon.cpu_seconds() - cpu, 0.3)
        process.communicate(timeout=60)
        self.assertIn(process.returncode, (0, 1))
        if process.returncode == 0:
            self.assertIsNone(machine.wrong("u32", "in", "out"))
        self.assertIn("at the earliest", machine.log())
        eventually(lambda: machine.run("sort", "in", "--type", "u32", "--algorithm", "bitonic", "-o", "out").code == 0)
        self.assertIsNone(machine.wrong("u32", "in", "out"))
        self.assertTrue(daemon.alive())
        machine.check_clean(slack=16 << 20)

    def test_goes_elsewhere(self):
        """One of two devices crashes at every use: the job is done on the other."""
        machine = self.machine(TWO_DEVICES)
        daemon = machine.baseline()
        self.prepare(machine, ITEMS // 2)
        process = machine.start("sort", "in", "--type", "u32", *SPLIT, "-o", "out", "--receipt", "r.json")
        end = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < end:
            for pid in daemon.executors().get("cpu.1", []):
                kill(pid, signal.SIGSEGV)
            time.sleep(0.002)
        out, err = process.communicate(timeout=1)
        self.assertEqual((process.returncode, out, err), (0, b"", b""), machine.log()[-2000:])
        self.assertIsNone(machine.wrong("u32", "in", "out"))
        # and later jobs do not wait for it
        for _ in range(3):
            result = machine.run("sort", "in", "--type", "u32", "--algorithm", "bitonic", "-o", "out", timeout=30)
            self.assertEqual(result.code, 0, result)
            self.assertIsNone(machine.wrong("u32", "in", "out"))
        machine.check_clean(slack=16 << 20)


class Builder(MachineTest):
    """A program that cannot be built: jobs that need it are told, and no other job is affected."""

    def lose_program(self, machine, name):
        """Removes a program's binaries; returns the folders they were in."""
        found = list((machine.root / "cache_home" / "hac" / "programs").glob(f"*/{name}-*.bin"))
        self.assertTrue(found, name)
        for binary in found:
            binary.unlink()
        return {binary.parent for binary in found}

    def check_the_others(self, machine, program, says):
        """Only that program is missing on the device; `devices` names it."""
        device = machine.devices()[0]
        self.assertEqual((device["state"], device["reason"]), ("ready", ""))
        self.assertEqual(len(device["program_failures"]), 1, device)
        self.assertRegex(device["program_failures"][0], f"^{program}: .*{says}")
        self.assertIn(f"programs that cannot be built: {program}: ", machine.good("devices").decode())
        machine.generate("u32", "random", 70000)
        machine.sort_and_check("u32", "--algorithm", "bitonic")

    def test_cannot_be_built(self):
        machine = self.machine(ONE_DEVICE)
        machine.warm_up()
        for folder in self.lose_program(machine, "bitonic.block.64"):
            (folder / "bitonic.block.64.attempts").write_text("3\n")  # its driver died of it
        machine.generate("u64", "random", 70000)
        words = ("sort", "in", "--type", "u64", "--algorithm", "bitonic")
        for _ in range(2):
            machine.bad(1, *words, "-o", "out", says="program bitonic.block.64 cannot be built: the driver ended")
        self.check_the_others(machine, "bitonic.block.64", "the driver ended the builder 3 times")
        machine.generate("u64", "random", 70000)
        job = machine.good(*words, "--detach").decode().strip()
        machine.run("wait", job)
        self.assertIn("bitonic.block.64 cannot be built", machine.good("why", job).decode())
        machine.sort_and_check("u64", "--algorithm", "radix")


    @staticmethod
    def stop_builder(daemon):
        """Stops the next builder."""
        found = []

        def look():
            found[:] = builders_of(daemon)
            return found
        if eventually(look, 30, 0.001):
            kill(found[0], signal.SIGSTOP)
            return found[0]
        return None

    def start_waiting_sort(self, **settings):
        """A machine, a sort on it that waits for bitonic.block.64, and the stopped builder that makes that program."""
        machine = self.machine(ONE_DEVICE, **settings)
        daemon = machine.daemon()
        machine.warm_up()
        self.lose_program(machine, "bitonic.block.64")
        machine.generate("u64", "random", 70000)
        process = machine.start("sort", "in", "--type", "u64", "--algorithm", "bitonic", "-o", "out")
        stopped = self.stop_builder(daemon)
        self.assertIsNotNone(stopped)
        return machine, process, stopped

    def test_hangs(self):
        machine, process, stopped = self.start_waiting_sort(config={"build_deadline": "4s"})
        began = time.monotonic()
        _, err = process.communicate(timeout=40)
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn(b"program bitonic.block.64 cannot be built: building took over 4 s", err)
        self.assertTrue(eventually(lambda: state_of(stopped) is None), "the stopped builder stays")
        self.check_the_others(machine, "bitonic.block.64", "building took over 4 s")

    def start_first_sort(self, **settings):
        """A machine that lacks both programs of a sort, the sort, and the two builders that hacd starts for it."""
        machine = self.machine(ONE_DEVICE, **settings)
        daemon = machine.daemon()
        machine.warm_up()
        for program in ("radix.block.64", "radix_leaf.block.64"):
            self.lose_program(machine, program)
        machine.generate("u64", "random", 70000)
        process = machine.start("sort", "in", "--type", "u64", "--algorithm", "radix", "-o", "out")
        found = []

        def two():
            found[:] = builders_of(daemon)
            return len(found) == 2
        self.assertTrue(eventually(two, 30, 0.001), "one builder makes both")
        return machine, process, found

    @unittest.skipIf(os.cpu_count() < 2, "SKIPPED: a second builder needs a second core")
    def test_two_side_by_side(self):
        """Programs needed later are built beside the one needed first; another builder takes over from a killed one."""
        for victim in (None, 0, 1):
            with self.subTest(victim=victim):
                machine, process, builders = self.start_first_sort()
                if victim is not None:
                    kill(builders[victim], signal.SIGKILL)
                _, err = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 0, err)
                self.assertIsNone(machine.wrong("u64", "in", "out"))
                self.assertEqual(machine.devices()[0]["program_failures"], [])

    @unittest.skipIf(os.cpu_count() < 2, "SKIPPED: a second builder needs a second core")
    def test_second_hangs(self):
        """Only the program that the builder was to make counts as unavailable."""
        machine, process, builders = self.start_first_sort(config={"build_deadline": "7s"})
        kill(builders[1], signal.SIGSTOP)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn(b"program radix_leaf.block.64 cannot be built: building took over 7 s", err)
        self.check_the_others(machine, "radix_leaf.block.64", "building took over 7 s")

    def test_others_go_on(self):
        """A job that does not need the program being built does not wait for it."""
        machine, process, stopped = self.start_waiting_sort()
        machine.generate("u32", "random", 70000, name="other")
        machine.sort_and_check("u32", "--algorithm", "bitonic", in_name="other", out_name="other.out", timeout=20)
        Path(machine.path("text")).write_text("a b a\n")
        self.assertEqual(machine.good("mapreduce", "wordcount", "text", "--order-by", "word", timeout=20),
                         b"word,count\na,2\nb,1\n")
        self.assertIsNone(process.poll(), "the one that needs the program has not waited")
        jobs = {job["state"]: str(job["id"]) for job in machine.json("jobs")["jobs"]}
        self.assertIn("It waits for bitonic.block.64 to be built for cpu", machine.good("why", jobs["running"]).decode())
        self.assertNotIn("It waits for", machine.good("why", jobs["done"]).decode())
        kill(stopped, signal.SIGCONT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertIsNone(machine.wrong("u64", "in", "out"))
        why = machine.good("why", jobs["running"]).decode()
        said = re.search(r"(?m)^Of the ([0-9.]+) s since it came, ([0-9.]+) s went to building kernels ", why)
        self.assertIsNotNone(said, why)
        self.assertLessEqual(float(said[2]), float(said[1]))

    def test_killed_again_and_again(self):
        """The kernel kills builders as it does where memory is short: hacd does not retry for ever."""
        machine = self.machine(ONE_DEVICE, seed=False)
        process = machine.start("devices")
        self.assertTrue(eventually(machine.running))
        daemon, killed = machine.running(), set()
        while process.poll() is None and len(killed) < 50:
            for pid in builders_of(daemon):
                if pid not in killed and kill(pid, signal.SIGKILL):
                    killed.add(pid)
            time.sleep(0.001)
        process.communicate(timeout=60)
        self.assertLess(len(killed), 10)
        device = machine.devices()[0]
        self.assertEqual(device["state"], "unusable")
        self.assertIn("signal 9", device["reason"])

    def test_hangs_in_the_self_test(self):
        """Nothing is known about such a device, so it is not used."""
        machine = self.machine(ONE_DEVICE, config={"build_deadline": "4s"}, seed=False)
        process = machine.start("devices")
        self.assertTrue(eventually(machine.running))
        self.assertIsNotNone(self.stop_builder(machine.running()))
        process.communicate(timeout=60)
        device = machine.devices()[0]
        self.assertEqual(device["state"], "unusable")
        self.assertIn("building took over 4 s", device["reason"])
        machine.generate("u32", "random", 70000)
        machine.bad(1, "sort", "in", "--type", "u32", "-o", "out", says="building took over 4 s")
        doctor = machine.run("doctor").out.decode()
        self.assertIn("see what is said of each device", doctor)
        self.assertNotIn("install", doctor)


class Start(MachineTest):
    """All executors of the only device fail at start: the job ends and says why."""
    SORT = ("sort", "in", "--type", "u32", "--algorithm", "bitonic", "-o", "out")

    def machine_with(self, script):
        """A machine whose task executors are this shell script; its probe and builders are real."""
        folder = Path(tempfile.mkdtemp(prefix="hac-libexec-"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "hacd").symlink_to(LIBEXEC / "hacd")
        executor = folder / "hac-executor"
        executor.write_text(f'#!/bin/sh\ncase $1 in --*) exec {LIBEXEC}/hac-executor "$@" ;; esac\n{script}\n')
        executor.chmod(0o755)
        machine = self.machine(ONE_DEVICE, environment={"HAC_LIBEXEC": str(folder)})
        machine.generate("u32", "random", 70000)
        return machine, executor

    def test_exits(self):
        machine, executor = self.machine_with("exit 3")
        began = time.monotonic()
        machine.bad(1, *self.SORT, says="no executor of it gets ready; the last one exited with status 3")
        self.assertLess(time.monotonic() - began, 30)
        self.assertEqual(machine.devices()[0]["state"], "quarantined")
        machine.bad(1, *self.SORT, says="exited with status 3")  # at once
        self.assertLess(time.monotonic() - began, 35)
        executor.unlink()  # a reload examines all devices again
        executor.symlink_to(LIBEXEC / "hac-executor")
        machine.good("reload")
        self.assertEqual(machine.devices()[0]["state"], "ready")
        machine.sort_and_check("u32", "--algorithm", "bitonic")

    def test_cannot_be_made(self):
        machine, executor = self.machine_with("exit 3")
        self.assertEqual(machine.devices()[0]["state"], "ready")
        executor.unlink()
        machine.bad(1, *self.SORT, says="cannot start")

    def test_gets_over_it(self):
        """A few failures are no reason to give the device up."""
        machine, executor = self.machine_with(f'test -e "$0.now" && exec {LIBEXEC}/hac-executor "$@"\nexit 3')
        process = machine.start(*self.SORT)
        time.sleep(1)
        Path(f"{executor}.now").touch()
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out, err), (0, b"", b""))
        self.assertIsNone(machine.wrong("u32", "in", "out"))
        self.assertEqual((machine.devices()[0]["state"], machine.devices()[0]["reason"]), ("ready", ""))


if __name__ == "__main__":
    main()
