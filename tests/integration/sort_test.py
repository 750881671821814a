#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every kind of sort through hacctl, against an oracle that shares no code with hac."""
import itertools
import os
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import ONE_DEVICE, TWO_DEVICES, TYPES, UNEVEN_DEVICES, WIDTH, MachineTest, main  # noqa: E402

# None, a pair, odd ones; inline in the message up to 32 KiB; around blocks; around chunks; several passes.
SMALL = (0, 1, 2, 3, 5, 16, 17, 1000, 2047, 4095, 4096, 4097, 8191, 8192, 8193)
MEDIUM = (16383, 16384, 16385, 32767, 32769, 65535, 65536, 65537, 100003, 131071, 131073, 196608, 262143, 262145)
LARGE = (2**20 - 1, 2**20, 2**20 + 1, 1234567)
PATTERNS = ("random", "special", "sorted", "reversed", "equal", "few", "zipf", "organ", "near", "saw", "onlynan")
ONE_WAYS = ([], ["--algorithm", "radix"], ["--algorithm", "bitonic"])
TWO_WAYS = [[], ["--algorithm", "radix"], ["--algorithm", "bitonic"]] + [
    ["--algorithm", "bitonic", "--scheme", scheme] for scheme in ("none", "proportional", "lower", "upper")] + [
    ["--algorithm", "bitonic", "--scheme", "upper", "--fold", "none"],
    ["--algorithm", "bitonic", "--scheme", "proportional", "--fold", "none"]]
ORDERS = ([], ["--descending"], ["--argsort"], ["--descending", "--argsort"])


# A driver with short loops, little local memory and no f64, on a core of its own beside PoCL's.
ONE_CORE = """name: cpu
match: {platform: "Portable Computing Language", type: cpu}
kind: cpu
executors: [{threads: 1, affinity: [0], group: core0}]
memory: {host: true}
"""
LLVMPIPE = """name: llvmpipe
match: {platform: rusticl, device: "llvmpipe*"}
kind: cpu
style: simt
executors: [{threads: 1, affinity: [1], group: core1}]
memory: {host: true}
limits: {max_loop_iterations: 65535, local_memory: 32KiB}
sandbox: {jit: true}
"""
BOTH_DRIVERS = {"RUSTICL_ENABLE": "llvmpipe", "OCL_ICD_VENDORS": "/etc/OpenCL/vendors"}


