#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hac-mpi writes the same bytes as hacctl alone, for any number of ranks and daemons; and what happens when one of
them fails. Needs Open MPI's mpirun."""
import gzip
import itertools
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import opsplit_cuts_test as cuts  # noqa: E402
import opsplit_edges_test as edges  # noqa: E402
from machine import BUILD, SOURCE, MachineTest, Result, children, command_of, eventually, main  # noqa: E402

HAC_MPI = BUILD / "mpi" / "hac-mpi"
PROGRAM = BUILD / "mpi" / "mpi_program"  # <hac/mpi.h> as a program uses it
EXAMPLE = BUILD / "mpi" / "example_ranks"  # docs/examples/ranks.c
MPIRUN = shutil.which("mpirun")
EVERY = Path(__file__).resolve().parent / "every_subop.yaml"
EXAMPLES = SOURCE / "docs" / "examples"
DATA = Path(os.environ["HAC_TEST_DATA"], "data") if "HAC_TEST_DATA" in os.environ else None
RANKS = (1, 2, 3, 4, 7)
# Needed by root, and for more ranks than cores.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_base_warn_component_unused": "0"}
# What Open MPI 4 sometimes says about ranks that did call MPI_Finalize (its issue 7833: once in some thousand runs).
LOST_END = "exiting improperly. There are three reasons"
ENDLESS = """name: endless
vectors: {x: {template: FixValueVector, type: f64, value: 1, rows: 50000}}
operators:
  - while: {condition: "all > 0", rounds: 100000000}
    do:
      - map: {expr: "x * 1.0", out: x}
      - reduce: {in: x, function: sum, out: all}
outputs: {x: {columns: {x: x}}}
"""
if MPIRUN is None or not HAC_MPI.exists():
    print(f"SKIPPED: everything of hac-mpi: {'no mpirun' if MPIRUN is None else f'{HAC_MPI} was not built'}", file=sys.stderr)


def descendants(pid):
    return [p for child in children(pid) for p in (child, *descendants(child))]


@unittest.skipIf(MPIRUN is None or not HAC_MPI.exists(), "no Open MPI, or a build without it")
class RankTest(MachineTest):
    def setUp(self):
        self.m = self.machine()

    def start(self, ranks, *words, machines=None, options=(), folders=None, launcher=(), program=HAC_MPI):
        """mpirun; with `machines`, rank i has the environment, and so the daemon, of the i-th."""
        environment = {**self.m.environment, **OPEN_MPI, "TMPDIR": str(self.m.root)}
        command = [str(program), *map(str, words)]
        if machines or folders:
            wrapper = self.m.root / "as_rank"
            lines = ["#!/bin/sh", "case $OMPI_COMM_WORLD_RANK in"]
            for i in range(ranks):
                names = {k: v for k, v in machines[i].environment.items() if k.startswith("XDG_")} if machines else {}
                lines.append(f"{i}) " + " ".join(f"export {k}='{v}';" for k, v in names.items()) +
                             (f" cd '{folders[i]}';" if folders else "") + " ;;")
            wrapper.write_text("\n".join([*lines, "esac", 'exec "$@"', ""]))
            wrapper.chmod(0o755)
            command.insert(0, str(wrapper))
        return subprocess.Popen([*launcher, MPIRUN, "-n", str(ranks), *options, *command], env=environment, cwd=self.m.work,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def mpirun(self, ranks, *words, timeout=240, **more):
        process = self.start(ranks, *words, **more)
        began = time.monotonic()
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            for pid in descendants(process.pid):
                os.kill(pid, signal.SIGKILL)
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"mpirun -n {ranks} {words} took over {timeout} s: {err.decode()}\n{self.m.log()[-3000:]}")
        return Result(process.returncode, out, err.decode(), time.monotonic() - began)

    def good(self, ranks, *words, **more):
        result = self.mpirun(ranks, *words, **more)
        if LOST_END in result.err and "hac-mpi: " not in result.err:
            print(f"AGAIN: mpirun -n {ranks} {words} lost the end of a rank: {result}", file=sys.stderr)
            result = self.mpirun(ranks, *words, **more)
        self.assertEqual((result.code, result.err), (0, ""), f"mpirun -n {ranks} {words}: {result}\n{self.m.log()[-3000:]}")
        return result.out

    def bad(self, code, ranks, *words, says, **more):
        result = self.mpirun(ranks, *words, **more)
        lines = [line for line in result.err.splitlines() if line.startswith("hac-mpi: ")]
        self.assertEqual((result.code, len(lines)), (code, 1), f"mpirun -n {ranks} {words}: {result}")
        self.assertIn(says, lines[0])
        return lines[0]

    def files(self, folder):
        return {path.name: path.read_bytes() for path in (self.m.work / folder).iterdir()}

    def same(self, got, want, about):
        self.assertEqual(sorted(got), sorted(want), about)
        for name, data in want.items():
            self.assertTrue(got[name] == data, f"{name} is another with {about}")


