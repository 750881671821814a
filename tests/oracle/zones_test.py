#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`at time zone` in both directions over random times: DuckDB and Python's zoneinfo are the oracles."""
import random
import sys
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import duck  # noqa: E402
from machine import ONE_DEVICE, SharedMachineTest, main  # noqa: E402

ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Europe/Dublin", "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo",
         "Asia/Tokyo", "UTC", "Etc/GMT+5", "America/St_Johns", "Africa/Cairo")


def times(count):
    """Mostly of 1970 … 2037, and around the changes of the clocks of Berlin and New York, in all seasons."""
    dice = random.Random(3705)
    for i in range(count):
        if i % 4 == 0:
            year, (month, day) = dice.randrange(1996, 2100), dice.choice(((3, 31), (10, 27), (3, 10), (11, 3), (3, 25), (11, 1)))
            yield datetime(year, month, day) + timedelta(seconds=dice.randrange(-86400, 172800))
        else:
            yield datetime(1970, 1, 2) + timedelta(microseconds=dice.randrange(67 * 365 * 86400 * 10**6))


def text(when):
    return str(when)


def plain(t):
    return t.rstrip("0").rstrip(".") if "." in t else t


def by_python(when, zone):
    """The instant of a local time, in UTC: the later of two; what clocks leave out has the offset from before."""
    z = ZoneInfo(zone)
    first, second = (when.replace(fold=fold, tzinfo=z).astimezone(timezone.utc).replace(tzinfo=None) for fold in (0, 1))
    return max(first, second)


class Zones(SharedMachineTest):
    profile = ONE_DEVICE

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.times = list(times(3000))

    def setUp(self):
        super().setUp()
        Path(self.m.path("t.csv")).write_text("t\n" + "".join(f"{t}\n" for t in self.times))

    def hac(self, *select):
        out = self.m.good("-q", "query", "t.csv", "--schema", "t:timestamp", "--select", ", ".join(f"{e} as x{i}" for i, e in enumerate(select)))
        return duck.read_csv(out.decode())[1:]

    def test_zoneinfo(self):
        for zone in ZONES:
            got = self.hac(f"t at time zone '{zone}'", f"t::timestamptz at time zone '{zone}'")
            for when, (utc, local) in zip(self.times, got, strict=True):
                self.assertEqual(utc, text(by_python(when, zone)) + "+00", (zone, when))
                self.assertEqual(local, text(when.replace(tzinfo=timezone.utc).astimezone(ZoneInfo(zone)).replace(tzinfo=None)), (zone, when))

    @unittest.skipIf(duck.duckdb is None, duck.WHY_NOT)
    def test_duckdb(self):
        db = duck.connect()
        db.execute("CREATE TABLE t (t TIMESTAMP)")
        db.executemany("INSERT INTO t VALUES (?)", [[t] for t in self.times])
        for zone, other in zip(ZONES, ZONES[1:] + ZONES[:1]):
            select = [f"t at time zone '{zone}' at time zone '{other}'", f"(t at time zone '{zone}')::timestamp",
                      f"t::timestamptz at time zone '{zone}'", f"date_trunc('hour', t::timestamp with time zone + interval '90' minute) at time zone '{zone}'",
                      f"(t::date at time zone '{zone}')::timestamp", f"coalesce(t, t::timestamptz) at time zone '{zone}'",
                      f"strptime('2024-07-01 12:00 +02', '%Y-%m-%d %H:%M %z') at time zone '{zone}'"]
            wanted = db.execute("SELECT " + ", ".join(f"CAST({e} AS VARCHAR)" for e in select) + " FROM t").fetchall()
            for when, ours, theirs in zip(self.times, self.hac(*select), wanted, strict=True):
                for e, a, b in zip(select, ours, theirs):
                    self.assertEqual(a.endswith("+00"), b.endswith("+00"), (when, e))
                    self.assertEqual(plain(a.removesuffix("+00")), plain(b.removesuffix("+00")), (when, e))

    def test_far_years(self):
        """The rules of a zone hold for all years; they come again after 400."""
        far = [datetime(y, m, 1, 12) for y in (2099, 2400, 2438, 2439, 5000, 9990) for m in range(1, 13)]
        Path(self.m.path("t.csv")).write_text("t\n" + "".join(f"{t}\n" for t in far))
        for when, (utc, local) in zip(far, self.hac("t at time zone 'America/New_York'", "t::timestamptz at time zone 'America/New_York'"), strict=True):
            self.assertEqual(utc, text(by_python(when, "America/New_York")) + "+00")
            self.assertEqual(local, text(when.replace(tzinfo=timezone.utc).astimezone(ZoneInfo("America/New_York")).replace(tzinfo=None)))

    def test_groups_and_filters(self):
        out = self.m.good("-q", "query", "SELECT hour(t::timestamptz at time zone 'Asia/Kolkata') AS h, count(*) AS n FROM 't.csv' "
                          "WHERE t at time zone 'Europe/Berlin' < timestamp '2000-01-01' GROUP BY h ORDER BY h")
        wanted = {}
        for when in self.times:
            if by_python(when, "Europe/Berlin") < datetime(2000, 1, 1):
                hour = when.replace(tzinfo=timezone.utc).astimezone(ZoneInfo("Asia/Kolkata")).hour
                wanted[hour] = wanted.get(hour, 0) + 1
        self.assertEqual(duck.read_csv(out.decode())[1:], [(str(h), str(n)) for h, n in sorted(wanted.items())])

    def test_refused(self):
        for zone, says in (("Europe/Berln", "did you mean 'Europe/Berlin'?"), ("Tokyo", "did you mean 'Asia/Tokyo'?"), ("../../etc/passwd", "unknown time zone"),
                           ("+02:00", "'Etc/GMT-2'")):
            self.m.bad(2, "query", f"SELECT t at time zone '{zone}' FROM 't.csv'", says=says)
        self.m.bad(2, "query", "SELECT t at time zone t FROM 't.csv'", says="expected a zone such as 'Europe/Berlin'")
        self.m.bad(2, "query", "SELECT 'x' at time zone 'UTC' FROM 't.csv'", says="'at time zone' takes")