class SortCase(MachineTest):
    def sort(self, machine, kind, pattern, items, options, seed):
        machine.generate(kind, pattern, items, seed)
        with self.subTest(type=kind, pattern=pattern, items=items, options=" ".join(options)):
            machine.sort_and_check(kind, *options)

    def walk(self, machine, kinds, sizes, ways, every=1):
        """A sort of each type, algorithm and order, or one in `every` such that each pair of them still occurs where
        possible; sizes and patterns rotate independently."""
        cells = (cell for cell in itertools.product(*map(enumerate, (kinds, ways, ORDERS)))
                 if sum(i for i, _ in cell) % every == 0)
        for step, ((_, kind), (_, options), (_, order)) in enumerate(cells):
            self.sort(machine, kind, PATTERNS[step % len(PATTERNS)], sizes[(step + step // len(sizes)) % len(sizes)],
                      [*options, *order], step)


class Quick(SortCase):
    def test_each_type(self):
        machine = self.machine(TWO_DEVICES)
        machine.baseline()
        for kind in TYPES:
            for items, pattern in ((0, "random"), (1, "special"), (1000, "special"), (4097, "few"),
                                   (65537, "random"), (65536, "special")):
                self.sort(machine, kind, pattern, items, [], items)
            self.sort(machine, kind, "special", 65535, ["--descending"], 1)
            self.sort(machine, kind, "few", 65537, ["--argsort"], 1)
            self.sort(machine, kind, "random", 70000, ["--algorithm", "bitonic", "--scheme", "upper"], 1)
        machine.check_clean()

    def test_oracle(self):
        """The oracle reports errors: two swapped items, swapped NaNs, a repeated index, wrong indices."""
        machine = self.machine(ONE_DEVICE)
        for kind, pattern, order in (("u32", "random", []), ("f64", "onlynan", []), ("i32", "few", ["--argsort"]),
                                     ("f32", "special", ["--descending"]), ("u64", "sorted", ["--descending", "--argsort"])):
            machine.generate(kind, pattern, 500)
            machine.sort_and_check(kind, *order)
            with open(machine.path("out"), "rb") as file:
                width = 4 if "--argsort" in order else WIDTH[kind]
                good = list(iter(lambda: file.read(width), b""))
            place = next(i for i in range(100, 499) if good[i] != good[i + 1])
            one, two = good[place:place + 2]
            for bad in ([two, one], [one, one], [two, two], [one], [one, two, two], [one, bytes(width)]):
                with open(machine.path("bad"), "wb") as file:
                    file.write(b"".join([*good[:place], *bad, *good[place + 2:]]))
                wrong = machine.wrong(kind, "in", "bad", "--descending" in order, "--argsort" in order)
                says = " is right" if len(bad) == 2 else " are right"
                self.assertTrue(wrong is not None and wrong.endswith(says), (kind, pattern, order, bad, wrong))

    def test_small(self):
        """One device does all the work, and the receipt names no shares."""
        machine = self.machine(TWO_DEVICES)
        self.sort(machine, "u32", "random", 1000, [], 1)
        job = str(machine.json("jobs")["jobs"][-1]["id"])
        self.assertRegex(machine.good("why", job).decode(), r"(?m)^It ran on cpu\.[01][^%]*$")
        self.assertRegex(machine.good("why", job).decode(), r"(?m)^  \* small on cpu\.[01] or cpu\.[01] ")
        self.assertIn("on cpu.0 or cpu.1", machine.good("log", job).decode())
        devices = machine.json("show", job)["receipt"]["devices"]
        self.assertEqual([device["share_planned"] for device in devices], [None, None])
        self.assertEqual(sorted(device["tasks"] for device in devices), [0, 1])
        for form, text in (("text", "may take the task"), ("svg", "may take the task")):
            self.assertIn(text, machine.good("explain", "sort", "in", "--type", "u32", "--format", form).decode())


class OneDevice(SortCase):
    """full"""

    def check(self, kinds):
        machine = self.machine(ONE_DEVICE)
        machine.baseline()
        self.walk(machine, kinds, SMALL + MEDIUM, ONE_WAYS)
        self.walk(machine, kinds, LARGE, ONE_WAYS, 4)
        machine.check_clean(slack=16 << 20)

    def test_32_bit(self):
        self.check(("u32", "i32", "f32"))

    def test_64_bit(self):
        self.check(("u64", "i64", "f64"))


class TwoDevices(SortCase):
    """full"""

    def check(self, profile, kinds):
        machine = self.machine(profile)
        machine.baseline()
        self.walk(machine, kinds, MEDIUM, TWO_WAYS, 2)
        for kind in kinds:
            self.sort(machine, kind, "random", 2**20 + 1, ["--algorithm", "bitonic", "--scheme", "upper"], 9)
            self.sort(machine, kind, "special", 2**20 + 1, [], 9)
        machine.check_clean(slack=16 << 20)

    def test_32_bit(self):
        self.check(TWO_DEVICES, ("u32", "i32", "f32"))

    def test_64_bit(self):
        self.check(TWO_DEVICES, ("u64", "i64", "f64"))

    def test_uneven(self):
        self.check(UNEVEN_DEVICES, ("u32", "f64"))


class Matrix(SortCase):
    """Machine × type × algorithm × order × size × pattern."""

    def machines(self):
        """By name; the one with llvmpipe only if it is installed."""
        made = {"one": (self.machine(ONE_DEVICE), ONE_WAYS), "two": (self.machine(TWO_DEVICES), TWO_WAYS),
                "uneven": (self.machine(UNEVEN_DEVICES), TWO_WAYS)}
        other = self.machine(ONE_CORE, environment=BOTH_DRIVERS)
        other.set_profile(LLVMPIPE, "01-llvmpipe.yaml")
        states = {device["name"]: device["state"] for device in other.devices()}
        if states.get("llvmpipe") == "ready":
            made["llvmpipe"] = (other, TWO_WAYS)
        else:
            print(f"SKIPPED: no llvmpipe here, sorts beside it are NOT looked at: {states}", file=sys.stderr)
        for name, (machine, _) in made.items():
            if name != "llvmpipe":
                machine.baseline()
        return made

    @staticmethod
    def cells(name, ways):
        return itertools.product((name,), TYPES, ways, ORDERS, SMALL + MEDIUM + LARGE, PATTERNS)

    def sort_cell(self, machines, cell, seed):
        name, kind, way, order, items, pattern = cell
        with self.subTest(machine=name):
            self.sort(machines[name][0], kind, pattern, items, [*way, *order], seed)

    @staticmethod
    def close_up(machines):
        for name, (machine, _) in machines.items():
            if name != "llvmpipe":  # its builder may still be at work: its programs take a minute
                machine.check_clean(slack=16 << 20)


class Sample(Matrix):
    """full: random cells, for SECONDS, at least five; HAC_TEST_RANDOM=N repeats those of another run."""
    SECONDS = 6

    def test_sample(self):
        number = int(os.environ.get("HAC_TEST_RANDOM", int.from_bytes(os.urandom(4), "little")))
        rng, machines, done = random.Random(number), self.machines(), 0
        cells = {name: list(self.cells(name, ways)) for name, (_, ways) in machines.items()}
        end = time.monotonic() + self.SECONDS
        with self.subTest(HAC_TEST_RANDOM=number):
            while done < 5 or time.monotonic() < end:
                name = rng.choice(list(cells))
                self.sort_cell(machines, rng.choice(cells[name]), rng.randrange(1 << 31))
                done += 1
        print(f"{done} cells of {sum(map(len, cells.values()))}, HAC_TEST_RANDOM={number}")
        self.close_up(machines)


class Everything(Matrix):
    """long: every cell; hours. HAC_TEST_SLICE=I/N takes the I-th part."""

    def test_all(self):
        index, parts = map(int, os.environ.get("HAC_TEST_SLICE", "0/1").split("/"))
        machines = self.machines()
        every = itertools.chain.from_iterable(self.cells(name, ways) for name, (_, ways) in machines.items())
        for step, cell in enumerate(every):
            if step % parts == index:
                self.sort_cell(machines, cell, step)
        self.close_up(machines)


if __name__ == "__main__":
    main()
