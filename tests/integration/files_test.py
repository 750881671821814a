#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where data comes from and goes to: streams, pipes, the input itself, full disks, and unreadable files."""
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import HACCTL, SharedMachineTest, main  # noqa: E402

BITONIC = ("--algorithm", "bitonic")


class Files(SharedMachineTest):
    def left(self):
        return sorted(p.name for p in self.m.work.iterdir())

    def test_streams(self):
        for items in (0, 1, 3, 8192, 8193, 300000):
            data = Path(self.m.generate("u32", "random", items, items)).read_bytes()
            for source in (["-"], ["/dev/stdin"]):
                out = self.m.good("sort", *source, "--type", "u32", data=data)
                Path(self.m.path("out")).write_bytes(out)
                self.assertIsNone(self.m.wrong("u32", "in", "out"), f"{items} from {source}")
            self.m.good("sort", "-", "--type", "u32", "-o", "out2", data=data)
            self.assertEqual(Path(self.m.path("out2")).read_bytes(), out)

    def test_slow_pipe(self):
        """A slow writer that writes pieces of odd sizes."""
        self.m.generate("u64", "special", 50001)
        data = Path(self.m.path("in")).read_bytes()
        with open(self.m.path("out"), "wb") as out:
            process = self.m.start("sort", "-", "--type", "u64", stdin=subprocess.PIPE, stdout=out)

            def feed():
                for at in range(0, len(data), 40009):
                    process.stdin.write(data[at:at + 40009])
                    process.stdin.flush()
                process.stdin.close()
            writer = threading.Thread(target=feed)
            writer.start()
            self.assertEqual(process.wait(30), 0)
            writer.join()
        process.stdout = None
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
        self.assertIsNone(self.m.wrong("u64", "in", "out"))

    def test_in_place(self):
        original = Path(self.m.generate("i64", "random", 100001)).read_bytes()
        Path(self.m.path("copy")).write_bytes(original)
        os.chmod(self.m.path("in"), 0o640)
        self.m.good("sort", "in", "--type", "i64", "-o", "in")
        self.assertIsNone(self.m.wrong("i64", "copy", "in"))
        self.assertEqual(os.stat(self.m.path("in")).st_mode & 0o777, 0o640)
        self.assertEqual(self.left(), ["copy", "in"])

    def test_output_keeps_its_mode(self):
        """A private file stays private, whatever the umask says about new ones."""
        self.m.generate("u32", "random", 70000)
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        Path(self.m.path("out")).write_bytes(b"before")
        for mode in (0o600, 0o644):
            os.chmod(self.m.path("out"), mode)
            self.m.good("sort", "in", "--type", "u32", "-o", "out")
            self.assertIsNone(self.m.wrong("u32", "in", "out"))
            self.assertEqual(os.stat(self.m.path("out")).st_mode & 0o777, mode)

    def test_input_is_not_touched(self):
        data = Path(self.m.generate("f32", "special", 70001)).read_bytes()
        os.chmod(self.m.path("in"), 0o400)
        before = os.stat(self.m.path("in"))
        self.m.sort_and_check("f32", *BITONIC)
        self.assertEqual(Path(self.m.path("in")).read_bytes(), data)
        self.assertEqual(os.stat(self.m.path("in")).st_mtime_ns, before.st_mtime_ns)

    def test_empty(self):
        open(self.m.path("in"), "wb").close()
        self.m.good("sort", "in", "--type", "f64", "-o", "out")
        self.assertEqual(Path(self.m.path("out")).read_bytes(), b"")
        self.assertEqual(self.m.good("sort", "in", "--type", "f64", "--argsort"), b"")
        self.assertEqual(self.m.good("sort", "/dev/null", "--type", "u32"), b"")

    def test_links_and_offsets(self):
        self.m.generate("u32", "random", 70000)
        os.symlink("in", self.m.path("link"))
        self.m.good("sort", "link", "--type", "u32", "-o", "out")
        self.assertIsNone(self.m.wrong("u32", "in", "out"))
        os.symlink("real", self.m.path("out-link"))
        self.m.good("sort", "in", "--type", "u32", "-o", "out-link")
        self.assertIsNone(self.m.wrong("u32", "in", "out-link"))

    def test_what_cannot_be_read(self):
        bad = self.m.bad
        Path(self.m.path("odd")).write_bytes(b"12345")
        bad(1, "sort", "odd", "--type", "u32", "-o", "out", says="odd")
        bad(1, "sort", "-", "--type", "u64", "-o", "out", data=b"1234", says="")
        bad(1, "sort", "missing", "--type", "u32", "-o", "out", says="missing")
        bad(1, "sort", ".", "--type", "u32", "-o", "out", says="directory")
        os.symlink("loop", self.m.path("loop"))
        bad(1, "sort", "loop", "--type", "u32", "-o", "out", says="loop")
        self.m.generate("u32", "random", 5)
        if os.geteuid() != 0:
            os.chmod(self.m.path("in"), 0)
            bad(1, "sort", "in", "--type", "u32", "-o", "out", says="in")
        self.assertEqual(self.left(), ["in", "loop", "odd"])

    def test_what_cannot_be_written(self):
        self.m.generate("u32", "random", 200000)
        bad = self.m.bad
        bad(1, "sort", "in", "--type", "u32", "-o", "/dev/full", says="/dev/full")
        with open("/dev/full", "wb") as full:
            result = self.m.run("sort", "in", "--type", "u32", stdout=full)
        self.assertEqual((result.code, result.err.count("\n")), (1, 1), result)
        bad(1, "sort", "in", "--type", "u32", "-o", "no/such/folder", says="no/such/folder")
        bad(1, "sort", "in", "--type", "u32", "-o", "out", "--receipt", "/dev/full", says="/dev/full")
        self.assertEqual(self.left(), ["in"])

    def test_full_disk(self):
        """A file system of 256 KiB: the old output stays, and no half-written one appears."""
        if os.geteuid() != 0:
            self.skipTest("needs root to mount a small file system")
        folder = self.m.path("small")
        os.mkdir(folder)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], capture_output=True,
                          check=False).returncode != 0:
            self.skipTest("cannot mount a file system here")
        self.addCleanup(subprocess.run, ["umount", folder], check=False)
        Path(folder, "out").write_bytes(b"before")
        self.m.generate("u32", "random", 200000)
        self.m.bad(1, "sort", "in", "--type", "u32", "-o", "small/out", says="space")
        self.assertEqual(os.listdir(folder), ["out"])
        self.assertEqual(Path(folder, "out").read_bytes(), b"before")

    def test_usage(self):
        self.m.generate("u32", "random", 70000)
        bad = self.m.bad
        bad(2, "sort", "in", "--type", "u16", "-o", "out", says="u16")
        bad(2, "sort", "in", "--type", "u32", "-o", "out", "--devices", "gpu7", says="gpu7")
        bad(2, "sort", "in", "--type", "u32", "-o", "out", "--devices", "", says="--devices")
        bad(2, "sort", "in", "-o", "out", says="--type")
        bad(2, "explain", "sort", "in", "--type", "u32", "--devices", "gpu7", says="gpu7")
        self.assertEqual(self.left(), ["in"])

    def test_reader_that_leaves(self):
        self.m.generate("u32", "random", 2000000)
        process = subprocess.Popen(f"{HACCTL} sort in --type u32 --algorithm bitonic | head -c 100 >/dev/null; "
                                   "exit ${PIPESTATUS[0]}", shell=True, executable="/bin/bash", cwd=self.m.work,
                                   env=self.m.environment, stderr=subprocess.PIPE)
        _, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, err), (141, b""))  # ended by a signal, and without a message

    def test_little_memory(self):
        self.m.generate("u32", "random", 1000000)
        self.m.bad(4, "sort", "in", "--type", "u32", "-o", "out", "--memory", "1MiB", says="limit")
        self.assertEqual(self.left(), ["in"])
        # the message names a --memory that is enough; a plan with less memory is used if there is one
        for options in ([], ["--argsort"]):
            words = ["sort", "in", "--type", "u32", *options]
            said = self.m.bad(4, *words, "-o", "out", "--memory", "1MiB", says="at least")
            least = int(said.split("at least ")[1].split()[0])
            self.m.bad(4, *words, "-o", "out", "--memory", least - 1, says=f"at least {least} bytes")
            self.m.sort_and_check("u32", "--memory", str(least), *options)
            self.assertTrue(self.m.good("explain", *words, "--memory", least))
            self.m.bad(4, "explain", *words, "--memory", least - 1, says=f"at least {least} bytes")
            os.unlink(self.m.path("out"))

    def test_values_by_hand(self):
        """A few answers that anybody can check."""
        nan, negative_nan = 0x7fc00001, 0xffc00002
        bits = lambda *values: struct.pack(f"<{len(values)}I", *values)  # noqa: E731
        keys = (nan, 0x3f800000, 0x00000000, 0x80000000, 0xff800000, negative_nan, 0x7f800000, 0xbf800000, 1)
        Path(self.m.path("in")).write_bytes(bits(*keys))
        up = (0xff800000, 0xbf800000, 0x80000000, 0, 1, 0x3f800000, 0x7f800000, nan, negative_nan)
        down = (nan, negative_nan, 0x7f800000, 0x3f800000, 1, 0, 0x80000000, 0xbf800000, 0xff800000)
        self.assertEqual(self.m.good("sort", "in", "--type", "f32"), bits(*up))
        self.assertEqual(self.m.good("sort", "in", "--type", "f32", "--descending"), bits(*down))
        self.assertEqual(self.m.good("sort", "in", "--type", "f32", "--argsort"), bits(4, 7, 3, 2, 8, 1, 6, 0, 5))
        Path(self.m.path("in")).write_bytes(bits(5, 1, 5, 1))
        self.assertEqual(self.m.good("sort", "in", "--type", "u32", "--argsort", "--descending"), bits(0, 2, 1, 3))


if __name__ == "__main__":
    main()
