#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each allocation of hacd fails once while it serves: the job that meets it is refused, or fails with one line, or is
done all the same. hacd does not end, answers the next job, and nothing is left. The same for an executor: a
task fails, or its executor ends and hacd replaces it. support/out_of_memory.c says which allocations do not fail."""
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import BUILD, LIBEXEC, ONE_DEVICE, SOURCE, MachineTest, main  # noqa: E402

PRELOAD = BUILD / "tests" / "out_of_memory.so"


class MemoryCase(MachineTest):
    def machine_with(self, program):
        """A machine whose hacd or hac-executor has the failing allocator, and the file that steers it."""
        folder = Path(tempfile.mkdtemp(prefix="hac-memory-"))
        self.addCleanup(shutil.rmtree, folder)
        self.file = folder / "control"
        self.file.write_bytes(struct.pack("<qq", -1, 0))
        for name in ("hacd", "hac-executor"):
            (folder / name).symlink_to(LIBEXEC / name)
        (folder / program).unlink()
        (folder / program).write_text(f'#!/bin/bash\nexport LD_PRELOAD={PRELOAD} OUT_OF_MEMORY_FILE={self.file}\n'
                                      f'exec -a {program} {LIBEXEC}/{program} "$@"\n')
        (folder / program).chmod(0o755)
        machine = self.machine(ONE_DEVICE, environment={"HAC_LIBEXEC": str(folder)})
        machine.generate("u32", "random", 70000)
        machine.generate("u32", "random", 1000, name="small")
        Path(machine.path("text")).write_bytes(b"a rose is a rose\n" * 70000)
        return machine

    def control(self, left=-1):
        """Lets `left` allocations succeed before one fails; returns the former (left, made)."""
        before = struct.unpack("<qq", self.file.read_bytes())
        with open(self.file, "r+b") as file:
            file.write(struct.pack("<qq", left, 0))
        return before

    def session(self, machine, words, out):
        """Runs one job; returns whether it was done."""
        result = machine.run(*words, timeout=60)
        if result.code != 0:
            self.assertRegex(result.err, r"\Ahacctl: [^\n]*\n\Z")
            self.assertFalse(os.path.exists(machine.path(out)))
        else:
            os.unlink(machine.path(out))
        return result

    def walk(self, machine, words, most):
        """Fails the allocations of that job one by one: all of them, or a random sample of at most `most`."""
        self.control()
        self.assertEqual(self.session(machine, words, "out").code, 0, machine.log()[-1500:])
        _, made = self.control()
        turns = range(made)
        if most is not None and len(turns) > most:
            turns = sorted(random.Random(made).sample(turns, most))
        outcomes = {}
        for n in turns:
            self.control(n)
            result = self.session(machine, words, "out")
            self.control()
            outcomes[result.code] = outcomes.get(result.code, 0) + 1
            self.assertIn(result.code, (0, 1, 3, 4), (n, result))
            again = self.session(machine, words, "out")
            self.assertEqual(again.code, 0, f"after allocation {n}: {again}\n{machine.log()[-3000:]}")
        print(f"{' '.join(map(str, words))}: {made} allocations, {len(turns)} failed: {outcomes}", file=sys.stderr)


SORT = ("sort", "in", "--type", "u32", "--algorithm", "bitonic", "-o", "out")
SMALL = ("sort", "small", "--type", "u32", "-o", "out")
WORDS = ("mapreduce", "wordcount", "text", "-o", "out")


class Memory(MemoryCase):
    MOST = 6

    def test_hacd(self):
        machine = self.machine_with("hacd")
        daemon = machine.baseline()
        for words in (SMALL, SORT, WORDS):
            self.walk(machine, words, self.MOST)
            self.assertTrue(daemon.alive(), f"hacd has ended with status {daemon.status}\n{machine.log()[-3000:]}")
        machine.check_clean(slack=16 << 20)

    def test_executor(self):
        machine = self.machine_with("hac-executor")
        daemon = machine.baseline()
        for words in (SORT, WORDS):
            self.walk(machine, words, self.MOST)
            self.assertTrue(daemon.alive())
        machine.check_clean(slack=16 << 20)


class Client(MemoryCase):
    """hacctl and libhac: one line and no output, or the whole output."""
    MOST = 4
    COMMANDS = {"small": SMALL, "sort": SORT, "words": WORDS, "devices": ("devices",), "jobs": ("jobs", "--json"),
                "explain": ("explain", *SORT), "stream": ("sort", "-", "--type", "u32", "-o", "out"),
                "splice": ("splice", "text", "--parse", "words", "--group-by", "word", "--select", "word, count()",
                           "-o", "out"),
                "opsplit": ("opsplit", "run", SOURCE / "docs/examples/word-count.yaml", "--input", "folder=texts",
                            "-o", "out"),
                "placement": ("explain", "opsplit", "run", SOURCE / "docs/examples/word-count.yaml", "--input", "folder=texts")}

    def client(self, machine, words, left):
        subprocess.run(["rm", "-rf", machine.path("out")], check=True)
        self.control(left)
        machine.environment.update(LD_PRELOAD=str(PRELOAD), OUT_OF_MEMORY_FILE=str(self.file))
        data = Path(machine.path("in")).read_bytes() if "-" in words else None
        result = machine.run(*words, data=data, timeout=60)
        del machine.environment["LD_PRELOAD"]
        return result, *self.control()

    def test_client(self):
        machine = self.machine_with("hac-executor")
        Path(machine.path("texts")).mkdir()
        Path(machine.path("texts"), "one").write_text("a rose is a rose\n")
        machine.baseline()
        for name, words in self.COMMANDS.items():
            result, _, made = self.client(machine, words, -1)
            self.assertEqual((result.code, result.err), (0, ""))
            self.assertGreater(made, 3)
            turns = range(made)
            if self.MOST is not None and made > self.MOST:
                turns = sorted(random.Random(made).sample(turns, self.MOST))
            outcomes = {}
            for n in turns:
                result, _, _ = self.client(machine, words, n)
                outcomes[result.code] = outcomes.get(result.code, 0) + 1
                with self.subTest(command=name, allocation=n):
                    self.assertIn(result.code, (0, 1, 4), result) # 4: an executor has no room for groups
                    if result.code != 0:
                        self.assertRegex(result.err, r"\Ahacctl: [^\n]*memory[^\n]*\n\Z")
                        self.assertFalse(any(name != "opsplit" or os.listdir(machine.path(out))
                                             for out in os.listdir(machine.work) if out == "out"))
            print(f"{name}: {made} allocations, {len(turns)} failed: {outcomes}", file=sys.stderr)
        machine.check_clean(slack=16 << 20)


class LongMemory(Memory):
    MOST = None


class LongClient(Client):
    MOST = None


if __name__ == "__main__":
    main()