@unittest.skipIf(duck.duckdb is None, duck.WHY_NOT)
class ColumnsWithZone(SharedMachineTest):
    """Columns whose text or whose Parquet type has a zone are instants, as in DuckDB."""

    profile = ONE_DEVICE
    EXPRESSIONS = ("t", "t at time zone 'Europe/Berlin'", "t::timestamp", "t::varchar", "t::date", "hour(t)", "date_trunc('day', t)",
                   "t + interval '1 month'", "t = timestamp '2024-07-01 10:00:00'", "t::timestamp at time zone 'Asia/Kolkata'", "greatest(t, u)",
                   "coalesce(u, t)", "t < u", "date_diff('hour', u, t)", "strftime(t, '%H:%M')", "epoch(t)",
                   "t > timestamptz '2024-01-01 00:00:00+05:00'", "case when hour(t) > 3 then t end",
                   "t > '2024-05-01 00:00:00+05:00'", "'2024-07-01' <= t", "t between '2024-02-01' and '2024-07-01 12:00:00+02:00'",
                   "t in ('2024-07-01 10:00:00', '2024-07-01 12:00:00+02:00')", "coalesce(t, '2024-01-01')", "u > '2024-05-01 00:00:00'",
                   "t is distinct from '2024-07-01 12:00:00+02:00'", "extract(hour from t)", "date_part('month', t)", "t || ''", "concat(t, u)")
    FILES = ("z.csv", "z.tsv", "z.jsonl", "z.parquet", "z.zst.csv")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        dice = random.Random(8)
        start = datetime(2024, 1, 1)
        rows = [(start + timedelta(seconds=dice.randrange(366 * 86400)), start + timedelta(seconds=dice.randrange(366 * 86400))) for _ in range(500)]
        rows[7] = (datetime(2024, 7, 1, 10), rows[7][1])
        cls.db = duck.connect()
        cls.db.execute("CREATE TABLE rows (t TIMESTAMPTZ, u TIMESTAMP)")
        cls.db.executemany("INSERT INTO rows VALUES (?, ?)", [(t.replace(tzinfo=timezone.utc), u) for t, u in rows])
        cells = [(t.replace(tzinfo=timezone.utc).astimezone(timezone(timedelta(minutes=dice.choice((0, 60, 120, -330))))).isoformat(" "), str(u))
                 for t, u in rows]
        cls.cells = cells

    def setUp(self):
        super().setUp()
        cells = self.cells
        self.write("z.csv", "t,u\n" + "".join(f"{t},{u}\n" for t, u in cells))
        self.write("z.zst.csv", "t,u\n" + "".join(f"{t.replace(' ', 'T').replace('+00:00', 'Z')},{u}\n" for t, u in cells))
        self.write("z.tsv", "t\tu\n" + "".join(f"{t}\t{u}\n" for t, u in cells))
        self.write("z.jsonl", "".join(f'{{"t": "{t}", "u": "{u}"}}\n' for t, u in cells))
        self.db.execute(f"COPY rows TO '{self.m.path('z.parquet')}'")

    def write(self, name, text):
        Path(self.m.path(name)).write_text(text)

    def ours(self, *words):
        return duck.read_csv(self.m.good("-q", "query", *words).decode())

    def test_expressions(self):
        wanted = self.db.execute("SELECT " + ", ".join(f"CAST({e} AS VARCHAR)" for e in self.EXPRESSIONS) + " FROM rows").fetchall()
        for name in self.FILES:
            got = self.ours(name, "--select", ", ".join(f"{e} as x{i}" for i, e in enumerate(self.EXPRESSIONS)))[1:]
            for ours, theirs in zip(got, wanted, strict=True):
                for e, a, b in zip(self.EXPRESSIONS, ours, theirs):
                    self.assertEqual(a, b, (name, e))

    def test_groups(self):
        select = "max(t) as m, min(u) as n, count(*) as c, median(t) as q, arg_min(t, u) as a"
        theirs = self.db.execute("SELECT CAST(hour(t) AS VARCHAR), CAST(max(t) AS VARCHAR), CAST(min(u) AS VARCHAR), CAST(count(*) AS VARCHAR), "
                                 "CAST(arg_min(t, u) AS VARCHAR) FROM rows GROUP BY hour(t) ORDER BY hour(t)").fetchall()
        for name in self.FILES:
            ours = self.ours(name, "--group-by", "hour(t) as h", "--select", select.replace("median(t) as q, ", ""), "--order-by", "h")[1:]
            self.assertEqual(ours, theirs, name)
            days = self.ours(name, "--group-by", "date_trunc('month', t) as d", "--select", "count(*) as n", "--order-by", "d")[1:]
            self.assertEqual(days[0][0], "2024-01-01 00:00:00+00")

    def test_results_keep_the_zone(self):
        for name in self.FILES:
            for suffix in ("parquet", "arrow"):
                self.m.good("-q", "query", name, "--select", "t, u, t at time zone 'Asia/Tokyo' as l, t::timestamp at time zone 'UTC' as i",
                            "-o", "out." + suffix)
                path = self.m.path("out." + suffix)
                if suffix == "parquet":
                    types = self.db.execute(f"DESCRIBE SELECT * FROM '{path}'").fetchall()
                    self.assertEqual([t[1] for t in types], ["TIMESTAMP WITH TIME ZONE", "TIMESTAMP", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"])
                    wrong = self.db.execute(f"SELECT count(*) FROM rows JOIN '{path}' x ON rows.u = x.u WHERE rows.t <> x.t OR x.i <> x.t").fetchone()
                    self.assertEqual(wrong, (0,))
                else:
                    self.assertIn(b"UTC", Path(path).read_bytes())
            self.m.good("-q", "parquet", "convert", name, "converted.parquet")
            self.assertEqual(self.db.execute(f"DESCRIBE SELECT t FROM '{self.m.path('converted.parquet')}'").fetchall()[0][1],
                             "TIMESTAMP WITH TIME ZONE")

    def test_schema(self):
        """A schema decides; timestamp keeps UTC, as a cast to it does."""
        select = ("--select", "t at time zone 'Asia/Tokyo' as x", "--limit", "5")
        for name in self.FILES[:4]:
            with_zone = self.ours(name, "--schema", "t:timestamptz", *select)
            self.assertEqual(with_zone, self.ours(name, *select))
            self.assertTrue(self.ours(name, "--schema", "t:timestamp", *select)[1][0].endswith("+00"))
        self.m.bad(2, "query", "z.csv", "--schema", "t:timestampz", "--select", "t", says="is not a type")

    def test_zone_behind_the_first_records(self):
        """A later time with a zone would lose it."""
        lines = "".join("2024-01-01 00:00:00\n" for _ in range(100000))
        self.write("late.csv", "t\n" + lines + "2024-01-01T00:00:00+02:00\n")
        self.m.bad(1, "query", "late.csv", "--select", "max(t)", says="--schema 't:timestamptz'")
        self.assertEqual(self.ours("late.csv", "--schema", "t:timestamptz", "--select", "min(t) as m")[1], ("2023-12-31 22:00:00+00",))

    def test_files_of_both_kinds(self):
        self.db.execute(f"COPY (SELECT t::TIMESTAMP AS t, u FROM rows) TO '{self.m.path('plain.parquet')}'")
        for names in (("z.parquet", "plain.parquet"), ("plain.parquet", "z.parquet")):
            got = self.ours(*names, "--select", "t at time zone 'Europe/Berlin' as b, count(*) as n", "--group-by", "b", "--order-by", "b")
            theirs = self.db.execute("SELECT CAST(t AT TIME ZONE 'Europe/Berlin' AS VARCHAR) AS b, CAST(2 * count(*) AS VARCHAR) FROM rows "
                                     "GROUP BY t ORDER BY b").fetchall()
            self.assertEqual(got[1:], theirs)


if __name__ == "__main__":
    main()