class Logic(RankTest):
    """Logic files."""
    RANKS, EXAMPLE_RANKS = (2, 7), (3,)

    def write_inputs(self):
        r = random.Random(7)

        def write(name, header, rows):
            (self.m.work / name).write_text("\n".join([header, *rows, ""] if header else [*rows, ""]))
        write("a.csv", "x,y,n,k,w", (f"{r.uniform(-1, 1)!r},{r.gauss(0, 3)!r},{-5 if i == 777 else r.randrange(-10**6, 10**6)},"
                                     f"{r.randrange(60)},w{r.randrange(700)}" for i in range(40000)))
        write("many.csv", "key,value,whole", (f"{r.randrange(50)},{r.uniform(-1, 1):.9g},{r.randrange(1 << 40)}"
                                              for _ in range(100000)))
        write("p.csv", "c0,c1,c2,c3", (",".join(repr(r.uniform(-5, 5)) for _ in range(4)) for _ in range(5000)))
        write("t.txt", "", (" ".join(f"t{r.randrange(200)}" for _ in range(r.randrange(12))) for _ in range(500)))
        return [word for name, file in (("a", "a.csv"), ("many", "many.csv"), ("p", "p.csv"), ("text", "t.txt"))
                for word in ("--input", f"{name}={file}")]

    def test_every_sub_operator(self):
        inputs = self.write_inputs()
        self.m.good("opsplit", "run", EVERY, *inputs, "-o", "alone")
        alone = self.files("alone")
        self.assertEqual(len(alone), 17)
        for ranks in self.RANKS:
            self.good(ranks, EVERY, *inputs, "-o", f"of{ranks}", "--components", ranks * 5 % 7 + 1)
            self.same(self.files(f"of{ranks}"), alone, f"{ranks} ranks")

    @unittest.skipIf(DATA is None, "HAC_TEST_DATA is not set: the examples' inputs are there")
    def test_examples(self):
        text = self.m.work / "text"
        text.mkdir()
        lines = (DATA / "shakespeare.txt").read_text().splitlines()[:1500]
        (text / "one.txt").write_text("\n".join(lines[:700]) + "\n")
        (text / "two.txt").write_text("\n".join(lines[700:]) + "\n")
        inputs = {"pagerank.yaml": {"edges": DATA / "facebook_combined.txt"}, "tf-idf.yaml": {"docs": text / "one.txt"},
                  "word-count.yaml": {"docs": text}}
        for path in sorted(set(EXAMPLES.glob("*.yaml")) - {EXAMPLES / "jacobi.yaml"}):  # whose inputs are a program's vectors
            logic = path.read_text()
            names = inputs.get(path.name) or {
                line.strip().split(":")[0]: DATA / "iris.csv"
                for line in logic.split("inputs:")[1].split("\nvectors:")[0].split("\noperators:")[0].splitlines()
                if line.startswith("  ") and not line.startswith("   ") and line.strip() and not line.strip().startswith("#")}
            if path.name == "word-count.yaml":
                names = {name: text for name in [line.strip().split(":")[0] for line in
                                                 logic.split("inputs:")[1].splitlines()[1:2]]}
            words = [w for name, file in names.items() for w in ("--input", f"{name}={file}")]
            with self.subTest(path.name):
                self.m.good("opsplit", "run", path, *words, "-o", f"{path.stem}-1")
                want = self.files(f"{path.stem}-1")
                for ranks in self.EXAMPLE_RANKS:
                    self.good(ranks, path, *words, "-o", f"{path.stem}-{ranks}")
                    self.same(self.files(f"{path.stem}-{ranks}"), want, f"{ranks} ranks")

    def test_partitioners_and_operations(self):
        """Each rank has components of its own: ranges by weight, or single rows; all ranks have all of a GlobalMap."""
        (self.m.work / "p.csv").write_text(cuts.text_of(cuts.random_table()))
        logic = self.m.work / "cut.yaml"

        def write(partitioner, operation):
            logic.write_text(cuts.LOGIC.format(partitioner=partitioner, operation=operation))
            return logic
        self.m.good("opsplit", "run", write("range", "VectorMap"), "--input", "p=p.csv", "-o", "alone")
        alone = self.files("alone")
        cases = [("range", o) for o in ("GlobalMap", "TaskMap", "CrossMap")]
        cases += [(p, "VectorMap") for p in ("hash", "round-robin", "{weight: p.w}", "{hash: p.name}", '{expr: "p.k"}', '{expr: "2"}')]
        for partitioner, operation in cases:
            for ranks in self.EXAMPLE_RANKS:
                with self.subTest(partitioner=partitioner, operation=operation, ranks=ranks):
                    shutil.rmtree(self.m.work / "out", ignore_errors=True)
                    self.good(ranks, write(partitioner, operation), "--input", "p=p.csv", "-o", "out")
                    self.same(self.files("out"), alone, f"{ranks} ranks")

    def test_edges(self):
        """One row, one column, ragged rows, and a vector that a loop reads and collects."""
        (self.m.work / "p.csv").write_text("x,y\n1,1\n2,2\n5,5\n")
        (self.m.work / "c.csv").write_text("x,y\n0,0\n")
        logic, inputs = self.m.work / "edges.yaml", ("--input", "p=p.csv", "--input", "c=c.csv")
        for text, words in ((edges.COLLECT % 2, ()), (edges.RAGGED % "[[1, 2, 3]]", ()), (edges.NEAREST, inputs)):
            logic.write_text(f"name: edges\n{text}")
            self.m.good("opsplit", "run", logic, *words, "-o", "alone")
            self.good(3, logic, *words, "-o", "ranks")
            self.same(self.files("ranks"), self.files("alone"), text)

    def test_separate_daemons(self):
        inputs = self.write_inputs()
        self.m.good("opsplit", "run", EVERY, *inputs, "-o", "alone")
        machines = [self.m, self.machine(), self.machine()]
        for ranks in (2, 3):
            self.good(ranks, EVERY, *inputs, "-o", f"of{ranks}", machines=machines[:ranks])
            self.same(self.files(f"of{ranks}"), self.files("alone"), f"{ranks} daemons")
        pids = {machine.daemon().pid for machine in machines}
        self.assertEqual(len(pids), 3)

    def test_seven_daemons(self):
        (self.m.work / "x.csv").write_text("x\n" + "".join(f"{i / 7}\n" for i in range(30000)))
        logic = self.m.work / "sum.yaml"
        logic.write_text("name: sum\ninputs: {i: {parse: csv, schema: 'x:f64'}}\noperators:\n"
                         "  - map: {expr: 'i.x * i.x', out: y}\n  - scan: {in: y, out: z}\n"
                         "outputs: {z: {format: raw, columns: [z]}}\n")
        self.m.good("opsplit", "run", logic, "--input", "i=x.csv", "-o", "alone")
        machines = [self.m] + [self.machine() for _ in range(6)]
        self.good(7, logic, "--input", "i=x.csv", "-o", "seven", machines=machines)
        self.same(self.files("seven"), self.files("alone"), "7 daemons")

    def test_socket_by_rank(self):
        inputs = self.write_inputs()
        machines = [self.m, self.machine()]
        for i, machine in enumerate(machines):
            machine.daemon()
            (self.m.root / f"socket-{i}").symlink_to(machine.socket)
        self.m.good("opsplit", "run", EVERY, *inputs, "-o", "alone")
        self.good(2, "--socket", self.m.root / "socket-{rank}", EVERY, *inputs, "-o", "both")
        self.same(self.files("both"), self.files("alone"), "a socket a rank")
        jobs = [len(machine.json("jobs")["jobs"]) for machine in machines]
        self.bad(3, 3, "--socket", self.m.root / "socket-{rank}", EVERY, *inputs, says="rank 2: ")
        self.assertTrue(all(jobs), jobs)

    def test_process_log(self):
        inputs = self.write_inputs()
        self.good(3, EVERY, *inputs, "--log", "log", "-o", "out")
        lines = (self.m.work / "log").read_text().splitlines()
        for rank in range(3):
            own = [line for line in lines if line.startswith(f"rank {rank}: ")]
            self.assertTrue(any("residual = " in line for line in own), own)
            self.assertTrue(any("sub-operators" in line for line in own), own)
        self.assertEqual(len(lines) % 3, 0)

    def test_only_rank_0_writes(self):
        """Ranks in folders of their own: all but one leave theirs empty."""
        inputs = [word.replace("=", f"={self.m.work}/") if "=" in word else word for word in self.write_inputs()]
        folders = [self.m.root / f"rank{i}" for i in range(2)]
        for folder in folders:
            folder.mkdir()
        self.good(2, EVERY, *inputs, "-o", "out", folders=folders)
        self.assertEqual([len(list((folder / "out").glob("*"))) for folder in folders], [17, 0])

    def test_no_folder(self):
        """One rank says that nothing is written."""
        inputs = self.write_inputs()
        done = self.mpirun(3, EVERY, *inputs)
        self.assertEqual((done.code, done.err), (0, "hac-mpi: no output is written without -o DIR\n"))

    def test_wrong_usage(self):
        inputs = self.write_inputs()
        self.bad(2, 3, "--nothing", EVERY, says="unknown option --nothing")
        self.bad(2, 3, says="which logic file?")
        self.bad(2, 2, "devices", says="a command of hacctl")
        self.bad(1, 2, "absent.yaml", says="hac-mpi: absent.yaml")
        self.bad(2, 3, EVERY, *inputs[:4], says="is not given")
        (self.m.work / "bad.yaml").write_text("name: 3\nfoo: 1\n")
        self.assertNotIn("rank", self.bad(2, 3, "bad.yaml", says="bad.yaml"))

    def test_inputs_differ(self):
        inputs = [word.replace("=", f"={self.m.work}/") if "=" in word and "p=" not in word else word
                  for word in self.write_inputs()]
        folders = [self.m.root / f"rank{i}" for i in range(3)]
        for i, folder in enumerate(folders):
            folder.mkdir()
            (folder / "p.csv").write_text("c0,c1,c2,c3\n" + f"1,2,3,{4 + (i == 1)}\n" * 20)
        self.bad(1, 3, EVERY, *inputs, says="input p is not the same for rank 1 as for rank 0", folders=folders)
        (folders[2] / "p.csv").unlink()
        self.bad(1, 3, EVERY, *inputs, says="rank 2: p.csv cannot be read", folders=folders)


