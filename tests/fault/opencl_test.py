#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every OpenCL call that executors make returns every error that the specification (OpenCL 1.2) lists for it. The job is
done all the same, or ends with one line; `devices` answers, with a reason where a device cannot be used; hacd goes on,
nothing hangs, and without the error everything works again. Full tier: some pairs; long: all of them."""
import os
import random
import re
import signal
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import ONE_DEVICE, SANITIZED, SOURCE, MachineTest, main  # noqa: E402
from stub import StubOpenCl  # noqa: E402

EVERYWHERE = (-5, -6)  # out of resources, out of host memory
CODES = {
    "clGetPlatformIDs": (-30, -1001),
    "clGetPlatformInfo": (-32, -30),
    "clGetDeviceIDs": (-32, -31, -30, -1),
    "clGetDeviceInfo": (-33, -30),
    "clCreateContext": (-32, -64, -30, -33, -2),
    "clReleaseContext": (-34,),
    "clCreateCommandQueue": (-34, -33, -30, -35),
    "clReleaseCommandQueue": (-36,),
    "clCreateBuffer": (-34, -30, -61, -37, -4),
    "clReleaseMemObject": (-38,),
    "clGetMemObjectInfo": (-30, -38),
    "clCreateProgramWithSource": (-34, -30),
    "clCreateProgramWithBinary": (-34, -30, -33, -42),
    "clBuildProgram": (-44, -30, -33, -42, -43, -3, -11, -59),
    "clReleaseProgram": (-44,),
    "clGetProgramInfo": (-30, -44, -45),
    "clGetProgramBuildInfo": (-33, -30, -44),
    "clCreateKernel": (-44, -45, -46, -47, -30),
    "clReleaseKernel": (-48,),
    "clGetKernelInfo": (-30, -48),
    "clGetKernelWorkGroupInfo": (-30, -33, -48),
    "clSetKernelArg": (-48, -49, -50, -38, -41, -51),
    "clEnqueueNDRangeKernel": (-45, -36, -48, -34, -52, -53, -63, -56, -54, -55, -13, -4, -57),
    "clEnqueueReadBuffer": (-36, -34, -38, -30, -57, -13, -14, -4, -59),
    "clEnqueueWriteBuffer": (-36, -34, -38, -30, -57, -13, -14, -4, -59),
    "clEnqueueFillBuffer": (-36, -34, -38, -30, -57, -13, -4, -59),
    "clEnqueueMapBuffer": (-36, -34, -38, -30, -57, -13, -12, -14, -4, -59),
    "clEnqueueUnmapMemObject": (-36, -38, -30, -57, -34),
    "clFinish": (-36,),
}
REFUSED = "clCreateProgramWithBinary"  # then programs are built again, which takes a while
PAIRS = [(call, code) for call, codes in CODES.items() for code in codes + EVERYWHERE if call != REFUSED]
# A device that shares no memory with hacd: its data is copied.
COPYING = ONE_DEVICE.replace("memory: {host: true}", "memory: {host: false}")
SORT = ("sort", "in", "--type", "u32", "--algorithm", "bitonic", "-o", "out")


class OpenClCase(MachineTest):
    def machine_with(self, profile, **more):
        self.stub = StubOpenCl()
        self.addCleanup(self.stub.remove)
        machine = self.machine(profile, environment=self.stub.environment, **more)
        machine.generate("u32", "random", 70000)
        return machine

    def sort(self, machine, seconds=45):
        """A sort on the device, to the end."""
        began = time.monotonic()
        result = machine.run(*SORT, timeout=seconds + 15)
        self.assertLess(time.monotonic() - began, seconds)
        if result.code == 0:
            self.assertIsNone(machine.wrong("u32", "in", "out"))
            os.unlink(machine.path("out"))
        else:
            self.assertEqual(result.code, 1, result)
            self.assertRegex(result.err, r"\Ahacctl: [^\n]*\n\Z")
            self.assertFalse(os.path.exists(machine.path("out")))
        return result

    def fresh_executors(self, daemon):
        for pid in daemon.executor_pids():
            os.kill(pid, signal.SIGKILL)

    def one(self, machine, daemon, call, code):
        self.fresh_executors(daemon)
        self.stub.set(f"{call}={code}")
        machine.run("reload")
        devices = machine.devices()
        for device in devices:
            self.assertTrue(device["state"] == "ready" or device["reason"] != "", device)
        result = self.sort(machine)
        failed = self.stub.set("")
        self.assertTrue(daemon.alive(), f"hacd has ended with status {daemon.status}\n{machine.log()[-3000:]}")
        self.fresh_executors(daemon)
        machine.good("reload")
        again = self.sort(machine)
        self.assertEqual(again.code, 0, (result, again, machine.log()[-2000:]))
        return failed, result.code

    def walk(self, profile, pairs):
        machine = self.machine_with(profile)
        daemon = machine.baseline()
        reached, outcomes = set(), {0: 0, 1: 0}
        for call, code in pairs:
            with self.subTest(call=call, code=code):
                failed, exit_code = self.one(machine, daemon, call, code)
                outcomes[exit_code] += 1
                if failed:
                    reached.add(call)
        machine.check_clean(slack=16 << 20)
        print(f"{len(pairs)} pairs, calls reached: {len(reached)}, jobs done {outcomes[0]}, failed {outcomes[1]}; "
              f"not reached: {sorted({call for call, _ in pairs} - reached)}", file=sys.stderr)
        return reached


class Codes(OpenClCase):
    def test_calls(self):
        """The code makes calls that the table lacks, or the other way round."""
        made = set()
        for path in (SOURCE / "backends").rglob("*.c"):
            if not path.name.endswith("_test.c"):
                made |= set(re.findall(r"\b(cl[A-Z][A-Za-z]+)\(", path.read_text()))
        self.assertEqual(sorted(made - set(CODES)), [])

    def test_some(self):
        rng = random.Random(os.environ.get("HAC_TEST_SEED_NUMBER", "7"))
        self.walk(ONE_DEVICE, rng.sample(PAIRS, 4))

    def test_build(self):
        """A device that cannot be opened, or has no built programs, is not used, and says why."""
        for call, code in (("clCreateContext", -2), ("clBuildProgram", -11), ("clCreateProgramWithSource", -6)):
            machine = self.machine_with(ONE_DEVICE, seed=False)
            self.stub.set(f"{call}={code}")
            device, = machine.devices()
            self.assertEqual(device["state"], "unusable", device)
            self.assertRegex(device["reason"], "(?i)context|build|compil|program|memory")
            machine.bad(1, *SORT)
            self.stub.set("")


@unittest.skipIf(SANITIZED, "slow, and no other code than in other builds")
class LongCodes(OpenClCase):
    def test_shared(self):
        self.assertGreaterEqual(len(self.walk(ONE_DEVICE, PAIRS)), 12)

    def test_copied(self):
        self.assertGreaterEqual(len(self.walk(COPYING, PAIRS)), 12)

    def test_refused_binary(self):
        """A driver that rejects a binary gets a new one, or the job says so; the binary exists again afterwards."""
        machine = self.machine_with(ONE_DEVICE)
        daemon = machine.baseline()
        for code in CODES[REFUSED] + EVERYWHERE:
            with self.subTest(code=code):
                self.fresh_executors(daemon)
                self.stub.set(f"{REFUSED}={code}@1")
                self.sort(machine, 600)
                self.assertGreater(self.stub.set(""), 0)
                self.fresh_executors(daemon)
                machine.good("reload")
                self.assertEqual(self.sort(machine, 600).code, 0)
        machine.check_clean(slack=16 << 20)


if __name__ == "__main__":
    main()
