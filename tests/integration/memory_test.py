#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much memory a sort takes at its peak: pages of the pool, counted once whoever maps them, plus what client and
executors hold beside it. Files that a job reads and writes are in the page cache and are not counted."""
import os
import resource
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import ONE_DEVICE, TWO_DEVICES, TYPES, WIDTH, Machine, MachineTest, main  # noqa: E402

PAUSE = 0.002  # seconds between two samples
GOAL = 2.1  # times the input, with input and output counted


def pool_pages(daemon):
    """Bytes of the pool that have pages; hacd holds each memfd once."""
    folder, all_of_them = f"/proc/{daemon.pid}/fd", 0
    for name in os.listdir(folder):
        try:
            if os.readlink(f"{folder}/{name}").startswith("/memfd:hac-pool"):
                all_of_them += os.stat(f"{folder}/{name}").st_blocks * 512
        except OSError:
            continue
    return all_of_them


def private(pid):
    """Resident bytes that are backed by no file and no memfd."""
    try:
        for line in Path("/proc", str(pid), "status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


class Watch:
    """The peak during the `with` block: the whole pool, and what client and executors hold beside it above what
    the executors held at rest."""

    def __init__(self, daemon):
        self.daemon, self.client, self.peak, self.looks = daemon, None, 0, 0
        self.executors = daemon.executor_pids()
        self.at_rest = sum(map(private, self.executors))
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.stop.wait(PAUSE):
            pids = [*self.executors, *([self.client.pid] if self.client else [])]
            self.peak = max(self.peak, pool_pages(self.daemon) + sum(map(private, pids)) - self.at_rest)
            self.looks += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


class MemoryCase(MachineTest):
    def measure(self, profile, kind, items, *options):
        """Peak of a sort in units of its input, and what its plan says, by executors that have sorted before."""
        machine = Machine(profile, {"idle_exit": "none", "executor_idle_timeout": "60s"})
        try:
            daemon = machine.daemon()
            machine.generate(kind, "random", 100000, name="small")
            devices = [device["name"] for device in machine.json("devices")["devices"]]
            # One of several executors may not get each kind of task; a single one does. After three jobs no device is probed,
            # with keys of its own in the pool.
            for names in (*devices, ",".join(devices)) * 3:
                machine.good("sort", "small", "--type", kind, "-o", "small.out", "--devices", names, *options)
            machine.generate(kind, "random", items)
            planned = machine.json("explain", "sort", "in", "--type", kind, *options)["memory"]["of_input"]
            with Watch(daemon) as watch:
                watch.client = machine.start("sort", "in", "--type", kind, "-o", "out", *options)
                err = watch.client.communicate(timeout=120)[1]
            self.assertEqual((watch.client.returncode, err), (0, b""))
            self.assertGreater(watch.looks, 3)
        finally:
            machine.close()
        return watch.peak / (items * WIDTH[kind]), planned

    def check(self, profile, kind, items, *options):
        with self.subTest(type=kind, items=items, options=" ".join(options)):
            peak, planned = self.measure(profile, kind, items, *options)
            print(f"{kind} {items} {' '.join(options)}: {peak:.3f} times the input, {planned:.3f} planned")
            self.assertLess(peak, planned + 0.1)
            self.assertGreater(peak, planned - 0.1)  # check that the intended case is measured
            if "--argsort" not in options:  # whose order needs a copy of the keys
                self.assertLess(peak, GOAL)


class Memory(MemoryCase):
    """full"""

    def test_sorts(self):
        for profile, kind, algorithm in ((ONE_DEVICE, "u32", "radix"), (TWO_DEVICES, "f32", "radix"),
                                         (ONE_DEVICE, "u64", "bitonic"), (TWO_DEVICES, "f64", "bitonic")):
            self.check(profile, kind, 2**24, "--algorithm", algorithm)
        self.check(ONE_DEVICE, "u32", 2**24, "--argsort")

    def test_within_a_quota(self):
        """Radix with its tables does not fit, the network does, and the plan says so; the next size up is refused."""
        machine = self.machine(ONE_DEVICE, {"pool_memory_per_user": "65800KiB", "result_expiry": "60s"})
        items = 8 << 20
        machine.generate("u32", "random", items)
        plan = machine.json("explain", "sort", "in", "--type", "u32")
        self.assertEqual((plan["algorithm"], plan["memory"]["bytes"]), ("bitonic", 8 * items))
        chosen = [c["reason"] for c in plan["candidates"] if c["chosen"]]
        self.assertIn("within the memory allowed: radix needs", chosen[0])
        machine.sort_and_check("u32")
        self.assertIn("with the bitonic algorithm", machine.good("why", "1").decode())
        machine.generate("u32", "random", items + (1 << 18), name="more")
        machine.bad(4, "sort", "more", "--type", "u32", "-o", "out", says="limit of 64 MiB of memory")

    def test_small_stacks(self):
        """Kernels' private memory lies on the stacks of the driver's threads, whatever `ulimit -s` the daemon inherited."""
        machine = self.machine(ONE_DEVICE)
        machine.generate("u32", "random", 2**25)
        small = 256 << 10
        machine.good("sort", "in", "--type", "u32", "-o", "out", "--algorithm", "radix",
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (small, small)))
        self.assertIsNone(machine.wrong("u32", "in", "out"))

    def test_endless(self):
        """A stream is read up to the job's limit, not the pool's."""
        machine = self.machine(ONE_DEVICE, {"pool_memory_per_user": "34MiB"})
        machine.bad(4, "sort", "/dev/zero", "--type", "u32", "--memory", "32MiB", "-o", "out",
                    says="above its limit of 33554432 bytes")


class MemoryLong(MemoryCase):
    """long"""

    def test_everything(self):
        for kind in TYPES:
            for algorithm in ("radix", "bitonic"):
                for options in ([], ["--argsort"], ["--descending"]):
                    for profile in (ONE_DEVICE, TWO_DEVICES):
                        self.check(profile, kind, 2**25 if WIDTH[kind] == 4 else 2**24, "--algorithm", algorithm,
                                   *options)


if __name__ == "__main__":
    main()