PARTS = """name: parts
inputs:
  t: {parse: %s, schema: "x:f64,k:u32,name:string,b:bool,y:f64,n:i64", matrix: {p: [y, x]}%s}
vectors: {zero: {template: FixValueVector, type: f64, value: 0, rows: 1}}
operators:
  - map: {expr: "t.n * 2 + cast(t.k as i64)", out: m}
  - reduce: {in: t.n, function: sum, out: all}
  - row_reduce: {in: t.p, function: sum, out: both}
  - reduce_by_key: {key: t.k, keys: 64, in: both, function: sum, out: sums}
  - index: {in: t.name, out: id, distinct: names}
outputs:
  rows: {columns: {m: m, both: both, b: t.b, id: id, p: t.p, name: t.name}}
  sums: {columns: {sum: sums}}
  all: {columns: {all: all}}
"""


class Parts(RankTest):
    """Inputs of 1 MiB and more: each rank reads a part."""
    ROWS = 60000

    def rows(self):
        r = random.Random(11)
        names = ["plain", 'with ""quotes""', "a,b", "two\nlines", ""]
        return [(r.uniform(-1, 1), r.randrange(64), names[r.randrange(5)] + str(r.randrange(90)), r.randrange(2), r.gauss(0, 3),
                 r.randrange(-10**6, 10**6)) for _ in range(self.ROWS)]

    def write_csv(self, name, rows):
        (self.m.work / name).write_text("x,k,name,b,y,n\n" + "".join(
            f'{x!r},{k},"{n}",{"true" if b else "false"},{y!r},{i}\n' for x, k, n, b, y, i in rows))

    def logic(self, parse, more=""):
        (self.m.work / "parts.yaml").write_text(PARTS % (parse, more))
        return "parts.yaml"

    def check(self, logic, ranks, *inputs, rows=ROWS, parts=True):
        """The same bytes as alone; the log says what each rank read."""
        shutil.rmtree(self.m.work / "alone", ignore_errors=True)
        self.m.good("opsplit", "run", logic, *inputs, "-o", "alone")
        for n in ranks:
            shutil.rmtree(self.m.work / "out", ignore_errors=True)
            self.good(n, logic, *inputs, "--log", "log", "-o", "out")
            self.same(self.files("out"), self.files("alone"), f"{n} ranks")
            lines = [line for line in (self.m.work / "log").read_text().splitlines() if " rows of " in line]
            self.assertEqual(len(lines), n)
            self.assertTrue(all(f" {rows} rows of " in line for line in lines), lines)
            if not parts:
                self.assertFalse(any("read here" in line for line in lines), lines)
                continue
            read = [int(line.split(", ")[1].split(" ")[0]) for line in lines]
            self.assertEqual(sum(read), rows)
            self.assertLess(max(read), rows * 0.9, read)

    def test_csv(self):
        self.write_csv("t.csv", self.rows())
        self.check(self.logic("csv"), (2, 3, 7), "--input", "t=t.csv")

    def test_filtered(self):
        """Skipped rows are not spread evenly: ranks send each other theirs."""
        rows = self.rows()
        self.write_csv("t.csv", rows)
        kept = sum(row[1] < 32 for row in rows[:50000])
        rows[50000:] = [(*row[:1], 63, *row[2:]) for row in rows[50000:]]
        self.write_csv("t.csv", rows)
        self.check(self.logic("csv", ", where: \"k < 32\""), (2, 3), "--input", "t=t.csv", rows=kept)

    def test_jsonl_tsv_and_lines(self):
        rows = self.rows()
        (self.m.work / "t.jsonl").write_text("".join(
            f'{{"x":{x!r},"k":{k},"name":"{n}","b":{"true" if b else "false"},"y":{y!r},"n":{i}}}\n'.replace('""', "'")
            for x, k, n, b, y, i in ((x, k, n.replace("\n", " ").replace('"', "'"), b, y, i) for x, k, n, b, y, i in rows)))
        self.check(self.logic("jsonl"), (3,), "--input", "t=t.jsonl")
        (self.m.work / "lines.yaml").write_text("name: lines\ninputs: {t: {parse: lines}}\noperators:\n"
                                                "  - index: {in: t.line, out: id, distinct: lines}\n"
                                                "outputs: {ids: {columns: {id: id, line: t.line}}}\n")
        (self.m.work / "t.txt").write_text("".join(f"{n} and {k}\n".replace("\n", " ", n.count("\n")) for _, k, n, _, _, _ in rows * 2))
        self.check("lines.yaml", (2, 4), "--input", "t=t.txt", rows=2 * self.ROWS)

    def test_fixed(self):
        """Records of 21 bytes: no rank's part begins inside a record."""
        (self.m.work / "f.yaml").write_text(
            'name: f\ninputs: {t: {parse: fixed, schema: "x:f64,k:u32,b:bool,n:i64"}}\noperators:\n'
            '  - map: {expr: "if(t.b, t.x, 0.0) + cast(t.n as f64)", out: y}\n'
            "outputs: {y: {columns: {y: y, k: t.k}}}\n")
        (self.m.work / "t.bin").write_bytes(b"".join(struct.pack("<dIBq", x, k, b, i) for x, k, _, b, _, i in self.rows()))
        self.check("f.yaml", (2, 5, 7), "--input", "t=t.bin")
        with open(self.m.work / "t.bin", "ab") as file:
            file.write(b"12345")
        self.bad(1, 3, "f.yaml", "--input", "t=t.bin", says="t.bin")

    def test_many_pieces(self):
        """A rank's part is in memory in pieces of 32 MiB, cut at records."""
        self.write_csv("t.csv", self.rows())
        head, _, body = (self.m.work / "t.csv").read_text().partition("\n")
        (self.m.work / "t.csv").write_text(head + "\n" + body * 25)
        (self.m.work / "few.yaml").write_text((self.m.work / self.logic("csv")).read_text().partition("  rows:")[0] +
                                              "  sums: {columns: {sum: sums}}\n  all: {columns: {all: all}}\n")
        self.check("few.yaml", (2,), "--input", "t=t.csv", rows=25 * self.ROWS)
        records = b"".join(struct.pack("<dIBq", x, k, b, i) for x, k, _, b, _, i in self.rows())
        (self.m.work / "t.bin").write_bytes(records * 56)
        (self.m.work / "f.yaml").write_text(
            'name: f\ninputs: {t: {parse: fixed, schema: "x:f64,k:u32,b:bool,n:i64"}}\noperators:\n'
            '  - reduce: {expr: "if(t.b, t.n, 0) + cast(t.k as i64)", function: sum, out: all}\n'
            "outputs: {all: {columns: {all: all}}}\n")
        self.check("f.yaml", (2,), "--input", "t=t.bin", rows=56 * self.ROWS)

    def test_parquet(self):
        self.write_csv("t.csv", self.rows())
        self.m.good("parquet", "convert", "t.csv", "t.parquet", "--schema", "x:f64,k:u32,name:string,b:bool,y:f64,n:i64",
                    "--row-group-rows", 7000)
        self.check(self.logic("parquet"), (2, 3), "--input", "t=t.parquet")

    def test_folder(self):
        """A folder is divided by whole files, empty ones included; the result says which file each row is from."""
        rows, folder = self.rows(), self.m.work / "folder"
        folder.mkdir()
        cuts_at = [0, 100, 100, 30000, 45000, 59999, self.ROWS]
        for i in range(6):
            (folder / f"{i}.csv").write_text("".join(f"{x!r},{k},{n}\n".replace('""', "").replace("\n", " ", n.count("\n"))
                                                     for x, k, n, *_ in ((*row[:2], row[2].replace(",", ";")) for row in
                                                                         rows[cuts_at[i]:cuts_at[i + 1]])))
        (folder / "9.csv").write_text("")
        (self.m.work / "d.yaml").write_text(
            'name: d\ninputs: {t: {parse: csv, header: false, directory: true, schema: "x:f64,k:u32,name:string"}}\noperators:\n'
            '  - map: {expr: "t.x + cast(t.file as f64)", out: y}\n'
            "outputs: {y: {columns: {y: y, file: t.file, name: t.name}}, files: {columns: {files: t.files}}}\n")
        self.check("d.yaml", (2, 3, 7), "--input", "t=folder")

    def test_read_by_all(self):
        """Small inputs, aggregates, ordered and limited rows, and compressed files are not divided."""
        self.write_csv("t.csv", self.rows())
        self.write_csv("small.csv", self.rows()[:1000])
        self.check(self.logic("csv"), (3,), "--input", "t=small.csv", rows=1000, parts=False)
        self.check(self.logic("csv", ", order_by: n"), (3,), "--input", "t=t.csv", parts=False)
        self.check(self.logic("csv", ", limit: 500"), (2,), "--input", "t=t.csv", rows=500, parts=False)
        (self.m.work / "t.csv.gz").write_bytes(gzip.compress((self.m.work / "t.csv").read_bytes(), 1))
        self.check(self.logic("csv"), (2,), "--input", "t=t.csv.gz", parts=False)
        (self.m.work / "sum.yaml").write_text(
            'name: s\ninputs: {t: {parse: csv, schema: "x:f64,k:u32,name:string,b:bool,y:f64,n:i64", select: "sum(n) as n"}}\n'
            'operators: [{map: {expr: "t.n + 1", out: m}}]\noutputs: {m: {columns: {m: m}}}\n')
        self.check("sum.yaml", (2,), "--input", "t=t.csv", rows=1, parts=False)

    def test_bad_rows(self):
        """The wrong row is named as in a run alone, by the rank that has it."""
        rows = self.rows()
        self.write_csv("t.csv", rows)
        text = (self.m.work / "t.csv").read_text()
        lines = text.replace("two\nlines", "two lines").splitlines(keepends=True)
        lines[50001] = ",1,a,true,1.5,3\n"
        (self.m.work / "t.csv").write_text("".join(lines))
        alone = self.m.bad(1, "opsplit", "run", self.logic("csv"), "--input", "t=t.csv", "-o", "out")
        self.assertIn("row 50001 of the input has no value in column x", alone)
        self.bad(1, 3, "parts.yaml", "--input", "t=t.csv", "-o", "out", says="row 50001 of the input has no value in column x")

    def test_output_fails(self):
        """Rank 0 cannot write the first of three; no rank waits for the others."""
        self.write_csv("t.csv", self.rows())
        (self.m.work / "out" / "rows.csv").mkdir(parents=True)
        self.bad(1, 3, self.logic("csv"), "--input", "t=t.csv", "-o", "out", says="rows.csv cannot be written: ", timeout=60)
        self.assertEqual([path.name for path in (self.m.work / "out").iterdir()], ["rows.csv"])

    def test_differ(self):
        """Parts that differ in size, or in where they begin and end."""
        self.write_csv("t.csv", self.rows())
        text = (self.m.work / "t.csv").read_text()
        folders = [self.m.root / f"rank{i}" for i in range(3)]
        logic = self.m.work / self.logic("csv")
        for other in (text + text[-20:], text[:-3] + "9" + text[-2:], text.replace(",", ";", 1)):
            for i, folder in enumerate(folders):
                folder.mkdir(exist_ok=True)
                (folder / "t.csv").write_text(other if i == 2 else text)
            self.bad(1, 3, logic, "--input", "t=t.csv", says="input t is not the same for rank 2 as for rank 0", folders=folders)


