#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`identity: cgroup`: pods of one uid are users of their own. The test's process is moved into cgroups that look like those of
pods, and connects from there. Needs root, and cgroups of version 2 that can be made."""
import itertools
import json
import os
import signal
import socket
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import wire  # noqa: E402
from attacks import SERVICE, VICTIM, AttackTest, Service  # noqa: E402
from machine import eventually, main  # noqa: E402
from users import ACKNOWLEDGE, DETACH, JOBS, SHOW, failure  # noqa: E402

MOUNTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
METRICS, ALL_JOBS = 10, 13


def own_cgroup():
    lines = Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines()
    return next((line[3:] for line in lines if line.startswith("0::")), None)


class Places(AttackTest):
    numbers = itertools.count()

    def setUp(self):
        super().setUp()
        mount = next((m for m in MOUNTS if (m / "cgroup.procs").exists()), None)
        own = own_cgroup()
        if mount is None or own is None or own.startswith("/.."):
            self.skipTest("no cgroups of version 2: NOT TESTED that pods are told apart")
        self.home = mount / own[1:]
        self.top = self.home / f"hac-test-{os.getpid()}"
        try:
            self.top.mkdir()
            self.move(self.top)
            self.move(self.home)
        except OSError as problem:
            self.skipTest(f"no cgroup can be made ({problem}): NOT TESTED that pods are told apart")
        self.addCleanup(self.remove)

    def remove(self):
        for folder in sorted(self.top.rglob("*"), reverse=True):
            if folder.is_dir():
                folder.rmdir()
        self.top.rmdir()

    @staticmethod
    def move(cgroup):
        (cgroup / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")

    def pod(self):
        return f"kubepods/pod{next(self.numbers):08d}-1111-2222-3333-444455556666"

    @contextmanager
    def inside(self, path):
        cgroup = self.top / path
        cgroup.mkdir(parents=True, exist_ok=True)
        self.move(cgroup)
        try:
            yield
        finally:
            self.move(self.home)

    def client(self, service, uid, path):
        with self.inside(path):
            return self.connect(service, uid)

    def jobs(self, client, topic=JOBS):
        return {job["id"] for job in json.loads(client.text(wire.QUERY, wire.message(f1=topic)))["jobs"]}

    def detached(self, client):
        got = client.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(400), options=DETACH + ACKNOWLEDGE))
        self.assertEqual(got[0], wire.R_ACCEPTED, got)
        client.ask(wire.WAIT, wire.field(1, got[1][1][0]))
        return got[1][1][0]

    def test_pods_of_one_uid(self):
        service = Service(self, "identity: cgroup\nmax_jobs_per_user: 2\nresult_expiry: 120s\n")
        one, two = self.pod(), self.pod()
        first, other = self.client(service, VICTIM, f"{one}/a"), self.client(service, VICTIM, f"{two}/a")
        same = self.client(service, VICTIM, f"{one}/b/c")  # another container of the first pod
        jobs = {self.detached(first), self.detached(same)}
        self.assertEqual((self.jobs(first), self.jobs(same), self.jobs(other)), (jobs, jobs, set()))
        refused = same.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(400), options=DETACH + ACKNOWLEDGE))
        self.assertIn("limit of 2 jobs", failure(refused)[1])
        theirs = self.detached(other)
        for job in jobs:
            for what in (wire.RESULT, wire.CANCEL, wire.RELEASE):
                self.assertEqual(other.ask(what, wire.field(1, job))[0], wire.R_FAILURE, what)
        for job in jobs:  # what is left of them are records
            self.assertEqual(first.ask(wire.RELEASE, wire.field(1, job))[0], wire.R_OK)
        folders = service.root / "state_home" / "hac" / "jobs"
        self.assertTrue(eventually(lambda: len(list(folders.glob(f"{VICTIM}.*/*"))) == 3), list(folders.rglob("*")))
        self.assertEqual((self.jobs(same, ALL_JOBS), self.jobs(other, ALL_JOBS)), (jobs, {theirs}))
        for job in jobs:
            self.assertEqual(json.loads(same.text(wire.QUERY, wire.message(f1=SHOW, f2=job)))["id"], job)
            self.assertEqual(other.ask(wire.QUERY, wire.message(f1=SHOW, f2=job))[0], wire.R_FAILURE)

    def test_administrators(self):
        """hacd's own uid in a pod administers nothing; in the place of hacd it does, as ExecReload= needs."""
        service = Service(self, "identity: cgroup\n")
        stranger, own = self.client(service, SERVICE, self.pod()), self.connect(service, SERVICE)
        self.detached(own)
        self.assertEqual(stranger.ask(wire.RELOAD, b"")[0], wire.R_FAILURE)
        self.assertEqual(self.jobs(stranger), set())
        self.assertEqual(own.ask(wire.RELOAD, b"")[0], wire.R_OK)
        service.socket = service.root / "admin.sock"
        admin = self.client(service, 0, self.pod())
        self.assertEqual(len(self.jobs(admin)), 1)
        names = {line.split('"')[1] for line in admin.text(wire.QUERY, wire.message(f1=METRICS)).splitlines()
                 if line.startswith("hacd_user_device_seconds_total{")}
        uids = sorted(name.partition(".")[0] for name in names)
        uids = uids[uids[0] == "0":]  # of the connection that looked whether hacd listens
        self.assertEqual(uids, ["0-admin", str(SERVICE), str(SERVICE)], names)

    def test_process_that_has_ended(self):
        """A client connects and ends before hacd looks: its number may be that of a process in another pod by then."""
        service = Service(self, "identity: cgroup\n")
        service.process.send_signal(signal.SIGSTOP)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        child = os.fork()
        if child == 0:
            client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            client.connect(str(service.socket))
            socket.send_fds(theirs, [b"x"], [client.fileno()])
            os._exit(0)  # pylint: disable=protected-access
        os.waitpid(child, 0)
        _, fds, _, _ = socket.recv_fds(ours, 1, 1)
        service.process.send_signal(signal.SIGCONT)
        with socket.socket(fileno=fds[0]) as left:
            left.settimeout(20)
            self.assertIn(b"cannot tell the pod or container", left.recv(65536))
        ours.close()
        theirs.close()
        self.assertTrue(eventually(lambda: "the process that connected has ended" in service.log()
                                   or "does not identify the client's process" in service.log()
                                   or "cannot read /proc/" in service.log()), service.log())

    def test_reload(self):
        """Who is connected stays who they were; who comes later is told apart."""
        service = Service(self)
        before = self.client(service, VICTIM, self.pod())
        job = self.detached(before)
        admin = self.connect(service, SERVICE)
        config = service.root / "hacd.yaml"
        with tempfile.NamedTemporaryFile("w", dir=service.root, delete=False) as file:
            file.write(config.read_text(encoding="utf-8") + "identity: cgroup\n")
        os.chmod(file.name, 0o644)
        os.rename(file.name, config)
        self.assertEqual(admin.ask(wire.RELOAD, b"")[0], wire.R_OK)
        after = self.client(service, VICTIM, self.pod())
        self.assertEqual((self.jobs(before), self.jobs(after)), ({job}, set()))


if __name__ == "__main__":
    main()
