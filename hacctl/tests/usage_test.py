#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What hacctl decides before it asks a daemon."""
import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import unittest

from cli import COMMANDS, HERE, PROGRAM, Case, main, pack


class Usage(Case):
    """What hacctl decides before it asks a daemon."""

    def setUp(self):
        super().setUp()
        self.environment.update(HAC_SOCKET=self.path("no-daemon"), FAKE_HAC_CONNECT="3")
        self.input = self.put("in", pack([3, 1, 2]))

    def test_help(self):
        text = self.good("help").decode()
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} ")
            name = command.split()
            for words in (["help", *name], [*name, "--help"], ["--help", *name], [*name, "-h", "--json"]):
                self.assertTrue(self.good(*words).decode().startswith(f"usage: hacctl {command}"))
        self.assertEqual(text.encode(), self.good("--help"))
        for words in (["help", "parquet"], ["parquet", "--help"], ["--help", "parquet"]):
            group = self.good(*words).decode()
            self.assertTrue(group.startswith("usage: hacctl parquet COMMAND"))
            self.assertEqual(re.findall(r"(?m)^  (parquet \w+)", group),
                             ["parquet query", "parquet convert", "parquet inspect"])
        self.assertEqual(self.good("--version"), self.good("sort", "--version"))
        self.assertRegex(self.good("-V").decode(), r"\Ahacctl \d+\.\d+\.\d+\n\Z")
        self.assertLess(max(len(line) for line in text.splitlines()), 100)

    def test_unknown_commands(self):
        self.bad(2, says="which command?")
        self.bad(2, "--json", says="which command?")
        err = self.bad(2, "fold", "x", says="unknown command 'fold'")
        for command in COMMANDS:
            self.assertIn(command, err)
        self.bad(2, "parquet", says="parquet: which command? There are: parquet query, parquet convert, parquet inspect")
        self.bad(2, "parquet", "--json", says="parquet: which command?")
        self.bad(2, "parquet", "look", "x", says="unknown command 'parquet look'; there are: parquet query")
        self.bad(2, "querry", "x", says="unknown command 'querry'; did you mean query?")
        self.bad(2, "parquet query", "x", says="unknown command 'parquet query'")
        self.bad(2, "help", "parquet", "look", says="unknown command 'parquet look'")
        self.bad(2, "help", "sort", "query", says="one argument too many")
        self.bad(2, "opsplat", says="unknown command")
        self.bad(2, "opsplit", says="which command?")
        self.bad(2, "explian", says="did you mean explain?")
        self.bad(2, "srot", "file", says="did you mean sort?")
        self.bad(2, "parquet", "querry", says="unknown command 'parquet querry'; did you mean parquet query? There are: parquet")
        self.bad(2, "parqet", "query", says="did you mean parquet query?")
        self.bad(2, "opsplitrun", says="did you mean opsplit run?")
        self.bad(2, "help", "nonsense", says="unknown command")
        self.bad(2, "x" * 5000, says="unknown command")

    def test_unknown_options(self):
        self.bad(2, "--nonsense", "sort", says="unknown option --nonsense")
        self.bad(2, "-x", says="unknown option -x")
        self.bad(2, "sort", "--desending", says="did you mean --descending?")
        self.bad(2, "jobs", "--type", "u32", says="jobs: unknown option --type")
        self.bad(2, "jobs", "extra", says="one argument too many")
        self.bad(2, "wait", says="too few arguments; usage: hacctl wait JOB")
        self.bad(2, "--socket", says="needs a value")
        self.assertNotIn("\x1b", self.bad(2, "a\nb\x1b[31m", says="unknown command 'a"))

    def test_sort_usage(self):
        self.bad(2, "sort", says="too few arguments")
        self.bad(2, "sort", self.input, says="--type is missing")
        self.bad(2, "sort", self.input, "--type", "u16", says="allowed: u32, i32, f32, u64, i64, f64")
        self.bad(2, "sort", self.input, self.input, "--type", "u32", says="one argument too many")
        for option, value in (("--algorithm", "quick"), ("--scheme", "half"), ("--fold", "1,x"), ("--priority", "1000"),
                              ("--deadline", "soon"), ("--memory", "lots"), ("--determinism", "maybe"),
                              ("--devices", "a,,b")):
            self.bad(2, "sort", self.input, "--type", "u32", option, value, says=option)
        self.bad(2, "sort", self.input, "--type", "u32", "--devices", "a,b,a", says="--devices a,b,a: device a is named twice")
        for command in ("calibrate", "tune"):
            self.bad(2, command, "a", "b", "b", says="device b is named twice")
        self.bad(2, "sort", self.input, "--type", "u32", "--schema", "a:i8", says="--schema is for whole rows")
        self.bad(2, "sort", self.input, "--type", "u32", "--detach", "-o", "x", says="hacctl result JOB -o OUT")
        self.bad(2, "sort", self.input, "--type", "u32", "--detach", "--receipt", "x", says="--receipt")
        self.bad(2, "sort", self.input, "--type", "u32", "--items", "5", says="unknown option --items")
        self.bad(2, "sort", self.input, "--type", "u32", "--type", "f64", says="sort: option --type is given twice")
        self.bad(2, "--socket", "a", "sort", self.input, "--socket", "b", says="sort: option --socket is given twice")
        self.bad(2, "mapreduce", self.input, "--where", "a", "--select", "a", "--where", "b",
                 says="mapreduce: option --where is given twice")

    def test_terminals(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        code, _, err = self.run_it("sort", self.input, "--type", "u32", stdout=slave)
        self.assertEqual(code, 2)
        self.assertIn("will not write raw data to a terminal", err)
        self.bad(2, "sort", "-", "--type", "u32", "-o", "x", says="will not read raw data from a terminal", stdin=slave)

    def test_unreadable_input(self):
        self.bad(1, "sort", "missing", "--type", "u32", says="missing: No such file or directory")
        self.bad(1, "sort", ".", "--type", "u32", says=".: is a directory")
        self.bad(1, "sort", self.put("odd", b"12345"), "--type", "u32", says="5 bytes are not a whole number of u32")
        self.bad(1, "explain", "sort", "missing", "--type", "u32", says="No such file")
        self.assertEqual(self.files(), ["in", "odd"])

    def test_unwritable_output(self):
        self.bad(1, "sort", self.input, "--type", "u32", "-o", "nowhere/out", says="nowhere/out: No such file")
        self.bad(1, "sort", self.input, "--type", "u32", "-o", ".", says=".: Is a directory")
        self.bad(1, "sort", self.input, "--type", "u32", "-o", "out", "--trace", "nowhere/t", says="nowhere/t")
        self.assertEqual(self.files(), ["in"])
        with open("/dev/full", "wb") as full:
            code, _, err = self.run_it("help", stdout=full)
        self.assertEqual(code, 1)
        self.assertIn("no space left on device", err)

    def test_no_daemon(self):
        for words in (["devices"], ["calibrate"], ["tune"], ["jobs"], ["show", "1"], ["why", "1"], ["wait", "1"],
                      ["cancel", "1"], ["log", "1"], ["log", "-f", "1"], ["trace", "1"], ["metrics"], ["reload"],
                      ["drain"], ["sort", self.input, "--type", "u32", "-o", "out"], ["result", "1", "-o", "out"],
                      ["explain", "sort", "--items", "9", "--type", "u32"]):
            self.bad(3, "--no-autostart", *words)
        self.assertEqual(self.files(), ["in"])
        code, out, err = self.run_it("doctor", "--no-autostart")
        self.assertEqual(code, 3)
        self.assertTrue(out.startswith(b"FAILED  daemon"))
        self.assertRegex(err, r"\Ahacctl: [^\n]+\n\Z")
        code, out, _ = self.run_it("doctor", "--no-autostart", "--json")
        self.assertEqual(code, 3)
        self.assertIs(json.loads(out)["checks"][0]["ok"], False)

    def test_version_without_daemon(self):
        version = json.loads(self.good("--no-autostart", "--json", "version"))
        self.assertIsNone(version["daemon"])
        self.assertRegex(version["version"], r"^\d+\.\d+\.\d+$")
        self.assertIn("no daemon: ", self.good("version", "--no-autostart").decode())

    def test_job_ids(self):
        for command in ("show", "why", "wait", "result", "cancel", "log", "trace"):
            for job in ("0", "x", "-1", "1x", "", "99999999999999999999999"):
                self.bad(2, command, "--", job, says="is not a job id")

    def test_plan_usage(self):
        self.bad(2, "explain", says="too few arguments")
        self.bad(2, "explain", "pipe", says="not a job that can be planned")
        self.bad(2, "explain", "sort", "--type", "u32", says="say --items COUNT")
        self.bad(2, "explain", "sort", self.input, "--items", "5", "--type", "u32", says="not both")
        self.bad(2, "explain", "sort", "--items", "many", "--type", "u32", says="is not a number of items")
        self.bad(2, "explain", "sort", "--items", "5", says="--type is missing")
        self.bad(2, "explain", "sort", "/dev/null", "--type", "u32", says="say --items COUNT")
        self.bad(2, "explain", "sort", "--items", "5", "--type", "u32", "--format", "png", says="text, json, svg")
        self.bad(2, "simulate", "sort", "--items", "5", "--type", "u32", says="--profiles DIR is missing")
        simulate = ["simulate", "sort", "--items", "5", "--type", "u32", "--profiles"]
        self.bad(2, *simulate, "missing", says="No such file")
        self.bad(2, *simulate, self.input, says="is not a folder")
        self.bad(2, *simulate, self.path("."), says="no profile")
        self.put("bad.yaml", "name: x\nmatch: {type: any}\nkind: abacus\n")
        self.bad(2, *simulate, self.path("."), says="bad.yaml:3")

    def test_completion(self):
        for shell, name in (("bash", "hacctl.bash"), ("fish", "hacctl.fish"), ("zsh", "_hacctl")):
            self.assertEqual(self.good("completion", shell), (HERE.parent / "completion" / name).read_bytes(),
                             f"make it anew with: hacctl completion {shell} > hacctl/completion/{name}")
        self.bad(2, "completion", "tcsh", says="there are: bash fish zsh")

    def test_manual_page(self):
        page = (HERE.parent.parent / "docs" / "man" / "hacctl.1").read_text()
        for command in COMMANDS:
            self.assertRegex(page, rf"(?m)^\.It Ic {command}\b")
            for option in re.findall(r"(?m)^  (?:-.,|   ) --([a-z-]+)", self.good("help", *command.split()).decode()):
                self.assertTrue(f"Fl -{option}" in page, f"--{option} is not in the manual page")
        self.check_values(page)
        if shutil.which("man"):
            out = subprocess.run(["man", "--warnings", "-l", str(HERE.parent.parent / "docs" / "man" / "hacctl.1")],
                                 env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
            self.assertEqual(out.stderr, b"")

    def check_values(self, page):
        """The manual page has every option's placeholder or words, and its default, as the table of options has them."""
        words = dict(re.findall(r"(?m)^    (?:-. \| )?--([a-z-]+)\) _hacctl_words ([^;]+);", self.good("completion", "bash").decode()))
        options = {}
        for command in COMMANDS:
            text = re.sub(r"\n {26}", " ", self.good("help", *command.split()).decode())
            for name, argument, rest in re.findall(r"(?m)^  (?:-., |    )--([a-z-]+)(?: ([^ ]+))? +(.*)$", text):
                options[name] = argument, rest
        for name, (argument, rest) in options.items():
            value = r"Cm " + r" \| ".join(words[name].split()) if name in words else r"Ar " if argument else ""
            self.assertTrue(re.search(rf"Fl -{name}\b ?{value}", page), f"--{name}: the manual page has other words")
            default = re.search(r"\(default: ([a-zA-Z0-9]+)\)", rest)
            items = re.findall(rf"(?ms)^\.It (?:Fl [^\n]*, )?Fl -{name}\b.*?^\.(?:It|El)", page)
            if default and items:
                self.assertTrue(any(default[1] in i for i in items), f"--{name}: the manual page does not have its default")

    def test_documents(self):
        """Documents use only options that exist."""
        completion = self.good("completion", "bash").decode()
        known = set(re.findall(r"--[a-z-]+", completion))
        root = HERE.parent.parent
        for page in [root / "README.md", *(root / "docs").rglob("*.md")]:
            for line in re.findall(r"\bhacctl ((?:[^`\n]|\\\n)*)", page.read_text()):
                for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", line):
                    self.assertTrue(option in known, f"{page.relative_to(root)}: hacctl has no {option}: {line[:60]}")

    def complete(self, *words):
        code = (f"source {HERE.parent}/completion/hacctl.bash; compopt() {{ :; }}; COMP_WORDS=(\"$@\"); "
                "COMP_CWORD=$(($# - 1)); _hacctl; printf '%s\\n' \"${COMPREPLY[@]}\"")
        out = subprocess.run(["bash", "-c", code, "bash", PROGRAM, *words], cwd=self.folder, env=self.environment,
                             capture_output=True, check=True)
        self.assertEqual(out.stderr, b"")
        return out.stdout.decode().split()

    CASES = [(("par",), ["parquet"]), (("parquet", ""), ["query", "convert", "inspect"]),
             (("opsplit", ""), ["run", "check", "op", "subop"]), (("--json", "parquet", "i"), ["inspect"]),
             (("parquet", "convert", "in", "--cod"), ["--codec"]), (("parquet", "convert", "in", "--codec", "z"), ["zstd"]),
             (("s",), ["summarize", "sort", "splice", "simulate", "show"]), (("--socket", "sock", "ve"), ["version"]),
             (("sort", "i"), ["in"]), (("sort", "in", "--ty"), ["--type"]), (("sort", "in", "--type", "u"), ["u32", "u64"]),
             (("mapreduce", "word"), ["wordcount"]), (("completion", ""), ["bash", "fish", "zsh"]),
             (("help", "doc"), ["doctor"]), (("query", "--hav"), ["--having"]), (("query", "--type"), [])]

    def check_cases(self, complete):
        for words, wanted in self.CASES:
            self.assertEqual(sorted(complete(*words)), sorted(wanted), words)
        self.assertEqual(sorted(complete("")), sorted({command.split()[0] for command in COMMANDS}))

    @unittest.skipUnless(shutil.which("fish"), "fish is not there")
    def test_completion_in_fish(self):
        def complete(*words):
            line = shlex.join(["hacctl", *words[:-1]]) + " " + words[-1]
            out = subprocess.run(["fish", "--no-config", "-c", f"source {HERE.parent}/completion/hacctl.fish; complete -C '{line}'"],
                                 cwd=self.folder, env=dict(self.environment, HOME=str(self.folder)), capture_output=True, check=True)
            self.assertEqual(out.stderr, b"")
            return [found.split("\t")[0] for found in out.stdout.decode().splitlines()]

        self.check_cases(complete)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not there")
    def test_completion_in_zsh(self):
        """With what zsh's own functions would show."""
        code = ("compadd() { [[ $1 == -a ]] && set -- ${(P)2} || shift; (($#)) && print -l -- $@ }; "
                "_describe() { local name=$argv[-1] one; for one in ${(P)name}; do print -r -- ${one%%:*}; done }; _files() { print -l -- *(N) }; "
                "compdef() { : }; words=(hacctl \"$@\"); CURRENT=$#words; "
                f"fpath=({HERE.parent}/completion $fpath); autoload -U _hacctl; _hacctl; true")

        def complete(*words):
            out = subprocess.run(["zsh", "-f", "-c", code, "zsh", *words], cwd=self.folder, env=self.environment,
                                 capture_output=True, check=True)
            self.assertEqual(out.stderr, b"")
            return [found for found in out.stdout.decode().splitlines() if found.startswith(words[-1])]

        self.check_cases(complete)

    def test_completion_in_bash(self):
        self.assertEqual(self.complete(""), list(dict.fromkeys(command.split()[0] for command in COMMANDS)))
        self.assertEqual(self.complete("par"), ["parquet"])
        self.assertEqual(self.complete("parquet", ""), ["query", "convert", "inspect"])
        self.assertEqual(self.complete("opsplit", ""), ["run", "check", "op", "subop"])
        self.assertEqual(self.complete("opsplit", "op", ""), ["list", "show", "add", "remove"])
        self.assertEqual(self.complete("opsplit", "subop", "add", "i"), ["in"])
        self.assertEqual(self.complete("--json", "parquet", "i"), ["inspect"])
        self.assertEqual(self.complete("parquet", "query", "i"), ["in"])
        self.assertEqual(self.complete("parquet", "convert", "in", "--cod"), ["--codec"])
        self.assertEqual(self.complete("parquet", "convert", "in", "--codec", "=", "z"), ["zstd"])
        self.assertEqual(self.complete("help", "parquet", "q"), ["query"])
        self.assertEqual(self.complete("explain", "parquet", ""), ["query", "convert"])
        self.assertEqual(self.complete("explain", "parquet", "query", "i"), ["in"])
        self.assertEqual(self.complete("s"), ["summarize", "sort", "splice", "simulate", "show"])
        self.assertEqual(self.complete("--socket", "sock", "ve"), ["version"])
        self.assertEqual(self.complete("sort", "i"), ["in"])
        self.assertEqual(self.complete("sort", "in", "--ty"), ["--type"])
        self.assertEqual(self.complete("sort", "in", "--type", "u"), ["u32", "u64"])
        self.assertEqual(self.complete("sort", "in", "--type", "=", "f"), ["f32", "f64"])
        self.assertEqual(self.complete("sort", "--scheme", "=", "upper", "-o", "o", "--argsort", "i"), ["in"])
        self.assertEqual(self.complete("explain", ""), ["query", "sort", "splice", "mapreduce", "parquet", "opsplit"])
        self.assertEqual(self.complete("explain", "opsplit", ""), ["run"])
        self.assertEqual(self.complete("simulate", ""), ["query", "sort", "splice", "mapreduce", "parquet"])
        self.assertEqual(self.complete("mapreduce", "word"), ["wordcount"])
        self.assertEqual(self.complete("mapreduce", "wordcount", "i"), ["in"])
        self.assertEqual(self.complete("mapreduce", "--parse", "l"), ["lines", "lengths", "logfmt"])
        self.assertEqual(self.complete("explain", "sort", "i"), ["in"])
        self.assertEqual(self.complete("help", "do"), ["doctor"])
        for command in COMMANDS:
            options = self.complete(*command.split(), "--")
            text = self.good("help", *command.split()).decode()
            self.assertEqual(sorted(options), sorted(re.findall(r"(?m)^  (?:-.,|   ) (--[a-z-]+)", text)))


if __name__ == "__main__":
    main()