class LongLogic(Logic):
    """long"""
    RANKS, EXAMPLE_RANKS = RANKS, (1, 2, 3, 4, 7)


class Sort(RankTest):
    """hac-mpi sort against hacctl's, which has oracles of its own."""
    EVERY_WAY = False  # with each pattern

    def same_sort(self, kind, ranks, *options, **more):
        self.m.good("sort", "in", "--type", kind, "-o", "want", *options)
        self.good(ranks, "sort", "in", "--type", kind, "-o", "got", *options, **more)
        want, got = (self.m.work / "want").read_bytes(), (self.m.work / "got").read_bytes()
        self.assertTrue(want == got, f"{kind}, {ranks} ranks, {options}")

    def test_types_and_patterns(self):
        """Ties, NaNs of every kind, and all keys in one rank's part; parts of unequal length."""
        patterns = (("u32", "zipf"), ("i32", "reversed"), ("f32", "onlynan"), ("u64", "equal"), ("i64", "saw"),
                    ("f64", "random"), ("f32", "few"))
        for i, (kind, pattern) in enumerate(patterns):
            self.m.generate(kind, pattern, 50021, seed=i)
            ways = list(itertools.product((RANKS[i % 5], RANKS[(i + 2) % 5]),
                                          ((), ("--descending",), ("--argsort",), ("--argsort", "--descending"))))
            for ranks, options in ways if self.EVERY_WAY else (ways[i % 8],):
                self.same_sort(kind, ranks, *options)

    def test_few_items(self):
        for items in (0, 1, 2, 6, 100):
            self.m.generate("i32", "random", items)
            self.same_sort("i32", 7)
            self.same_sort("i32", 4, "--argsort")

    def test_separate_daemons(self):
        self.m.generate("f64", "random", 700001)
        self.same_sort("f64", 3, "--argsort", machines=[self.m, self.machine(), self.machine()])

    def test_refused(self):
        self.m.generate("u32", "random", 10)
        kind = ("--type", "u32")
        self.bad(2, 3, "sort", "in", *kind, says="say which with -o OUT")
        self.bad(2, 2, "sort", "in", *kind, "-o", "/dev/null", says="is not a regular file")
        self.bad(2, 2, "sort", "in", *kind, "-o", "out", "--detach", says="--detach is not possible")
        self.bad(2, 2, "sort", "/dev/zero", *kind, "-o", "out", says="/dev/zero is not a regular file")
        self.bad(1, 2, "sort", "absent", *kind, "-o", "out", says="absent: No such file")
        self.bad(1, 2, "sort", "in", *kind, "-o", "absent/out", says="No such file")
        (self.m.work / "odd").write_bytes(b"12345")
        self.bad(1, 2, "sort", "odd", *kind, "-o", "out", says="whole number of u32 items")
        self.assertEqual(sorted(path.name for path in self.m.work.iterdir()), ["in", "odd"])


