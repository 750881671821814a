#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hacctl opsplit check, op, subop: no daemon is asked."""
import json
import os
import re

from cli import HERE, Fake, main

DAMP = """subop: damp
text: PageRank's damping
arguments: {spread: f64, damping: f64}
expr: "(1 - damping) + damping * spread"
"""
STEP = """op: twice
text: damped twice
parameters:
  spread: {template: FixValueVector, type: f64}
  damping: {template: Var, type: f64}
results:
  out: {template: FixValueVector, type: f64}
do:
  - damp: {spread: spread, damping: damping, out: once}
  - damp: {spread: once, damping: damping, out: out}
"""
LOGIC = """inputs: {p: {parse: csv, schema: "x:f64"}}
vectors: {damping: {value: 0.85}}
operators:
  - op: step
    use: twice
    with: {spread: p.x, damping: damping, out: y}
outputs: {o: {columns: [p.x, y]}}
"""


class Operators(Fake):
    def setUp(self):
        super().setUp()
        self.environment.update(HAC_SOCKET=self.path("no-daemon"), FAKE_HAC_CONNECT="3",
                                XDG_DATA_HOME=self.path("data"), HOME=self.path("home"))
        self.damp = self.put("damp.yaml", DAMP)
        self.step = self.put("step.yaml", STEP)
        self.logic = self.put("logic.yaml", LOGIC)

    def read(self, *words):
        return json.loads(self.good("--json", "opsplit", *words))

    def say(self, *words):
        return self.good("opsplit", *words).decode()

    def kept(self):
        folder = self.folder / "data" / "hac" / "opsplit"
        return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())

    def test_check(self):
        self.put("good.yaml", "vectors: {a: {value: 1}}\noutputs: {o: {columns: [a]}}\n")
        self.assertEqual(self.say("check", "good.yaml"), "OK\n")
        self.assertEqual(self.read("check", "good.yaml"), {"file": "good.yaml", "ok": True, "problems": [], "notes": []})
        self.put("bad.yaml", "vectors: {a: {value: 1}}\noperators: [{map: {expr: a +, out: b}}, {scan: {in: c, out: d}}]\n"
                             "outputs: {o: {columns: [a]}}\n")
        code, out, err = self.run_it("opsplit", "check", "bad.yaml")
        self.assertEqual((code, out), (2, b""))
        self.assertEqual(err, "hacctl: bad.yaml:2:29: expected a value, but the text ends here\n"
                              "hacctl: bad.yaml:2:53: no vector is called `c`; there are: a, b\n")
        code, out, err = self.run_it("opsplit", "check", "bad.yaml", "--json")
        answer = json.loads(out)
        self.assertEqual((code, answer["ok"], len(answer["problems"])), (2, False, 2))
        self.assertEqual(answer["problems"][0], {"file": "bad.yaml", "line": 2, "column": 29,
                                                 "message": "expected a value, but the text ends here"})
        self.bad(2, "opsplit", "check", self.put("text.yaml", "a: [\n"), says="text.yaml:2:1: ")
        self.bad(1, "opsplit", "check", "missing.yaml", says="missing.yaml: there is no such file")
        self.bad(2, "opsplit", "check", says="too few arguments")

    def test_notes(self):
        self.put("odd.yaml", "vectors: {a: {value: 1}}\noperators: [{mpa: {expr: a, out: b}}]\n"
                             "outputs: {o: {columns: [b]}}\n")
        code, out, err = self.run_it("opsplit", "check", "odd.yaml")
        self.assertEqual((code, out), (0, b"OK\n"))
        self.assertEqual(err, "hacctl: odd.yaml:2:14: `mpa` is in no library, so it is an exception sub-operator; did you mean "
                              "`map`?\n")
        code, out, err = self.run_it("--quiet", "opsplit", "check", "odd.yaml")
        self.assertEqual((code, out, err), (0, b"OK\n", ""))
        self.assertEqual(self.read("check", "odd.yaml")["notes"][0]["line"], 2)

    def test_versions(self):
        self.assertEqual(self.say("subop", "add", self.damp), "damp@1\n")
        self.assertEqual(self.kept(), ["subop/damp@1.yaml"])
        code, out, err = self.run_it("opsplit", "subop", "add", self.damp)
        self.assertEqual((code, out, err), (0, b"damp@1\n", "hacctl: damp@1 has the same definition; nothing was added\n"))
        self.put("damp.yaml", DAMP.replace("(1 - damping)", "0.15"))
        self.assertEqual(self.read("subop", "add", self.damp), {"name": "damp", "version": 2, "added": True})
        self.assertEqual(self.say("op", "add", self.step), "twice@1\n")
        self.assertEqual(self.kept(), ["op/twice@1.yaml", "subop/damp@1.yaml", "subop/damp@2.yaml"])
        self.assertEqual(self.say("subop", "show", "damp@1"), DAMP)
        self.assertIn("0.15", self.say("subop", "show", "damp"))
        shown = self.read("op", "show", "twice")
        self.assertEqual((shown["version"], shown["versions"], shown["definition"]), (1, [1], STEP))
        self.assertEqual(self.say("check", self.logic), "OK\n")
        self.good("opsplit", "subop", "remove", "damp@2")
        self.assertEqual(self.say("subop", "show", "damp"), DAMP)
        self.good("opsplit", "subop", "remove", "damp")
        code, _, err = self.run_it("opsplit", "check", self.logic)
        self.assertEqual((code, len(err.splitlines())), (2, 2))
        self.assertTrue(err.startswith("hacctl: op twice@1:9:5: `damp` is in no library"), err)
        self.good("opsplit", "op", "remove", "twice")
        self.assertEqual(self.kept(), [])

    def test_damaged(self):
        """A damaged file of the library stops only logic files that use it; the others get a warning."""
        for words in (("subop", "add", self.damp), ("op", "add", self.step)):
            self.good("opsplit", *words)
        self.put("good.yaml", "vectors: {a: {value: 1}}\noutputs: {o: {columns: [a]}}\n")
        damaged = self.folder / "data" / "hac" / "opsplit" / "subop" / "damp@2.yaml"
        damaged.write_text("subop: [\n")
        place = f"{damaged}:2:1: "
        code, out, err = self.run_it("opsplit", "check", "good.yaml")
        self.assertEqual((code, out, err.count("\n")), (0, b"OK\n", 1))
        self.assertTrue(err.startswith(f"hacctl: warning: a damaged operator, not used here: {place}"), err)
        self.assertEqual(self.run_it("--quiet", "opsplit", "check", "good.yaml")[1:], (b"OK\n", ""))
        code, _, err = self.run_it("explain", "opsplit", "run", "good.yaml")
        self.assertIn("warning: a damaged operator, not used here", err)
        advice = "; mend the file, or `hacctl opsplit subop remove damp@2`"
        err = self.bad(2, "opsplit", "check", self.logic, says=advice)  # by its OP, which names no version
        self.assertIn(place, err)
        self.assertEqual(self.say("subop", "show", "damp@1"), DAMP)
        self.bad(1, "opsplit", "subop", "show", "damp", says=advice)
        self.assertRegex(self.say("subop", "list"), r"(?m)^damp +2 +DAMAGED: " + place)
        self.assertIn(advice, self.say("subop", "list"))
        listed = self.read("subop", "list")["sub_operators"][-1]
        self.assertEqual((listed["versions"], listed["damaged"][0]["version"]), ([1, 2], 2))
        self.assertIn(place, listed["damaged"][0]["message"])
        self.put("damp.yaml", DAMP.replace("(1 - damping)", "0.15"))
        self.assertEqual(self.say("subop", "add", self.damp), "damp@3\n")
        self.assertRegex(self.say("subop", "list"), r"(?m)^damp +2 +DAMAGED: ")
        self.good("opsplit", "subop", "remove", "damp@3")
        self.good("opsplit", "subop", "remove", "damp@2")
        self.assertEqual(self.say("check", self.logic), "OK\n")
        self.assertNotIn("damaged", self.read("subop", "list")["sub_operators"][-1])

    def test_link_to_nothing(self):
        """A damaged file occupies a name, so it is listed and can be removed."""
        self.good("opsplit", "subop", "add", self.damp)
        link = self.folder / "data" / "hac" / "opsplit" / "subop" / "damp@2.yaml"
        link.symlink_to("nowhere")
        self.assertRegex(self.say("subop", "list"), rf"(?m)^damp +2 +DAMAGED: {link}: a link to nothing")
        self.put("damp.yaml", DAMP.replace("(1 - damping)", "0.15"))
        self.assertEqual(self.say("subop", "add", self.damp), "damp@3\n")
        self.good("opsplit", "subop", "remove", "damp@2")
        self.assertFalse(link.is_symlink())

    def test_lists(self):
        self.good("opsplit", "subop", "add", self.damp)
        listed = self.read("subop", "list")["sub_operators"]
        names = [entry["name"] for entry in listed]
        for name in ("map", "reduce", "scan", "filter", "sort", "reduce_by_key", "gather", "scatter", "dot", "axpy", "gemv",
                     "gemm", "spmv", "norm", "distance", "nearest", "argmin", "argmax", "row_reduce", "tokenize", "index",
                     "csr", "transpose", "term_counts", "histogram", "range", "fill", "let", "for", "while", "if"):
            self.assertIn(name, names)
        self.assertEqual(listed[-1], {"name": "damp", "built_in": False, "versions": [1], "text": "PageRank's damping"})
        table = self.say("subop", "list")
        self.assertRegex(table, r"(?m)^spmv +built in +multiplies a sparse matrix by a vector$")
        self.assertRegex(table, r"(?m)^damp +1 +PageRank's damping$")
        self.assertEqual(self.read("op", "list"), {"ops": []})
        self.assertIn("none", self.say("op", "list"))
        self.assertEqual(self.read("subop", "show", "spmv")["arguments"][0]["name"], "matrix")
        self.assertIn("- spmv: {matrix: link", self.say("subop", "show", "spmv"))

    def test_wrong(self):
        self.bad(2, "opsplit", "subop", says="too few arguments")
        self.bad(2, "opsplit", "subop", "look", says="'look' is not one of list, show, add, remove")
        self.bad(2, "opsplit", "op", "show", says="which one?")
        self.bad(2, "opsplit", "op", "list", "x", says="one argument too many")
        self.bad(2, "opsplit", "subop", "show", "spvm", says="no sub-operator is called spvm (did you mean spmv?)")
        self.bad(2, "opsplit", "subop", "show", "a@b", says="'a@b' is not NAME or NAME@VERSION")
        self.bad(2, "opsplit", "subop", "remove", "map", says="`map` is built in and cannot be removed")
        self.bad(2, "opsplit", "subop", "remove", "nope", says="no sub-operator is called nope")
        self.bad(1, "opsplit", "subop", "add", "nope.yaml", says="there is no such file")
        self.bad(2, "opsplit", "subop", "add", self.put("map.yaml", DAMP.replace("subop: damp", "subop: map")),
                 says="map.yaml:1:8: `map` is built in")
        self.bad(2, "opsplit", "subop", "add", self.put("type.yaml", DAMP.replace("damping: f64", "damping: f65")),
                 says="type.yaml:3:35: `f65` is not known here")
        self.bad(2, "opsplit", "op", "add", self.put("half.yaml", STEP.rsplit("  - ", 2)[0] + "  - nope: {out: out}\n"),
                 says="half.yaml:9:5: `nope` is in no library")
        code, _, err = self.run_it("opsplit", "subop", "add", self.put("two.yaml", DAMP.replace("f64, d", "f65, d").replace(
            "damping: f64", "damping: f66")))
        self.assertEqual((code, len(err.splitlines())), (2, 2))
        self.good("opsplit", "subop", "add", self.damp)
        self.bad(2, "opsplit", "subop", "show", "damp@7", says="damp has no version 7")

    def test_places(self):
        del self.environment["XDG_DATA_HOME"]
        os.mkdir(self.path("home"))
        self.good("opsplit", "subop", "add", self.damp)
        self.assertTrue((self.folder / "home/.local/share/hac/opsplit/subop/damp@1.yaml").is_file())
        del self.environment["HOME"]
        self.assertEqual(self.read("op", "list"), {"ops": []})
        self.bad(2, "opsplit", "subop", "add", self.damp, says="there is no folder to keep operators in")
        self.environment["HOME"] = self.path("home")
        file = self.folder / "home/.local/share/hac/opsplit/subop/damp@1.yaml"
        file.write_text("a: [\n")
        self.assertIn("damp@1.yaml:2:1: ", self.say("subop", "list"))

    def test_explain(self):
        pagerank = str(HERE.parent.parent / "docs" / "examples" / "pagerank.yaml")
        text = self.good("explain", "opsplit", "run", pagerank).decode()
        self.assertIn("OP step (VectorMap): 5 sub-operators, 4 components\n", text)
        self.assertRegex(text, r"(?m)^    3\. damp \(exception; .*: components \[0/4, 1/4\) .*; after 2$")
        answer = json.loads(self.good("explain", "opsplit", "run", pagerank, "--format", "json"))
        self.assertEqual(answer["flow"], "opsplit")
        for key in ("k", "k_source", "shares", "predicted_seconds", "devices", "tasks"):
            self.assertIsNone(answer[key])
        steps = answer["steps"]
        self.assertEqual([step["kind"] for step in steps], ["op", "while"])
        pieces = steps[1]["body"][0]["sub_operators"]
        self.assertEqual([p["name"] for p in pieces], ["map", "spmv", "damp", "reduce", "let"])
        self.assertEqual(pieces[2]["after"], [{"sub_operator": 1, "whole": False}])
        self.assertEqual(len(steps[1]["body"][0]["parts"]), sum(p["components"] for p in pieces))
        loop = self.put("loop.yaml", "operators: [{for: {index: i, from: 0, to: 10, collect: {s: a}}, do: [{let: {s: i}}]}]\n"
                                     "outputs: {o: {columns: [a]}}\n")
        answer = json.loads(self.good("--json", "explain", "opsplit", "run", loop, "--components", "5"))
        self.assertEqual(answer["steps"][0]["sub_loops"], [[0, 2], [2, 4], [4, 6], [6, 8], [8, 10]])
        self.assertEqual(answer["placement"], {"policy": "measured", "threshold": 3 << 30, "open": "fake: no_daemon"})
        self.assertIsNone(answer["steps"][0]["body"][0]["sub_operators"][0]["placement"])
        self.assertTrue(self.good("explain", "opsplit", "run", loop).endswith(b"\nplacement: not known: fake: no_daemon\n"))
        self.environment["FAKE_HAC_CONNECT"] = "0"
        answer = json.loads(self.good("--json", "explain", "opsplit", "run", loop))
        (placement,) = answer["steps"][0]["body"][0]["sub_operators"][0]["placement"]
        self.assertEqual(placement, {"open": None, "tasks": [
            {"codelet": "op.fake", "component": 0, "components": 1, "sub_loop": 0, "sub_loops": 1, "rows": None,
             "places": False, "at_most": False, "memory": 0, "devices": "a, b", "predicted_seconds": 0.5, "reason": "so"}]})
        text = self.good("explain", "opsplit", "run", pagerank, "--input", "edges=x", "--placement", "rule",
                         "--threshold", "5", "--components", "7").decode()
        self.assertRegex(text, r"(?m)^    3\. damp .*\n       op\.fake on a, b: so\n    4\. ")
        self.assertEqual(self.called().splitlines()[-1], "place pagerank inputs=1 policy=1 threshold=5 components=7")
        explain = ("explain", "opsplit", "run")
        self.bad(2, *explain, says="usage")
        self.bad(2, *explain, loop, "--type", "u32", says="--type is not an option of opsplit run")
        self.bad(2, *explain, loop, "--components", "0", says="--components must be 1 to")
        self.bad(2, *explain, loop, "--format", "svg", says="no drawing")
        self.bad(1, *explain, "missing.yaml", says="no such file")
        self.bad(2, *explain, self.put("bad.yaml", "a: 1\n"), says="bad.yaml:1:1: ")
        self.bad(2, "simulate", "opsplit", "run", loop, says="--profiles DIR is missing")

    def test_receipt(self):
        """A receipt never overwrites a file that a run reads."""
        logic = self.put("run.yaml", "inputs: {e: {parse: words}}\noutputs: {o: {columns: [e.word]}}\n")
        words = self.put("words.txt", "a b\n")
        for receipt, named in ((words, words), ("./run.yaml", logic)):
            self.bad(2, "opsplit", "run", logic, "--input", f"e={words}", "--receipt", receipt,
                     says=f"--receipt names the input {named}, which it would overwrite")
        self.bad(2, "opsplit", "run", logic, "-o", "out", "--receipt", "out", says="name the same file, out")

    def test_documentation(self):
        """The examples of docs/flows/opsplit.md are valid as they are."""
        page = (HERE.parent.parent / "docs" / "flows" / "opsplit.md").read_text(encoding="utf-8")
        heads = {"name": ("check",), "subop": ("subop", "add"), "op": ("op", "add")}
        seen = []
        for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL):
            head = block.split(":")[0]
            if head in heads:
                self.good("opsplit", *heads[head], self.put("shown.yaml", block))
                seen.append(head)
        self.assertEqual(seen, ["name", "subop", "op"])

    def test_unwritable(self):
        if os.geteuid() == 0:
            self.environment["XDG_DATA_HOME"] = "/proc"
        else:
            os.mkdir(self.path("data"), 0o500)
        self.bad(1, "opsplit", "subop", "add", self.damp, says="cannot make the folder")


if __name__ == "__main__":
    main()
