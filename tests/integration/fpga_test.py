#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels built ahead of time: `hacctl kernels build`, then an installation that has only the file.
Its OpenCL refuses to compile (support/no_compiler.c), its caches are empty, and its profile says that its device is an
FPGA."""
import collections
import csv
import io
import json
import os
import random
import struct
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import BUILD, LIBEXEC, ONE_DEVICE, SANITIZED, MachineTest, main  # noqa: E402

NO_COMPILER = BUILD / "tests" / "no_compiler.so"
FPGA = """name: fpga
match: {{platform: "Portable Computing Language", device: "{device}"}}
kind: fpga
style: block
executors: [{{threads: 1}}]
memory: {{host: true}}
program: {{binary: {image}}}
"""
CPU = """name: cpu
match: {platform: "Portable Computing Language", device: "basic*"}
kind: cpu
executors: [{threads: 1}]
memory: {host: true}
"""
QUERY = ("--schema", "k:u32,s:string,n:i64,f:f64", "--group-by", "k,s", "--order-by", "k,s", "--select",
         "count() as c, sum(n) as t, sum(f) as u, min(f) as lo, max(n) as hi")


def table(rows):
    rng = random.Random(6)
    return [(int(rng.paretovariate(.8)) % 5000, f"name {rng.randrange(3)}", rng.randint(-10**9, 10**9) if rng.random() > .1 else None,
             round(rng.uniform(-1e6, 1e6), 5)) for _ in range(rows)]


def as_csv(rows):
    return "k,s,n,f\n" + "".join(f"{k},{s},{'' if n is None else n},{f}\n" for k, s, n, f in rows)


def without(image, name):
    """The image without that program."""
    text, programs = struct.unpack_from("<II", image, 8)
    at, out = 24 + text, bytearray(image[:24 + text])
    for _ in range(programs):
        _, name_bytes, notes, binary, _ = struct.unpack_from("<QIIQQ", image, at + 8)
        end = at + 40 + name_bytes + notes + binary
        if image[at + 40:at + 40 + name_bytes] != name:
            out += image[at:end]
        at = end
    struct.pack_into("<I", out, 12, programs - 1)
    assert at == len(image) and len(out) < len(image), "no such program"
    return bytes(out)


@unittest.skipIf(SANITIZED, "a sanitizer wants to be the first library")
class Fpga(MachineTest):
    """full"""

    @classmethod
    def setUpClass(cls):
        """The image, from a machine with a compiler, and what that machine answers."""
        cls.rows = table(80000)
        rng = random.Random(8)
        cls.numbers = struct.pack("<2000000I", *(rng.getrandbits(32) for _ in range(2000000)))
        case = MachineTest()
        machine = case.machine(ONE_DEVICE)
        try:
            machine.good("kernels", "build", "--device", "cpu", "-o", "cpu.image", timeout=600)
            cls.image = Path(machine.path("cpu.image")).read_bytes()
            Path(machine.path("t.csv")).write_text(as_csv(cls.rows))
            Path(machine.path("n.u32")).write_bytes(cls.numbers)
            cls.answer = machine.good("mapreduce", "t.csv", *QUERY, "--engine", "host")
            machine.good("sort", "n.u32", "--type", "u32", "-o", "sorted.u32")
            cls.sorted = Path(machine.path("sorted.u32")).read_bytes()
        finally:
            case.doCleanups()

    def installation(self, image, more=None, environment=None, device="*", compiler=False):
        """A machine with empty caches and no compiler; its device has this image."""
        machine = self.machine(None, seed=False, environment=environment)
        path = machine.root / "kernels.image"
        path.write_bytes(image)
        path.chmod(0o644)
        machine.set_profile(FPGA.format(image=path, device=device))
        if more:
            machine.set_profile(more, "01-more.yaml")
        Path(machine.path("t.csv")).write_text(as_csv(self.rows))
        Path(machine.path("n.u32")).write_bytes(self.numbers)
        if not compiler:
            libexec = machine.root / "libexec"
            libexec.mkdir()
            (libexec / "hacd").symlink_to(LIBEXEC / "hacd")
            wrapper = libexec / "hac-executor"
            wrapper.write_text(f'#!/bin/sh\nLD_PRELOAD={NO_COMPILER} exec {LIBEXEC / "hac-executor"} "$@"\n')
            wrapper.chmod(0o755)
            machine.environment["HAC_LIBEXEC"] = str(libexec)
        return machine

    def device(self, machine, name="fpga"):
        return next(d for d in machine.devices() if d["name"] == name)

    def receipt(self, machine):
        return json.loads(Path(machine.path("r.json")).read_text())

    def test_from_the_image_alone(self):
        m = self.installation(self.image)
        device = self.device(m)
        self.assertEqual((device["kind"], device["state"], device["style"]), ("fpga", "ready", "block"), m.log())
        self.assertIn("fpga  ready  fpga", m.good("devices").decode())
        m.good("sort", "n.u32", "--type", "u32", "-o", "s.u32", "--receipt", "r.json")
        self.assertEqual(Path(m.path("s.u32")).read_bytes(), self.sorted)
        self.assertEqual(struct.unpack("<2000000I", self.sorted), tuple(sorted(struct.unpack("<2000000I", self.numbers))))
        for hot in ("on", "off"):
            out = m.good("mapreduce", "t.csv", *QUERY, "--engine", "device", "--hot-keys", hot, "--receipt", "r.json")
            self.assertEqual(out, self.answer)
            self.assertEqual(self.receipt(m)["query"]["engine"], "device")
        count, total = collections.Counter(), collections.Counter()
        for k, s, n, _ in self.rows:
            count[str(k), s] += 1
            total[str(k), s] += n or 0
        answer = list(csv.reader(io.StringIO(self.answer.decode())))[1:]
        self.assertEqual({(k, s): int(c) for k, s, c, *_ in answer}, dict(count))
        self.assertTrue(all(t == "" or int(t) == total[k, s] for k, s, _, t, *_ in answer))
        log = m.log()
        self.assertIn("no compiler: a binary is loaded", log)
        self.assertNotIn("a source was to be built", log)
        self.assertEqual(device["codelet_failures"], [])

    def test_known_answers_once(self):
        """Test results are kept beside the image, so a daemon that knows the image starts no builder for its programs."""
        m = self.installation(self.image)
        self.assertEqual(self.device(m)["state"], "ready")
        m.good("sort", "n.u32", "--type", "u32", "-o", "s.u32")
        programs = sorted((m.root / "cache_home" / "hac" / "programs").glob("*/*.bin"))
        self.assertTrue(programs)
        self.assertTrue(all(p.stat().st_size < 2000 for p in programs), "outcomes, not binaries")
        m.good("drain")
        before = {p: p.stat().st_mtime_ns for p in programs}
        m.good("sort", "n.u32", "--type", "u32", "-o", "s.u32")
        self.assertEqual(before, {p: p.stat().st_mtime_ns for p in before})

    def test_no_compiler_no_image(self):
        """The same machine without an image has no device: there really is no compiler."""
        m = self.installation(self.image)
        m.set_profile(ONE_DEVICE, "00-test.yaml")
        device = self.device(m, "cpu")
        self.assertEqual(device["state"], "unusable")
        self.assertIn("CL_COMPILER_NOT_AVAILABLE", device["reason"])

    def test_other_images(self):
        """An image that does not fit says for what it was built, and what to do."""
        noise = bytearray(self.image)
        noise[30] ^= 1
        entry = bytearray(self.image)
        entry[len(entry) // 2] ^= 1
        for image, more, words in (
                (self.image, "tuning: {work_group: 64}\n", 'here it is "64"; build it again with `hacctl kernels build`'),
                (bytes(noise), "", "is damaged or not whole: its head cannot be read"),
                (bytes(entry), "", "is damaged or not whole: program "),
                (self.image[:-1], "", "is damaged or not whole: program "),
                (self.image + b"x", "", "is damaged: 1 bytes follow its last program"),
                (self.image[:20], "", "is not whole: 20 bytes"),
                (b"x" + self.image[1:], "", "program.binary is no image of `hacctl kernels build`, and none that the device's "
                                            "driver takes: clCreateProgramWithBinary: ")):
            with self.subTest(words=words):
                m = self.installation(image)
                path = m.root / "config_home" / "hac" / "profiles" / "00-test.yaml"
                path.write_text(path.read_text() + more)
                device = self.device(m)
                self.assertEqual(device["state"], "unusable", device)
                self.assertIn(words, device["reason"] + m.log())

    def test_falls_back(self):
        """What the image or device cannot do, another device does, and hacctl says so."""
        two = {"POCL_DEVICES": "pthread basic"}
        m = self.installation(without(self.image, b"hash.block"), CPU, two, "pthread*", compiler=True)
        kinds = {d["name"]: d["kind"] for d in m.devices()}
        if set(kinds) != {"fpga", "cpu"}:
            self.skipTest(f"PoCL has no two devices here: {kinds}")
        done = m.run("mapreduce", "t.csv", *QUERY, "--engine", "device", "--devices", "fpga,cpu", "--receipt", "r.json", timeout=300)
        self.assertEqual((done.code, done.out), (0, self.answer), done)
        job = str(m.json("jobs")["jobs"][-1]["id"])
        said = m.good("why", job).decode() + m.good("log", job).decode() + json.dumps(self.device(m))
        self.assertIn("has no program", said)
        m.good("sort", "n.u32", "--type", "u32", "-o", "s.u32", "--devices", "fpga")
        self.assertEqual(Path(m.path("s.u32")).read_bytes(), self.sorted)
        # functions of strings belong to the host codelets, which run on the CPU's cores
        query = ("--schema", "k:u32,s:string", "--group-by", "upper(s) as u", "--select", "count() as c", "--order-by", "u")
        done = m.run("mapreduce", "t.csv", *query, "--engine", "device", "--receipt", "r.json")
        counts = collections.Counter(s.upper() for _, s, _, _ in self.rows)
        self.assertEqual(done.out.decode(), "u,c\n" + "".join(f"{u},{c}\n" for u, c in sorted(counts.items())))
        self.assertIn("the device engine was asked for and cannot run it", done.err)
        self.assertEqual([d["name"] for d in self.receipt(m)["devices"]], ["cpu"])

    def test_refused(self):
        m = self.installation(self.image, compiler=True)
        m.bad(2, "kernels", "build", "--device", "fpga", "-o", "x", says="runs from an image already")
        m.bad(2, "kernels", "build", "--device", "none", "-o", "x", says="unknown device")
        m.bad(2, "kernels", "build", "-o", "x", says="--device")
        m.bad(2, "kernels", "build", "--device", "fpga", says="-o")
        self.assertFalse(os.path.exists(m.path("x")))


if __name__ == "__main__":
    main()