class LongSort(Sort):
    """long"""
    EVERY_WAY = True


SCHEMA = "city:string,n:i64,d:f64,price:decimal(12,3),day:date,note:string"


class Query(RankTest):
    """mapreduce and parquet query: what hacctl says alone; sums of floats are equal for any number of ranks."""

    def write_rows(self):
        r = random.Random(5)
        notes = ['"a, ""b""\nline, with ""quotes"" and more"', '""', "", "x1", "x2"]
        with open(self.m.work / "q.csv", "w", encoding="utf-8") as file:
            file.write("city,n,d,price,day,note\n")
            for i in range(20000):
                file.write(f"c{r.randrange(40)},{r.randrange(-10**6, 10**9) if i % 13 else ''},{r.uniform(-1, 1)!r},"
                           f"{r.randrange(10**7) / 1000:.3f},202{r.randrange(4)}-0{r.randrange(1, 10)}-1{r.randrange(10)},"
                           f"{notes[i % 5]}\n")

    def agree(self, *words, ranks=(3,)):
        """The order of rows is unspecified without --order-by."""
        want = sorted(self.m.good(*words).splitlines())
        self.assertGreater(len(want), 0)
        for n in ranks:
            got = sorted(self.good(n, *words).splitlines())
            self.assertTrue(got == want, f"{n} ranks, {words}: {got[:5]} instead of {want[:5]}")

    def test_two_steps(self):
        self.write_rows()
        self.m.good("parquet", "convert", "q.csv", "q.parquet", "--schema", SCHEMA, "--row-group-size", "60KiB")
        queries = (("--group-by", "city", "--select", "count() as n, sum(n), min(price) as a, max(day), avg(n), sum(price)"),
                   ("--select", "count(), sum(n), count(note), max(note)"),
                   ("--group-by", "year(day) as y", "--select", "y, count(), max(note)", "--order-by", "y desc"),
                   ("--where", "n is null", "--group-by", "year(day), city", "--select", "count() / 2 as h",
                    "--order-by", "count() desc, city, year(day)", "--limit", "17"),
                   ("--where", "price > 9000", "--select", "city, price, note", "--order-by", "price desc, city, note",
                    "--limit", "50"),
                   ("--where", "n > 990000000", "--select", "city, note, n * 2 as t", "--output-format", "json"),
                   ("--group-by", "city", "--having", "count() > 500 and max(price) > 9990", "--select", "min(n) as a"),
                   ("--having", "k > 3", "--select", "count() as k"), ("--having", "count() < 3", "--select", "max(n)"),
                   ("--select", "city, n", "--order-by", "n, city", "--limit", "20", "--offset", "30"),
                   ("--select", "city, n, note", "--order-by", "n desc, city", "--limit", "2", "--limit-by", "city"),
                   ("--group-by", "city, year(day) as y", "--select", "sum(n) as s", "--order-by", "s desc, city, y", "--limit", "1",
                    "--limit-by", "city", "--offset", "3"),
                   ("--group-by", "note"), ("--where", "n = 17", "--select", "sum(n) as s, avg(n), count()"))
        for i, query in enumerate(queries):
            self.agree("mapreduce", "q.csv", "--schema", SCHEMA, *query, ranks=((2, 7)[i % 2],))
            self.agree("parquet", "query", "q.parquet", *query, ranks=(3,))

    def test_any_query(self):
        """Queries that cannot be divided."""
        self.write_rows()
        for query in (("--group-by", "city", "--select", "count(distinct note), first(note), string_list(note)"),
                      ("--group-by", "city", "--select", "string_agg(note, ' '), list(n order by note desc nulls first)"),
                      ("--group-by", "city", "--select", "avg(price) as m, top_k(note, 2), cast(count() as f32)"),
                      ("--select", "approx_quantile(n, 0.5) > 0, max(city) || min(city)"),
                      ("--group-by", "city", "--having", "avg(price) > 5000", "--select", "count(distinct note) as n"),
                      ("--where", "note is null", "--select", "*", "--order-by", "n - 1, city, d")):
            self.agree("mapreduce", "q.csv", "--schema", SCHEMA, *query, ranks=(3,))

    def test_floats_alike(self):
        self.write_rows()
        query = ("mapreduce", "q.csv", "--schema", SCHEMA, "--group-by", "city", "--select",
                 "sum(d), avg(d), variance(n)", "--order-by", "city")
        want = self.good(1, *query)
        for ranks in (2, 4, 7):
            self.assertTrue(self.good(ranks, *query) == want, f"{ranks} ranks")
        self.assertEqual(self.m.good(*query), want)

    def test_inputs(self):
        """Formats, files without records, more files than ranks, and more ranks than records."""
        self.write_rows()
        work = self.m.work
        with open(work / "q.csv", encoding="utf-8") as file:
            (work / "head.csv").write_text(file.readline())
        (work / "bare.tsv").write_text("".join(f"{i}\tx{i % 7}\n" for i in range(5000)) + "5000\tend")
        (work / "empty.txt").write_text("")
        (work / "few.txt").write_text("one\n\nthree")
        (work / "j.jsonl").write_text("".join(f'{{"a": {i}, "b": "x\\n{i % 3}"}}\n' for i in range(3000)))
        (work / "fixed.bin").write_bytes(b"".join(i.to_bytes(4, "little") for i in range(1000)))
        self.agree("mapreduce", "head.csv", "q.csv", "head.csv", "q.csv", "--select", "count(), count(note), max(price)",
                   ranks=(1, 2, 3, 7))
        self.agree("mapreduce", "bare.tsv", "--no-header", "--schema", "a:i64,b:string", "--group-by", "b", "--select", "sum(a)")
        self.agree("mapreduce", "empty.txt", "--select", "count()")
        (work / "mark.csv").write_bytes("\ufeff".encode())  # as empty as a file without bytes
        for files in (("mark.csv", "q.csv"), ("q.csv", "mark.csv", "q.csv")):
            self.agree("mapreduce", *files, "--select", "count(), max(price)", ranks=(2, 3))
        (work / "empty.csv").write_text("")
        for empty in ("empty.csv", "mark.csv"):  # an empty file has no header
            for query in (("--select", "*"), ("--select", "sum(d) as s"), ("--select", "count(), max(price)")):
                self.agree("mapreduce", empty, "q.csv", empty, *query)
        self.agree("mapreduce", "few.txt", "empty.txt", "few.txt", "few.txt", "empty.txt", "empty.txt", "few.txt", "bare.tsv", "--parse",
                   "lines", "--select", "count()", ranks=(2, 3, 7))
        for name in ("head", "q"):
            self.m.good("parquet", "convert", f"{name}.csv", f"{name}.parquet", "--schema", SCHEMA, "--row-group-rows", "4000")
        self.agree("parquet", "query", *(["head.parquet", "q.parquet", "head.parquet"] * 3), "--select", "count(), sum(n)",
                   ranks=(2, 7))
        # in the middle, where the second rank begins
        (work / "marks.tsv").write_bytes(b"a\t1\n" * 1000 + "\ufeffb\t2\n".encode() + b"a\t1\n" * 997 + b"cc\t1\n")
        self.agree("mapreduce", "marks.tsv", "--no-header", "--schema", "a:string,b:i64", "--group-by", "a", "--select", "count()",
                   ranks=(2, 3))
        self.agree("mapreduce", "few.txt", "--select", "line", ranks=(2, 7))
        self.agree("mapreduce", "few.txt", "--select", "first(line), last(line), count(distinct line)", ranks=(7,))
        self.agree("mapreduce", "j.jsonl", "--schema", "a:i64,b:string", "--group-by", "b", "--select", "sum(a), count()")
        self.agree("mapreduce", "fixed.bin", "fixed.bin", "--parse", "fixed", "--schema", "a:u32", "--select", "sum(a), count()",
                   ranks=(2, 3))
        self.agree("mapreduce", "wordcount", "q.csv", "--parse", "words")
        files = [f"part{i}.txt" for i in range(9)]
        for i, name in enumerate(files):
            (work / name).write_text("".join(f"line {i} {j % 5}\n" for j in range(100 * i)))
        self.agree("mapreduce", *files, "--group-by", "line", "--select", "count()", ranks=(2, 7))

    def test_results(self):
        self.write_rows()
        query = ("mapreduce", "q.csv", "--schema", SCHEMA, "--group-by", "city", "--select", "sum(n) as s", "--order-by", "city")
        self.good(3, *query, "-o", "out.parquet")
        self.assertEqual(self.m.good("parquet", "query", "out.parquet", "--select", "*"), self.m.good(*query))

    def test_separate_daemons(self):
        self.write_rows()
        self.m.good("parquet", "convert", "q.csv", "q.parquet", "--schema", SCHEMA, "--row-group-size", "60KiB")
        query = ("parquet", "query", "q.parquet", "--group-by", "city", "--select", "sum(n), count()", "--order-by", "city")
        machines = [self.m, self.machine(), self.machine()]
        self.assertEqual(self.good(3, *query, machines=machines), self.m.good(*query))

    def test_refused(self):
        self.write_rows()
        select = ("--select", "count()")
        self.bad(2, 2, "mapreduce", "q.csv", "--select", "nothing", says="nothing")
        self.bad(2, 3, "mapreduce", "q.csv", says="--select")
        self.bad(2, 2, "mapreduce", "-", "--parse", "lines", *select, says="standard input is not a regular file")
        self.bad(2, 2, "parquet", "query", "q.csv", *select, says="convert it first")
        self.bad(2, 2, "mapreduce", "q.csv", *select, "--detach", says="--detach is not possible")
        self.bad(1, 2, "mapreduce", "absent.csv", *select, says="absent.csv")
        self.bad(1, 3, "mapreduce", "q.csv", "--schema", SCHEMA.replace("city:string", "city:i64"), "--select", "sum(city)",
                 says="q.csv")

    def test_what_is_found(self):
        """Delimiter, header, forms and types are those of the whole file, also if a rank's part alone would show others."""
        work = self.m.work
        half = 30000
        rows = [(i, i if i < half else i + 0.5, f"{i % 12 + 1:02}/{i % 28 + 1:02}/2024", "7" if i < half else "x", f"{i % 1000}.{i % 100:02}") for i in range(2 * half)]
        total = sum(r[1] for r in rows)

        def number(x):
            whole, _, part = f"{x:,}".partition(".")
            return whole.replace(",", ".") + ("," + part if part else "")
        write = {"de.csv": "i;x;d;t\n" + "".join(f"{i};{number(x)};{d[3:5]}.{d[:2]}.{d[6:]};{t}\n" for i, x, d, t, _ in rows),
                 "us.csv": "i,x,d,t,p\n" + "".join(",".join(map(str, r)) + "\n" for r in rows),
                 "bare.tsv": "".join("\t".join(map(str, r)) + "\n" for r in rows),
                 "o.jsonl": "".join(json.dumps({"i": i, "x": x, "t": t, **({"o": {"y": i}} if i >= half else {})}) + "\n" for i, x, d, t, _ in rows)}
        for name, text in write.items():
            (work / name).write_text(text)
        ask = ("--select", "count() as n, sum(x) as s, max(t) as t, min(i) as i")
        right = f"n,s,t,i\n{2 * half},{total},x,0\n".encode()
        self.assertEqual(self.m.good("-q", "mapreduce", "de.csv", *ask), right)
        for name in ("de.csv", "us.csv", "o.jsonl"):
            for ranks in (1, 2, 3):
                self.assertEqual(self.good(ranks, "-q", "mapreduce", name, *ask), right, (name, ranks))
        for query in (("--select", "*", "--order-by", "i", "--limit", "5", "--offset", str(half - 2)), ("--group-by", "d", "--select", "count() as n, max(x) as x", "--order-by", "d"),
                      ("--where", "d = '2024-02-29' or i = 45001", "--select", "*", "--order-by", "i"), ("--select", "count(distinct x) as k, avg(x) as a, median(i) as m")):
            for name in ("de.csv", "us.csv"):
                self.assertEqual(self.good(2, "-q", "mapreduce", name, *query), self.m.good("-q", "mapreduce", name, *query), (name, query))
        for query in (("--select", "sum(c2) as s, max(c5) as p, count() as n"), ("--schema", "i:i64,x:f64,d:string,t:string,p:string", "--select", "sum(x) as s")):
            self.assertEqual(self.good(2, "-q", "mapreduce", "bare.tsv", "--no-header", *query), self.m.good("-q", "mapreduce", "bare.tsv", "--no-header", *query))
        for query in (("--select", "*", "--order-by", "i", "--limit", "3", "--offset", str(half - 1)), ("--select", "sum(o.y) as s, count(o.y) as n")):
            self.assertEqual(self.good(2, "-q", "mapreduce", "o.jsonl", *query), self.m.good("-q", "mapreduce", "o.jsonl", *query))
        (work / "more.csv").write_text("t,i,extra\n" + "".join(f"w,{i},{i}.5\n" for i in range(half)))
        for query in (("--select", "count(extra) as e, sum(extra) as s, count(x) as n, max(t) as t, sum(i) as i"), ("--select", "*", "--order-by", "i, t", "--limit", "9")):
            self.assertEqual(self.good(2, "-q", "mapreduce", "us.csv", "more.csv", *query), self.m.good("-q", "mapreduce", "us.csv", "more.csv", *query))
        (work / "late.jsonl").write_text('{"a":1}\n' * 70000 + '{"a":1,"late":2}\n')
        (work / "cents.csv").write_text("p\n" + "1.25\n" * 70000 + "1.255\n")
        for name, says in (("late.jsonl", "none of the first records"), ("cents.csv", "more digits behind the point")):
            self.m.bad(1, "-q", "mapreduce", name, "--select", "*", "--order-by", "1", says=says)
            self.bad(1, 2, "-q", "mapreduce", name, "--select", "*", "--order-by", "1", says=says)

    def test_columns_differ(self):
        """Parquet files whose columns differ go by their names, as in hacctl: each rank reads only some of them."""
        for k, names in ((1, "a,b"), (2, "b,c"), (3, "b,a")):
            (self.m.work / f"p{k}.csv").write_text(f"{names}\n" + "".join(f"{i},{(k + 1) * i}\n" for i in range(20000)))
            self.m.good("-q", "parquet", "convert", f"p{k}.csv", f"P{k}.parquet", "--row-group-rows", 5000)
        total = sum(range(20000))
        ask = ("--select", "count(a) as x, sum(a) as a, sum(b) as b, count() as n")
        self.assertEqual(self.good(2, "-q", "mapreduce", "P1.parquet", "P2.parquet", *ask), f"x,a,b,n\n20000,{total},{3 * total},40000\n".encode())
        for files in (("P1", "P2"), ("P2", "P1"), ("P1", "P3"), ("P3", "P2", "P1")):
            files = [f"{name}.parquet" for name in files]
            for query in (ask, ("--select", "*", "--order-by", "b, a", "--limit", "100"), ("--where", "a is null or b > 50000", "--select", "count() as n, max(b) as m"),
                          ("--schema", "b:i64", "--select", "sum(b) as s, count(distinct b) as d"), ("--select", "sum(b / 2) as s"), ("--where", "b < 100", "--select", "*")):
                self.assertEqual(sorted(self.good(2, "-q", "mapreduce", *files, *query).splitlines()),
                                 sorted(self.m.good("-q", "mapreduce", *files, *query).splitlines()), (files, query))
        self.bad(1, 2, "-q", "mapreduce", "p1.csv", "p3.csv", "--infer", "off", "--select", "*", says="the files' columns differ")

    def test_forms_of_a_schema(self):
        """A schema of all columns that the query names does not say how numbers are written."""
        (self.m.work / "de.csv").write_text("x;y\n" + "".join(f"{i},5;{i}\n" for i in range(5000)))
        query = ("-q", "mapreduce", "de.csv", "--schema", "x:f64", "--select", "sum(x) as s")
        want = f"s\n{sum(range(5000)) + 2500}.0\n".encode()
        self.assertEqual(self.m.good(*query), want)
        self.assertEqual(self.good(2, *query), want)

    def test_sizes_differ(self):
        """A rank sees more or fewer bytes, as of a file that grows: the query fails instead of counting rows twice or not at all."""
        folders = [self.m.root / f"rank{i}" for i in range(2)]
        query = ("--select", "count() as n, sum(a) as s")
        for folder, n in zip(folders, (3000, 3300)):
            folder.mkdir()
            (folder / "f.csv").write_text("a\n" + "".join(f"{i:07}\n" for i in range(n)))
            (folder / "f.bin").write_bytes(struct.pack(f"<{n}q", *range(n)))
            self.m.good("parquet", "convert", folder / "f.csv", folder / "f.parquet", "--schema", "a:i64", "--row-group-rows", 1000)
        cases = [("f.csv", ("mapreduce", "f.csv", "--schema", "a:i64")), ("f.parquet", ("parquet", "query", "f.parquet")),
                 ("f.bin", ("mapreduce", "f.bin", "--parse", "fixed", "--schema", "a:i64"))]
        for name, words in cases:
            for order in (folders, folders[::-1]):
                line = self.bad(1, 2, *words, *query, says=f"rank 1 sees another size of {name} than rank 0", folders=order)
                sizes = [(folder / name).stat().st_size for folder in order]
                self.assertIn(f"{sizes[1]} bytes, not {sizes[0]};", line)
        for n, folder in zip((3000, 3300), folders):
            self.assertEqual(self.good(2, *cases[0][1], *query, folders=[folder] * 2).decode(), f"n,s\n{n},{sum(range(n))}\n")


