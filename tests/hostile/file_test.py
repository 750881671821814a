#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks that once succeeded. Files and limits that come from others: inherited limits, outputs, caches of drivers.
Each test stands for a kind of attack. Needs root (support/attacks.py)."""
import os
import resource
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from attacks import ATTACKER, VICTIM, AttackTest, as_user  # noqa: E402
from machine import HACCTL, LIBEXEC, ONE_DEVICE, main  # noqa: E402


class Inherited(AttackTest):
    def limited(self, machine, kind, limit):
        machine.generate("u32", "random", 100000)
        return machine.run("sort", "in", "--type", "u32", "-o", "out",
                           preexec_fn=lambda: resource.setrlimit(kind, limit))

    def test_soft_limits(self):
        """M6: a private daemon starts with its starter's soft limits, and others use it."""
        for kind, soft in ((resource.RLIMIT_FSIZE, 100 << 10), (resource.RLIMIT_CPU, 1), (resource.RLIMIT_STACK, 64 << 10),
                           (resource.RLIMIT_NOFILE, 64)):
            machine = self.machine(ONE_DEVICE)
            machine.run("devices", preexec_fn=lambda k=kind, s=soft: resource.setrlimit(k, (s, resource.getrlimit(k)[1])))
            machine.generate("u32", "random", 100000)
            machine.sort_and_check("u32")
            self.assertEqual(len(machine.daemons), 0)
            now, most = resource.prlimit(machine.daemon().pid, kind)
            self.assertTrue(now == most or kind == resource.RLIMIT_STACK and now == 8 << 20, (kind, now, most))

    def test_hard_limits(self):
        """A daemon that could not work says which limit it is, and does not stay in the way of others."""
        for kind, limit, option in ((resource.RLIMIT_FSIZE, 100 << 10, "-f"), (resource.RLIMIT_CPU, 30, "-t"),
                                    (resource.RLIMIT_STACK, 64 << 10, "-s")):
            machine = self.machine(ONE_DEVICE)
            result = self.limited(machine, kind, (limit, limit))
            self.assertEqual(result.code, 3, result)
            self.assertIn(f"`ulimit {option}`", result.err)
            machine.sort_and_check("u32")


