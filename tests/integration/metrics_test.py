#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hacctl metrics: an independent parser of OpenMetrics reads it, and it reports what has happened."""
import os
import signal
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "build" / "python"))
import wire  # noqa: E402
from machine import CONFIG, TWO_DEVICES, MachineTest, eventually, main  # noqa: E402

try:
    from prometheus_client.openmetrics import parser
except ImportError:
    parser = None
METRICS = 10  # Query.topic
WHY_NOT = "prometheus_client is not installed (`./dev test` puts it into build/python): the text is NOT CHECKED"


def parse(text):
    """{family: {(sample, labels): value}}; the parser refuses what the standard does not allow."""
    families = {}
    for family in parser.text_string_to_metric_families(text):
        if not family.documentation:
            raise AssertionError(f"{family.name} has no HELP")
        if family.name in families:
            raise AssertionError(f"{family.name} comes twice")
        families[family.name] = {(s.name, tuple(sorted(s.labels.items()))): s.value for s in family.samples}
    return families


@unittest.skipUnless(parser, WHY_NOT)
class Metrics(MachineTest):
    def get(self, machine):
        return parse(machine.good("metrics").decode())

    def value(self, families, family, sample=None, **labels):
        wanted = set(labels.items())
        found = [v for (name, have), v in families[family].items()
                 if name == (sample or name) and wanted <= set(have)]
        self.assertTrue(found, f"{family} {labels}: {families[family]}")
        return sum(found)

    def test_at_rest(self):
        machine = self.machine()
        machine.daemon()
        families = self.get(machine)
        self.assertGreater(len(families), 50)
        self.assertEqual(self.value(families, "hacd_jobs"), 0)
        self.assertEqual(self.value(families, "hacd_connections"), 1)
        self.assertEqual(self.value(families, "hacd_device_usable", device="cpu"), 1)

    def test_jobs(self):
        machine = self.machine(TWO_DEVICES)
        machine.daemon()
        machine.generate("u32", "random", 2 << 20)
        for _ in range(2):
            machine.sort_and_check("u32", "--algorithm", "bitonic")
        (machine.work / "in.csv").write_text("a\n" + "".join(f"{i}\n" for i in range(200000)))
        machine.good("splice", "in.csv", "--schema", "a:i64", "--select", "sum(a) as s")
        machine.run("splice", "in.csv", "--schema", "a:i64", "--where", "a/0 > 1", "--select", "sum(a) as s")
        (machine.work / "bad.csv").write_text("a\nx\n")
        self.assertEqual(machine.run("splice", "bad.csv", "--schema", "a:i64", "--select", "sum(a) as s").code, 1)
        f = self.get(machine)
        self.assertEqual(self.value(f, "hacd_jobs_ended", flow="sort", state="done"), 2)
        self.assertGreaterEqual(self.value(f, "hacd_jobs_ended", state="failed"), 1)
        self.assertEqual(self.value(f, "hacd_job_input_bytes", flow="sort"), 2 * (8 << 20))
        self.assertEqual(self.value(f, "hacd_job_output_bytes", flow="sort"), 2 * (8 << 20))
        for family in ("hacd_job_queue_seconds", "hacd_job_run_seconds", "hacd_job_prediction_ratio"):
            self.assertEqual(self.value(f, family, family + "_count", flow="sort"), 2)
            self.assertGreater(self.value(f, family, family + "_sum", flow="sort"), 0)
        for device in ("cpu.0", "cpu.1"):
            self.assertGreater(self.value(f, "hacd_device_busy_seconds", device=device), 0)
            self.assertGreater(self.value(f, "hacd_device_predicted_seconds", device=device), 0)
            self.assertGreater(self.value(f, "hacd_tasks", device=device), 0)
            self.assertGreater(self.value(f, "hacd_models", device=device), 0)
            self.assertGreaterEqual(self.value(f, "hacd_executor_starts", device=device), 1)
        for kind in ("planned", "measured"):
            self.assertAlmostEqual(self.value(f, "hacd_job_share_ratio", flow="sort", kind=kind), 1, places=5)
        self.assertGreater(self.value(f, "hacd_job_capability_ratio", flow="sort"), 0)
        self.assertGreater(self.value(f, "hacd_splice_blocks"), 0)
        self.assertGreater(self.value(f, "hacd_splice_fill_ratio", "hacd_splice_fill_ratio_count"), 0)
        self.assertGreater(self.value(f, "hacd_splice_stage_seconds", stage="preprocess"), 0)
        self.assertGreater(self.value(f, "hacd_loop_turn_seconds", "hacd_loop_turn_seconds_count"), 10)
        user = str(os.getuid())
        self.assertEqual(self.value(f, "hacd_user_resources", user=user, resource="connections"), 1)
        self.assertEqual(self.value(f, "hacd_user_resources_limit", user=user, resource="connections"), 256)
        self.assertGreater(self.value(f, "hacd_user_memory_bytes", user=user), 0)
        self.assertGreaterEqual(self.value(f, "hacd_user_device_seconds", user=user), 0)
        self.assertEqual(self.value(f, "hacd_user_refused", user=user), 0)

    def test_counted_once(self):
        """A job whose client starts writing its output when it has ended, and cannot, is not counted again."""
        machine = self.machine()
        machine.daemon()
        with wire.Client(machine.socket) as client:
            buffer = client.ask(wire.BUFFER_ALLOC, wire.message(f1=1 << 20))[1][1][0]
            job = client.ask(wire.SUBMIT_SORT, wire.sort_buffer("u32", buffer, 0, 1 << 20))[1][1][0]
            self.assertEqual(client.ask(wire.WAIT, wire.message(f1=job))[0], wire.R_DONE)
            self.assertEqual(client.ask(wire.OUTPUT, wire.message(f1=job))[0], wire.R_OK)
            failure = wire.message(f1=1, f2="no space")
            self.assertEqual(client.ask(wire.OUTPUT, wire.message(f1=job, f2=1, f3=failure))[0], wire.R_OK)
            f = self.get(machine)
        self.assertEqual(self.value(f, "hacd_jobs_ended", flow="sort"), 1)
        self.assertIn(f"job {job} of uid {os.getuid()} failed: no space", machine.log())
        machine.bad(1, "wait", job, says="no space")

    def test_failures(self):
        machine = self.machine(config={**CONFIG, "executor_idle_timeout": "60s", "max_connections_per_user": 2})
        daemon = machine.daemon()
        machine.warm_up()
        os.kill(daemon.executor_pids()[0], signal.SIGKILL)
        self.assertTrue(eventually(lambda: self.value(self.get(machine), "hacd_executor_deaths", cause="sigkill") == 1))
        client = wire.Client(machine.socket)
        self.addCleanup(client.close)
        client.send_raw(b"\xff" * 8)
        self.assertTrue(client.ended())
        with wire.Client(machine.socket) as one, wire.Client(machine.socket):
            wire.Client(machine.socket, greet=False).close()
            self.assertEqual(one.ask(wire.BUFFER_ALLOC, wire.message(f1=1 << 50))[0], wire.R_FAILURE)
        self.assertTrue(eventually(lambda: machine.run("metrics").code == 0))  # hacd has noticed that they are gone
        f = self.get(machine)
        refused = self.value(f, "hacd_connections_refused", reason="limit")
        self.assertGreaterEqual(refused, 1)
        self.assertEqual(self.value(f, "hacd_connections_cut"), 1)  # of those that were accepted
        self.assertEqual(self.value(f, "hacd_requests_refused", reason="refused"), 1)
        self.assertEqual(self.value(f, "hacd_user_refused", resource="memory"), 1)
        self.assertEqual(self.value(f, "hacd_log_records", level="error"), 0)

    def as_user(self, machine, uid):
        """What a user is told, and its memory."""
        os.seteuid(uid)
        try:
            client = wire.Client(machine.socket)
        finally:
            os.seteuid(0)
        self.addCleanup(client.close)
        self.assertEqual(client.ask(wire.BUFFER_ALLOC, wire.message(f1=1 << 20))[0], wire.R_BUFFER)
        return client

    def ask(self, client):
        return parse(client.text(wire.QUERY, wire.message(f1=METRICS)))

    def users(self, families):
        return {dict(labels)["user"] for name, samples in families.items() if name.startswith("hacd_user_")
                for _, labels in samples}

    @unittest.skipUnless(os.geteuid() == 0, "needs root: NOT TESTED that users see their own figures alone")
    def test_users(self):
        machine = self.machine()
        machine.daemon()
        for path in (machine.root, machine.socket.parent.parent, machine.socket.parent):
            os.chmod(path, 0o755)
        self.addCleanup(os.chmod, machine.socket.parent, 0o700)
        os.chmod(machine.socket, 0o666)
        one, other = self.as_user(machine, 65533), self.as_user(machine, 65534)
        for client, uid in ((one, "65533"), (other, "65534")):
            families = self.ask(client)
            self.assertEqual(self.users(families), {uid})
            self.assertGreaterEqual(self.value(families, "hacd_user_memory_bytes", user=uid, kind="used"), 1 << 20)
            self.assertEqual(self.value(families, "hacd_connections"), 2)
        os.chmod(machine.socket.parent, 0o700)
        self.assertEqual(self.users(self.get(machine)), {"0", "65533", "65534"})

    def test_names_are_quoted(self):
        """A device's name comes from a profile; no profile may break the text."""
        machine = self.machine(TWO_DEVICES.replace("name: cpu", 'name: "c-p_u.x"', 1))
        machine.daemon()
        self.assertTrue(any("c-p_u.x" in str(labels) for _, labels in self.get(machine)["hacd_device_usable"]))


if __name__ == "__main__":
    main()