class Program(RankTest):
    """The collective calls of <hac/mpi.h>, from a C program."""

    def test_sort(self):
        """Ranks with unequal parts, one of them empty, have the bytes of one rank; the order is NumPy's."""
        for kind, order in (("f64", ""), ("f32", "ad")):
            self.m.generate(kind, "random", 50021, seed=7)
            outs = []
            for ranks in (1, 2, 3):
                out = self.m.work / f"out{ranks}"
                out.unlink(missing_ok=True)
                self.good(ranks, "sort", kind, order or "-", "in", out.name, program=PROGRAM)
                outs.append(out.read_bytes())
            self.assertTrue(outs[1] == outs[0] and outs[2] == outs[0], f"{kind} {order}")
            self.assertIsNone(self.m.wrong(kind, "in", "out1", "d" in order, "a" in order), f"{kind} {order}")

    def test_no_items(self):
        (self.m.work / "in").write_bytes(b"")
        self.good(2, "sort", "u64", "-", "in", "out", program=PROGRAM)
        self.assertEqual((self.m.work / "out").read_bytes(), b"")

    def test_query(self):
        r = random.Random(3)
        rows = [(f"c{r.randrange(9)}", r.randrange(10**6), r.uniform(-1, 1)) for _ in range(9000)]
        (self.m.work / "q.csv").write_text("city,n,d\n" + "".join(f"{c},{n},{d!r}\n" for c, n, d in rows))
        self.m.good("parquet", "convert", "q.csv", "q.parquet", "--schema", "city:string,n:i64,d:f64", "--row-group-rows", "2000")
        sums = {}
        for city, n, _ in rows:
            sums[city] = sums.get(city, 0) + n
        want = "city,sum(n)\n" + "".join(f"{c},{sums[c]}\n" for c in sorted(sums))
        for ranks, kind, schema in ((1, "csv", "city:string,n:i64,d:f64"), (3, "csv", "city:string,n:i64,d:f64"), (2, "parquet", "-")):
            got = self.good(ranks, "query", kind, schema, "city", "sum(n)", "city", f"q.{kind}", program=PROGRAM)
            self.assertEqual(got.decode(), want, f"{ranks} ranks, {kind}")
        floats = {self.good(ranks, "query", "csv", "city:string,n:i64,d:f64", "city", "sum(d), avg(d)", "city", "q.csv", "q.csv",
                            program=PROGRAM) for ranks in (2, 3)}
        self.assertEqual(floats, {self.m.good("mapreduce", "q.csv", "q.csv", "--schema", "city:string,n:i64,d:f64", "--group-by", "city",
                                              "--select", "sum(d), avg(d)", "--order-by", "city")})

    def test_failures(self):
        """A rank that cannot go on ends the call on all ranks, with one status and one message."""
        (self.m.work / "q.csv").write_text("n\n1\n2\n")
        for name, status, says in (("no-client", 3, "rank 1: there is no connection"), ("types", 2, "rank 1: its type or order"),
                                   ("no-type", 2, "no type of keys"), ("no-keys", 2, "rank 1: keys is NULL"),
                                   ("detach", 2, "detach is not possible"), ("closed", 1, "Bad file descriptor"),
                                   ("no-options", 2, "the options are NULL"),
                                   ("files", 2, "rank 1 queries 2 files, and rank 0 queries 1"),
                                   ("formats", 2, "rank 1: its query is not that of rank 0"),
                                   ("queries", 2, "rank 1: its query is not that of rank 0")):
            result = self.mpirun(2, name, program=PROGRAM)
            lines = sorted(result.out.decode().splitlines())
            self.assertEqual([line[:3] for line in lines], ["0: ", "1: "], f"{name}: {result}")
            self.assertEqual(lines[0][3:], lines[1][3:], name)
            self.assertTrue(lines[0][3:].startswith(f"{status} "), lines[0])
            self.assertIn(says, lines[0], name)

    def test_example(self):
        self.m.generate("f64", "random", 20000)
        (self.m.work / "sales.csv").write_text("city,n\n" + "Rome,1\nOslo,2\nRome,3\n" * 100)
        out = self.good(2, "in", "out", "sales.csv", "city", program=EXAMPLE)
        self.assertEqual(out, b"city,n\nRome,200\nOslo,100\n")
        self.assertIsNone(self.m.wrong("f64", "in", "out"))