class Outputs(AttackTest):
    """M5: what a file that `-o` replaces, or its directory, lets others do with the result."""
    ACL, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"

    def acl(self, user, group, mask, bob):
        """An access list: the owner, user VICTIM, the group, the mask, nobody else."""
        everybody = 0xffffffff
        entries = [(1, user, everybody), (2, bob, VICTIM), (4, group, everybody), (16, mask, everybody), (32, 0, everybody)]
        return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)

    def prepared(self):
        machine = self.machine(ONE_DEVICE)
        machine.generate("u32", "random", 1000)
        os.chmod(machine.root, 0o755)
        folder = machine.work / "out"
        folder.mkdir(mode=0o755)
        return machine, folder

    def xattr(self, path, name):
        try:
            return os.getxattr(path, name)
        except OSError:
            return None

    def set_acl(self, path, name, value):
        try:
            os.setxattr(path, name, value)
        except OSError as error:
            self.skipTest(f"no access lists here: {error}: NOT TESTED")

    def test_list_of_the_file(self):
        """The file's group may not read: its bits in the mode are the mask of the list."""
        machine, folder = self.prepared()
        out = folder / "a"
        out.write_bytes(b"old")
        wanted = self.acl(6, 0, 4, 4)
        self.set_acl(out, self.ACL, wanted)
        machine.good("sort", "in", "--type", "u32", "-o", out)
        self.assertEqual(self.xattr(out, self.ACL), wanted)
        self.assertEqual(out.stat().st_size, 4000)

    def test_without_proc(self):
        """In a chroot, /proc need not be mounted."""
        if subprocess.run(["unshare", "--mount", "true"], check=False).returncode != 0:
            self.skipTest("no mount namespaces: NOT TESTED")
        machine, folder = self.prepared()
        machine.good("devices")  # starts hacd
        out, listed = folder / "a", folder / "b"
        for path in (out, listed):
            path.write_bytes(b"old")
            path.chmod(0o664)
        wanted = self.acl(6, 0, 4, 4)
        self.set_acl(listed, self.ACL, wanted)
        for path in (out, listed):
            command = f"mount -t tmpfs tmpfs /proc && exec {HACCTL} sort in --type u32 -o {path}"
            done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", command], env=machine.environment,
                                  capture_output=True, text=True, cwd=machine.work, stdin=subprocess.DEVNULL, check=False)
            self.assertEqual((done.returncode, path.stat().st_size), (0, 4000), done)
        self.assertEqual(out.stat().st_mode & 0o777, 0o664)
        self.assertEqual(self.xattr(listed, self.ACL), wanted)

    def test_list_of_the_directory(self):
        """What new files get in the directory does not hold for a file that was there before."""
        machine, folder = self.prepared()
        out = folder / "a"
        out.write_bytes(b"old")
        out.chmod(0o640)
        self.set_acl(folder, self.DEFAULT, self.acl(7, 0, 7, 7))
        machine.good("sort", "in", "--type", "u32", "-o", out)
        self.assertIsNone(self.xattr(out, self.ACL))
        self.assertEqual(out.stat().st_mode & 0o777, 0o640)
        new = folder / "b"
        machine.good("sort", "in", "--type", "u32", "-o", new)
        self.assertIsNotNone(self.xattr(new, self.ACL))  # a new file gets it

    def test_strangers_in_a_sticky_directory(self):
        machine, folder = self.prepared()
        folder.chmod(0o1777)
        regular, fifo, link = folder / "file", folder / "fifo", machine.work / "link"
        regular.write_bytes(b"old")
        os.mkfifo(fifo, 0o666)
        link.symlink_to(regular)
        for path in (regular, fifo):
            os.chown(path, ATTACKER, ATTACKER)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        for path in (regular, fifo, link):
            machine.bad(1, "sort", "in", "--type", "u32", "-o", path, says="belongs to another user")
        self.assertEqual(regular.read_bytes(), b"old")
        os.chown(fifo, 0, 0)
        machine.good("sort", "in", "--type", "u32", "-o", fifo)
        self.assertEqual(len(os.read(reader, 5000)), 4000)
        folder.chmod(0o755)  # elsewhere a file keeps its owner
        machine.good("sort", "in", "--type", "u32", "-o", regular)
        self.assertEqual((regular.stat().st_uid, regular.stat().st_size), (ATTACKER, 4000))


class Caches(AttackTest):
    def test_cache_of_another_user(self):
        """M7: without HOME, a driver would take the cache below /tmp that whoever came first has made."""
        if subprocess.run(["unshare", "--mount", "true"], check=False).returncode != 0:
            self.skipTest("no mount namespaces: NOT TESTED")
        if str(HACCTL).startswith("/tmp/"):
            self.skipTest("the build is below /tmp, which this test covers: NOT TESTED")
        command = ("mount -t tmpfs tmpfs /tmp && chmod 1777 /tmp && mkdir -m 0700 /tmp/pocl && "
                   f"exec {' '.join(as_user(ATTACKER))} sh -c '{HACCTL} --json devices && {HACCTL} drain'")
        environment = {"PATH": os.environ["PATH"], "HAC_LIBEXEC": str(LIBEXEC), "LC_ALL": "C.UTF-8",
                       "HAC_PROFILES": self.machine(None).environment["HAC_PROFILES"],
                       "OCL_ICD_VENDORS": os.environ.get("OCL_ICD_VENDORS", "pocl.icd")}
        done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", command], env=environment,
                              capture_output=True, text=True, cwd="/", stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("Portable Computing Language", done.stdout)
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    main()
