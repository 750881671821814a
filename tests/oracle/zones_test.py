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
                self.assertEqual(utc, text(by_python(when, zone)), (zone, when))
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
                    self.assertEqual(plain(a), plain(b.removesuffix("+00")), (when, e))

    def test_far_years(self):
        """The rules of a zone hold for all years; they come again after 400."""
        far = [datetime(y, m, 1, 12) for y in (2099, 2400, 2438, 2439, 5000, 9990) for m in range(1, 13)]
        Path(self.m.path("t.csv")).write_text("t\n" + "".join(f"{t}\n" for t in far))
        for when, (utc, local) in zip(far, self.hac("t at time zone 'America/New_York'", "t::timestamptz at time zone 'America/New_York'"), strict=True):
            self.assertEqual(utc, text(by_python(when, "America/New_York")))
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


if __name__ == "__main__":
    main()