class Failures(RankTest):
    """A rank or daemon dies while others wait."""

    def begin(self, ranks, **more):
        """An endless run in progress; its processes by rank."""
        (self.m.work / "endless.yaml").write_text(ENDLESS)
        process = self.start(ranks, "endless.yaml", "--log", "log", **more)
        log = self.m.work / "log"
        self.assertTrue(eventually(lambda: log.exists() and log.read_text().count("all = ") > 3 * ranks, 60),
                        f"{log.read_text() if log.exists() else ''}\n{self.m.log()[-2000:]}")

        def rank_of(pid):
            words = Path("/proc", str(pid), "environ").read_bytes().split(b"\0")
            return next((int(w.split(b"=")[1]) for w in words if w.startswith(b"OMPI_COMM_WORLD_RANK=")), None)
        pids = [pid for pid in descendants(process.pid) if command_of(pid).startswith(str(HAC_MPI))]
        found = {rank_of(pid): pid for pid in pids}
        self.assertEqual(sorted(found), list(range(ranks)))
        return process, found

    def ended(self, process, found, seconds=30):
        out, err = process.communicate(timeout=seconds)
        self.assertEqual(out, b"")
        self.assertNotEqual(process.returncode, 0)
        left = [pid for pid in found.values() if Path("/proc", str(pid)).exists() and command_of(pid)]
        self.assertEqual(left, [], [command_of(pid) for pid in left])
        return err.decode()

    def test_rank_killed(self):
        for victim in (0, 2):
            process, found = self.begin(3)
            os.kill(found[victim], signal.SIGKILL)
            err = self.ended(process, found)
            self.assertIn(f"rank {victim} ", err)
            self.assertIn("signal 9", err)
            (self.m.work / "log").unlink()
        self.assertTrue(self.m.running().alive())

    def test_daemon_killed(self):
        other = self.machine()
        process, found = self.begin(3, machines=[self.m, other, self.m])
        os.kill(other.daemon().pid, signal.SIGKILL)
        err = self.ended(process, found)
        self.assertEqual(process.returncode, 3, err)
        lines = [line for line in err.splitlines() if line.startswith("hac-mpi: ") and "without -o DIR" not in line]
        self.assertEqual(len(lines), 1, err)
        self.assertIn("rank 1: ", lines[0])
        self.assertIn("hacd", lines[0])

    def test_interrupted(self):
        process, found = self.begin(2)
        os.kill(found[1], signal.SIGTERM)
        err = self.ended(process, found)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("hac-mpi: rank 1: ", err)
        self.assertIn("cancelled", err)

    def test_waiting_does_not_spin(self):
        process, found = self.begin(3)
        os.kill(found[2], signal.SIGSTOP)

        def seconds(pid):
            fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        time.sleep(1)
        before = [seconds(found[rank]) for rank in (0, 1)]
        time.sleep(4)
        used = [seconds(found[rank]) - b for rank, b in zip((0, 1), before)]
        os.kill(found[2], signal.SIGKILL)
        self.ended(process, found)
        self.assertLess(max(used), 0.2, used)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one core only")
    def test_daemon_is_not_bound(self):
        """Open MPI binds ranks to cores; a daemon that one of them starts serves the whole machine."""
        process, found = self.begin(2, options=("--bind-to", "core"))
        self.assertEqual(len(os.sched_getaffinity(found[0])), 1)
        daemon = self.m.running()
        self.assertEqual(os.sched_getaffinity(daemon.pid), os.sched_getaffinity(0))
        for pid in daemon.executor_pids():
            self.assertEqual(os.sched_getaffinity(pid), os.sched_getaffinity(0))
        os.kill(found[0], signal.SIGKILL)
        self.ended(process, found)


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=False)


