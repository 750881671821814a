#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks that once succeeded. Who is who, who administers, and what others and the log get to see.
Each test stands for a kind of attack. Needs root (support/attacks.py)."""
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import wire  # noqa: E402
from attacks import ATTACKER, SERVICE, VICTIM, AttackTest, Service, as_user  # noqa: E402
from machine import HACCTL, LIBEXEC, ONE_DEVICE, eventually, main  # noqa: E402
from users import ACKNOWLEDGE, DETACH, JOBS, User, failure  # noqa: E402

MODELS = 9


class Identity(AttackTest):
    def test_users_from_outside_of_the_namespace(self):
        """M3: in a user namespace (PrivateUsers=yes), every user of outside is the overflow uid."""
        if subprocess.run(["unshare", "--user", "--map-root-user", "true"], check=False).returncode != 0:
            self.skipTest("no user namespaces: NOT TESTED")
        machine = self.machine(ONE_DEVICE)
        for path in (machine.root, machine.socket.parent.parent):
            os.chmod(path, 0o755)
        machine.socket.parent.mkdir(mode=0o755)
        process = subprocess.Popen(["unshare", "--user", "--map-root-user", LIBEXEC / "hacd", "--private", "--socket",
                                    machine.socket], env=machine.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.assertTrue(eventually(machine.socket.exists))
        os.chmod(machine.socket, 0o666)
        for uid in (ATTACKER, VICTIM):
            with self.assertRaises(ConnectionRefusedError) as refused:
                User(machine, uid).connect()
            if refused.exception.args[0] is not None:
                self.assertIn("cannot be told apart", failure(refused.exception.args[0])[1])
        root = self.user(machine, 0)  # it is root on both sides
        self.assertEqual(root.ask(wire.DRAIN, b"")[0], wire.R_OK)
        log = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 0, log)
        self.assertIn("cannot be told apart", log)

    def test_memory_of_the_daemon(self):
        """M4: a process of the service's uid reads hacd's memory, which names all users."""
        service = Service(self)
        self.connect(service, VICTIM)
        self.assertEqual(os.stat(f"/proc/{service.process.pid}/mem").st_uid, 0)  # root's, as of all that cannot be dumped
        read = subprocess.run([*as_user(SERVICE), "cat", f"/proc/{service.process.pid}/mem"], capture_output=True, check=False)
        self.assertIn(b"Permission denied", read.stderr)

    def test_tuning_is_not_for_everybody(self):
        """M2: `tune` writes settings that hold for all users."""
        service = Service(self)
        for words in (["tune"], ["tune", "--revert"], ["tune", "--reset"]):
            done = subprocess.run([*as_user(ATTACKER), HACCTL, "--socket", service.socket, *words], capture_output=True,
                                  text=True, check=False, cwd="/", stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 4, done)
            self.assertIn("is for administrators", done.stderr)


class Walls(AttackTest):
    """M4: without Landlock an executor that was taken over reaches more, so users do not share hacd unless it is configured."""
    OFF = {"HAC_FAILPOINTS": "landlock.version=EOPNOTSUPP"}
    SORT = wire.sort_inline("u32", bytes(4000))

    def service(self, config="", environment=None):
        if b"landlock.version" not in (LIBEXEC / "hacd").read_bytes():
            self.skipTest("built without HAC_FAILPOINTS: NOT TESTED")
        return Service(self, config, environment=self.OFF if environment is None else environment)

    def check(self, service):
        path = service.root / "admin.sock"
        done = subprocess.run([HACCTL, "--socket", path, "doctor"], capture_output=True, text=True, check=False, cwd="/",
                              stdin=subprocess.DEVNULL)
        return next(line for line in done.stdout.splitlines() if "users kept apart" in line), done.stdout

    def comes_in(self, service, uid):
        try:
            User(service, uid).connect().close()
        except ConnectionRefusedError:
            return False
        return True

    def test_one_at_a_time(self):
        service = self.service("executor_idle_timeout: 1s\n")
        self.assertTrue(eventually(lambda: self.comes_in(service, VICTIM)))  # root has looked whether hacd listens
        first = self.connect(service, VICTIM)
        self.assertEqual(first.ask(wire.SUBMIT_SORT, self.SORT)[0], wire.R_DONE)
        refused = User(service, ATTACKER).connect(greet=False)
        self.assertIn(b"share_without_landlock: true", refused.receive()[2][2][0])
        refused.close()
        line, text = self.check(service)  # administrators come in
        self.assertIn("one user at a time", text, line)
        self.assertIn("this kernel has no Landlock: one user at a time is served", service.log())
        first.close()
        self.assertFalse(self.comes_in(service, ATTACKER))  # an executor is left
        self.assertTrue(eventually(lambda: self.comes_in(service, ATTACKER), 20, 0.2))

    def test_configured(self):
        service = self.service("share_without_landlock: true\n")
        for uid in (VICTIM, ATTACKER):
            self.assertEqual(self.connect(service, uid).ask(wire.SUBMIT_SORT, self.SORT)[0], wire.R_DONE)
        self.assertIn("share_without_landlock is set", service.log())
        self.assertIn("share_without_landlock is set", self.check(service)[1])

    def test_with_landlock(self):
        service = self.service(environment={})
        if "landlock-missing" in service.log():
            self.skipTest("this kernel has no Landlock: NOT TESTED")
        for uid in (VICTIM, ATTACKER):
            self.assertEqual(self.connect(service, uid).ask(wire.SUBMIT_SORT, self.SORT)[0], wire.R_DONE)
        self.assertIn("the kernel has Landlock", self.check(service)[1])


class Administration(AttackTest):
    """Root in a container without a user namespace is root here, too: it administers nothing at the socket for everybody."""

    def jobs(self, client):
        return {job["user"] for job in json.loads(client.text(wire.QUERY, wire.message(f1=JOBS)))["jobs"]}

    def test_root_is_a_user(self):
        service = Service(self, "result_expiry: 120s\n")
        victim, root = self.connect(service, VICTIM), self.connect(service, 0)
        job = victim.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(400), options=DETACH + ACKNOWLEDGE))[1][1][0]
        victim.ask(wire.WAIT, wire.field(1, job))
        self.assertEqual(self.jobs(root), set())
        for what, body in ((wire.RESULT, wire.field(1, job)), (wire.RELEASE, wire.field(1, job)), (wire.CANCEL, wire.field(1, job)),
                           (wire.DRAIN, b""), (wire.RELOAD, b"")):
            self.assertEqual(root.ask(what, body)[0], wire.R_FAILURE, what)
        self.assertEqual(victim.ask(wire.RESULT, wire.field(1, job))[0], wire.R_DONE)

    def test_socket_for_administrators(self):
        service = Service(self, "result_expiry: 120s\n")
        path = service.root / "admin.sock"
        self.assertEqual((path.stat().st_uid, path.stat().st_mode & 0o777), (SERVICE, 0o600))
        victim = self.connect(service, VICTIM)
        job = victim.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(400), options=DETACH + ACKNOWLEDGE))[1][1][0]
        victim.ask(wire.WAIT, wire.field(1, job))
        service.socket, everybody = path, service.socket
        with self.assertRaises(PermissionError):
            User(service, ATTACKER).connect()
        admin = self.connect(service, 0)
        self.assertEqual(self.jobs(admin), {VICTIM})
        self.assertEqual(admin.ask(wire.RELOAD, b"")[0], wire.R_OK)
        self.assertEqual(admin.ask(wire.RELEASE, wire.field(1, job))[0], wire.R_OK)
        self.assertIn('user="0-admin"', admin.text(wire.QUERY, wire.message(f1=10)))
        for socket, code in ((everybody, 4), (path, 0)):
            done = subprocess.run([HACCTL, "--socket", socket, "reload"], capture_output=True, text=True, check=False, cwd="/",
                                  stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, code, done)
        self.assertEqual(admin.ask(wire.DRAIN, b"")[0], wire.R_OK)
        service.process.wait(60)
        self.assertFalse(path.exists())

    def test_sockets_in_one_directory(self):
        """Daemons that share a directory do not share the socket for administrators."""
        service = Service(self, name="other.sock")
        self.connect(service, VICTIM)  # it is served, so hacd handles signals, too
        self.assertEqual((service.root / "other.admin.sock").stat().st_mode & 0o777, 0o600)
        self.assertFalse((service.root / "admin.sock").exists())
        (service.root / "other.admin.sock").rename(service.root / "aside")
        (service.root / "other.admin.sock").write_text("of another daemon")
        service.process.send_signal(signal.SIGTERM)
        service.process.wait(60)
        self.assertTrue((service.root / "other.admin.sock").exists())


class Shown(AttackTest):
    """What others and the log get to see."""

    def learn(self, client, n=1, kinds=(11,)):
        """Small reductions, which are learnt for the client's user alone; each with another amount of work."""
        number = client.ask(wire.BUFFER_ALLOC, wire.field(1, 1 << 16))[1][1][0]
        for kind in kinds:
            call = wire.op_call([(1, kind, 0, 0, 1, 1, 0, 0, 0, 0), (1, kind, 1, 0, 512, 1, 0, 0, 0, 0)])
            spans = [(0, 0, 64, 1), (0, 4096, 4096, 0)]
            for i in range(n):
                done = client.ask(wire.SUBMIT_OPS, wire.ops([number], [wire.op_task("op.reduce", spans, call, count=512,
                                                                                    f10=4.0 ** (i % 60))], options=b"\x40\x00"))
                self.assertEqual(done[0], wire.R_DONE if done[0] == wire.R_DONE else wire.R_ACCEPTED, done)

    def models(self, client):
        return json.loads(client.text(wire.QUERY, wire.message(f1=MODELS)))["models"]

    def test_models(self):
        """L1 and M1: a user's own models are shown to nobody else, and drive out none that others use."""
        machine, _ = self.shared()
        attacker, victim, root = (self.user(machine, uid) for uid in (ATTACKER, VICTIM, 0))
        for client in (victim, attacker):
            self.learn(client)

        def learners(client):
            return {m["codelet"].partition("@")[2] for m in self.models(client)} - {""}
        self.assertTrue(eventually(lambda: learners(root) == {str(ATTACKER), str(VICTIM)}), learners(root))
        self.assertEqual(learners(attacker), {str(ATTACKER)})
        self.assertEqual(learners(victim), {str(VICTIM)})

    def test_names(self):
        """L7: a name that turns the text around it, or speaks to the terminal."""
        machine, _ = self.shared()
        attacker = self.user(machine, ATTACKER)
        name = "a\u202eb\u2066c\x9bd\x1b[2Je"
        got = attacker.ask(wire.SUBMIT_SORT, wire.message(f1=wire.field(1, 1), f2=wire.message(f1=bytes(400), f5=400, f6=name),
                                                          f4=DETACH + ACKNOWLEDGE))
        self.assertIn(got[0], (wire.R_ACCEPTED, wire.R_DONE), got)
        jobs = json.loads(self.user(machine, 0).text(wire.QUERY, wire.message(f1=JOBS)))["jobs"]
        self.assertEqual([job["name"] for job in jobs], ["a b c d [2Je"])


if __name__ == "__main__":
    main()
