#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/compatibility.md: versions with one protocol version talk to each other, and others refuse each other with both numbers.

tests/data/protocol-N.json has what hacctl and hacd said to each other when protocol version N was new. hacd answers those
requests as it did then, and hacctl understands those answers. `--record` writes the file of the current version: do this once,
when the version is raised, and never again for the same version."""
import json
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import wire  # noqa: E402
from machine import MachineTest, main  # noqa: E402
from recording import Player, Recorder, Replayer, load, pack, request_of, save, unpack  # noqa: E402
from users import failure  # noqa: E402

DATA = Path(__file__).resolve().parent.parent / "data"
CURRENT = DATA / f"protocol-{wire.VERSION}.json"
KEYS = struct.pack("<9000I", *((i * 2654435761) % 2**32 >> 20 for i in range(9000)))
FILES = {"few": KEYS[:400], "many": KEYS, "orders.csv": b"city,amount\nBergen,3\nAachen,5\nBergen,4\n",
         "logic.yaml": Path(__file__).resolve().parents[2].joinpath("docs/examples/pagerank.yaml").read_bytes(),
         "edges": b"1 2\n2 3\n3 1\n3 4\n"}
# Numbers of jobs and buffers of a new machine begin with 1.
COMMANDS = (["sort", "few", "--type", "u32", "--detach"], ["result", "1", "-o", "sorted"], ["result", "1", "-o", "sorted"],
            ["sort", "few", "--type", "u32", "-o", "sorted"],
            ["sort", "many", "--type", "u32", "--descending", "-o", "sorted"],
            ["query", "SELECT city, sum(amount) AS total FROM 'orders.csv' GROUP BY city ORDER BY city"],
            ["query", "orders.csv", "--select", "city, amount * 2 as twice", "--where", "amount > 3"],
            ["splice", "-", "--parse", "csv", "--schema", "city:string,amount:i64", "--select", "sum(amount) as total"],
            ["describe", "orders.csv"],
            ["opsplit", "run", "logic.yaml", "--input", "edges=edges", "-o", "ranks"],
            ["show", "1", "--json"], ["why", "1"], ["log", "2"], ["cancel", "999"], ["jobs", "--json"], ["devices", "--json"],
            ["explain", "sort", "few", "--type", "u32", "--format", "json"],
            ["mapreduce", "orders.csv", "--select", "no_such_column"])
NAME, COLUMN = 128, 132  # bytes of a column's name and of its description
# Of these only the form counts: they have times, numbers of processes and figures of the machine.
STATUS_OF_THE_MACHINE = (wire.QUERY, wire.PLAN_SORT, wire.PLAN_QUERY, wire.PLAN_OPS)


def form(value):
    """A JSON value without its figures: keys and types."""
    if isinstance(value, dict):
        return {key: form(item) for key, item in value.items()}
    if isinstance(value, list):
        return [form(item) for item in value[:1]]
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def has_form(new, old):
    if isinstance(old, dict):
        return isinstance(new, dict) and all(key in new and has_form(new[key], old[key]) for key in old)
    if isinstance(old, list):
        return isinstance(new, list) and (not old or not new or has_form(new[0], old[0]))
    return new == old or "NoneType" in (new, old)


def as_read(values):
    """The values of a field as clients of any release read them: descriptions of columns (hac_described_column) without what was
    added after the ends of the names."""
    def column(value):
        return value[:NAME].split(b"\0")[0].ljust(NAME, b"\0") + value[NAME:]

    def read(value):
        if not isinstance(value, bytes) or len(value) % COLUMN not in (0, 8):  # 8 bytes follow the columns
            return value
        return b"".join(column(value[i:i + COLUMN]) if len(value) - i >= COLUMN else value[i:] for i in range(0, len(value), COLUMN))
    return [read(value) for value in values] if isinstance(values, list) else values


class Versions(MachineTest):
    def runTest(self):
        """For record()."""

    def fill(self, machine):
        for name, text in FILES.items():
            (machine.work / name).write_bytes(text)

    def command(self, machine, socket, words):
        data = FILES["orders.csv"] if "-" in words else None
        done = machine.run("--socket", socket, *words, data=data)
        if "-o" in words and words[-1] == "sorted":
            done.out = (machine.work / "sorted").read_bytes()
        return done

    def text_has_form(self, new, old, about):
        try:
            old = json.loads(old)
        except ValueError:
            return
        self.assertTrue(has_form(form(json.loads(new)), form(old)), (about, new, old))

    def compare(self, asked, old, new, about):
        """The same kind of answer, with all that was in it."""
        self.assertEqual(new[0], old[0], (about, old, new))
        what, fields, memory = old
        self.assertEqual(set(fields) - set(new[1]), set(), (about, fields, new[1]))
        if what == wire.R_TEXT:
            if asked in STATUS_OF_THE_MACHINE:
                self.text_has_form(new[1][1][0], fields[1][0], about)
        elif what == wire.R_FAILURE:
            self.assertEqual(new[1][1], fields[1], about)
        elif what == wire.R_DONE:
            for number in (1, 2, 4, 6):  # all but the time
                self.assertEqual(as_read(new[1].get(number)), as_read(fields.get(number)), (about, number))
            self.assertEqual(new[2], memory, about)
        elif what not in (wire.R_HELLO, wire.R_EVENT, wire.R_BUFFER, wire.R_ACCEPTED):
            self.assertEqual(new[1], fields, about)

    def test_recorded_requests(self):
        """hacd answers a client of the first release with this protocol version as that release's hacd did."""
        machine = self.machine()
        self.fill(machine)
        machine.daemon()
        for command in load(CURRENT):
            for packets in command["conversations"]:
                asked = {request_of(unpack(p["data"]))[1]: request_of(unpack(p["data"]))[0] for p in packets if p["from"] == "client"}
                serials = [request_of(unpack(p["data"]))[1] for p in packets if p["from"] == "hacd"]
                replayer = Replayer(machine.socket, packets)
                for serial, (old, new) in zip([s for s in serials if s != 0], replayer.pairs()):
                    self.compare(asked.get(serial), old, new, command["words"])
                replayer.close()

    def test_recorded_answers(self):
        """hacctl does the same with the answers of the first release with this protocol version as that release's hacctl."""
        machine = self.machine()
        self.fill(machine)
        for i, command in enumerate(load(CURRENT)):
            path = machine.root / f"player{i}"
            player = Player(path, command["conversations"])
            done = self.command(machine, path, command["words"])
            self.assertIsNone(player.problem, command["words"])
            self.assertEqual((done.code, done.out), (command["code"], unpack(command["out"])), (command["words"], done.err))
            player.close()

    def refused(self, answer, version):
        code, text, _ = failure(answer)
        self.assertEqual(code, 3)  # the exit code, too
        for number in (version, wire.VERSION):
            self.assertRegex(text, rf"version {number}\b")
        self.assertIn("use the client of the same release", text)

    def test_other_versions(self):
        """hacd refuses clients of other versions, among them those that are recorded, with both numbers."""
        machine = self.machine()
        machine.daemon()
        for version in (wire.VERSION - 1, wire.VERSION + 1, 0, 1, 2**32 - 1):
            with wire.Client(machine.socket, False) as client:
                self.refused(client.ask(wire.HELLO, wire.hello(version, "hacctl 9.9.9")), version)
                self.assertTrue(client.ended())
        for path in sorted(DATA.glob("protocol-*.json")):
            version = int(path.stem.partition("-")[2])
            hello = unpack(load(path)[0]["conversations"][0][0]["data"])
            self.assertEqual(request_of(hello)[2][1], [version])
            with wire.Client(machine.socket, False) as client:
                client.send_raw(hello)
                answer = client.receive()
                if version == wire.VERSION:
                    self.assertEqual(answer[0], wire.R_HELLO)
                else:
                    self.refused(answer[::2], version)

    def test_other_daemons(self):
        """hacctl refuses a hacd of another version with exit code 3: one that says so, and one that greets it all the same."""
        machine = self.machine()
        hello = wire.frame(wire.field(1, 1) + wire.field(wire.HELLO, wire.hello()))
        text = f"protocol mismatch: this hacd (0.2.0) speaks version {wire.VERSION + 1}, the client (hacctl 0.1.0) version {wire.VERSION}"
        refusal = wire.field(1, 1) + wire.field(wire.R_FAILURE, wire.message(f1=3, f2=text))
        greeting = wire.field(1, 1) + wire.field(wire.R_HELLO, wire.hello(wire.VERSION + 1, "hacd 0.2.0"))
        for i, answer in enumerate((refusal, greeting)):
            path = machine.root / f"other{i}"
            player = Player(path, [[{"from": "client", "data": pack(hello)},
                                    {"from": "hacd", "data": pack(wire.frame(answer))}]])
            done = machine.run("--socket", path, "jobs")
            self.assertEqual(done.code, 3, done)
            self.assertIn(str(wire.VERSION + 1), done.err)
            self.assertIn(str(wire.VERSION), done.err)
            player.close()


def record():
    test = Versions()
    machine = test.machine()
    test.fill(machine)
    machine.daemon()
    recorded = []
    try:
        for i, words in enumerate(COMMANDS):
            path = machine.root / f"recorder{i}"
            recorder = Recorder(path, machine.socket)
            done = test.command(machine, path, words)
            recorder.close()
            print(done.code, *words, done.err)
            recorded.append({"words": words, "code": done.code, "out": pack(done.out), "conversations": recorder.conversations})
    finally:
        test.doCleanups()
    save(CURRENT, recorded)


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        record()
    else:
        main()