class Spaces(RankTest):
    """Two ranks in network namespaces of their own, connected by a link as two machines are: Open MPI starts
    the second one through a stand-in for ssh, and data goes by TCP."""

    def setUp(self):
        super().setUp()
        self.names = [f"hac-{os.getpid()}-{i}" for i in range(2)]
        for name in self.names:
            if shutil.which("ip") is None or ip("netns", "add", name).returncode != 0:
                self.skipTest("network namespaces cannot be made here")
            self.addCleanup(ip, "netns", "del", name)
        steps = [("link", "add", "hac0", "type", "veth", "peer", "name", "hac1", "netns", self.names[1])]
        for i, name in enumerate(self.names):
            steps += [(name, "addr", "add", f"10.77.0.{i + 1}/24", "dev", f"hac{i}"), (name, "link", "set", "lo", "up"),
                      (name, "link", "set", f"hac{i}", "up")]
        for step in steps:
            words = ("-n", self.names[0], *step) if step[0] == "link" else ("-n", *step)
            done = ip(*words)
            if done.returncode != 0:
                self.skipTest(f"no link between network namespaces can be made here: {done.stderr}")

    def test_two_machines(self):
        agent = self.m.root / "agent"
        agent.write_text(f'#!/bin/sh\nshift\nexec ip netns exec {self.names[1]} unshare -u sh -c "hostname hac-other; $*"\n')
        agent.chmod(0o755)
        options = ["--host", "10.77.0.1,10.77.0.2"]
        for name, value in (("plm_rsh_agent", agent), ("btl", "self,tcp"), ("btl_tcp_if_include", "10.77.0.0/24"),
                            ("oob_tcp_if_include", "10.77.0.0/24")):
            options += ["--mca", name, str(value)]
        rows = "".join(f"{i / 7},{i % 50}\n" for i in range(60000))
        (self.m.work / "x.csv").write_text("x,k\n" + rows)
        logic = self.m.work / "spaces.yaml"
        logic.write_text("name: spaces\ninputs: {i: {parse: csv, schema: 'x:f64,k:i64'}}\noperators:\n"
                         "  - map: {expr: 'i.x * i.x', out: y}\n  - scan: {in: y, out: z}\n"
                         "  - reduce_by_key: {key: i.k, in: z, keys: 50, out: sums}\n"
                         "outputs: {z: {format: raw, columns: [z]}, sums: {format: raw, columns: [sums]}}\n")
        self.m.good("opsplit", "run", logic, "--input", "i=x.csv", "-o", "alone")
        more = {"machines": [self.m, self.machine()], "options": options, "launcher": ("ip", "netns", "exec", self.names[0])}
        self.good(2, logic, "--input", "i=x.csv", "-o", "two", **more)
        self.same(self.files("two"), self.files("alone"), "two network spaces")
        self.m.generate("f64", "random", 100000)
        self.m.good("sort", "in", "--type", "f64", "-o", "want")
        self.good(2, "sort", "in", "--type", "f64", "-o", "got", **more)
        self.assertTrue((self.m.work / "want").read_bytes() == (self.m.work / "got").read_bytes())


if __name__ == "__main__":
    main()
