# SPDX-License-Identifier: Apache-2.0
"""Random well-typed queries, each as hac's texts and as DuckDB's SQL of the same meaning.

An expression carries both texts. What SQL must spell out so that both mean the same: integers are worked with in 64
bits (BIGINT, UBIGINT), signed beside unsigned is BIGINT, i64 with u64 is compared as HUGEINT, `/` is of DOUBLEs, `lower`
knows ASCII only, sums of integers are cast back to 64 bits.

Not generated, since the two differ by design: f64 to f32 of what is too large (DuckDB refuses, IEEE 754 says infinity),
dates beyond the year 9999 (hac refuses), decimals of over 15 digits to f64 in comparisons (DuckDB's is not the nearest
one), substr before the first character, text to integer of anything but digits (DuckDB reads '1.5' and ' 1').
"""
import re
from dataclasses import dataclass, replace

OR, AND, NOT, COMPARE, CONCAT, ADD, MULTIPLY, UNARY, ATOM = range(1, 10)
SQL_OF_KIND = {"i": "BIGINT", "u": "UBIGINT", "f32": "FLOAT", "f64": "DOUBLE", "b": "BOOLEAN", "d": "DATE",
               "t": "TIMESTAMP", "s": "VARCHAR", "y": "BLOB"}
PLAIN = ("i", "u", "f32", "f64", "b", "d", "t")
ORDERED = ("i", "u", "f32", "f64", "b", "d", "t", "s", "dec", "y")


@dataclass
class Expr:
    hac: str
    sql: str
    kind: str
    level: int = ATOM  # of the operator that binds least tightly in `hac`
    p: int = 0
    s: int = 0
    literal: bool = False
    wide: bool = False  # u: of type u64, beside which a literal is unsigned
    mild: bool = True
    scale: str = ""  # not exact: SQL of the magnitude that an error is relative to
    sums: bool = False  # f64 whose sums are exact in every order
    numbers: bool = False  # s: most are integers


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def name_in_hac(name):
    bare = name.isidentifier() and name.isascii() and name not in ("line",)
    return name if bare else '"' + name.replace('"', '""') + '"'


class Scope:
    def __init__(self, atoms):
        self.atoms = atoms

    def pick(self, rng, kind, mild):
        found = [a for a in self.atoms if a.kind == kind and (a.mild or not mild)]
        return rng.choice(found) if found else None


class Generator:
    def __init__(self, rng, table, wanted, plain=False):
        self.rng, self.table, self.plain = rng, table, plain
        self.scope = self.row_scope = Scope([self.column(c) for c in table.columns if wanted(c)])
        self.lazy = False
        self.calm = 0.95 if rng.random() < 0.85 else 0.4  # how often arithmetic uses small numbers

    # ---- atoms ----

    @staticmethod
    def column(c):
        sql = c.sql
        if c.kind in "iu":
            sql = f"CAST({c.sql} AS {SQL_OF_KIND[c.kind]})"
        return Expr(name_in_hac(c.name), sql, c.kind, p=c.p, s=c.s, wide=c.type == "u64", mild=c.mild,
                    sums=c.mild and c.kind in ("f32", "f64"), numbers=c.mild and c.kind == "s")

    def text_literal(self):
        from random_table import STRINGS
        text = self.rng.choice(STRINGS)
        return Expr(quoted(text), quoted(text), "s", literal=True)

    def literal(self, kind, p=0, s=0):
        rng = self.rng
        if kind == "i":
            n = rng.choice((0, 1, 2, 3, 7, 10, 50, -1, -2, -5))
            return Expr(str(n), f"({n})::BIGINT", "i", ATOM if n >= 0 else UNARY, literal=True)
        if kind == "u":
            n = rng.choice((0, 1, 2, 3, 7))
            return Expr(str(n), f"{n}::UBIGINT", "u", literal=True)
        if kind == "f64":
            n = rng.choice((0.5, 1.5, 2.0, -0.25, 64.0))
            return Expr(f"{n:e}", f"({n})::DOUBLE", "f64", ATOM if n >= 0 else UNARY, literal=True, sums=True)
        if kind == "f32":
            n = rng.choice((0.5, 1.5, 2.0))
            return Expr(f"cast({n} as f32)", f"({n})::FLOAT", "f32", literal=True, sums=True)
        if kind == "b":
            word = rng.choice(("true", "false"))
            return Expr(word, word, "b", literal=True)
        if kind in "dt":
            text = rng.choice(("2000-02-29", "2019-12-31", "1995-06-15") if kind == "d" else
                              ("2000-02-29 12:00:00", "2019-12-31 23:59:59.5", "1995-06-15"))
            word = "date" if kind == "d" else "timestamp"
            return Expr(f"{word} '{text}'", f"CAST('{text}' AS {SQL_OF_KIND[kind]})", kind, literal=True)
        if kind == "s":
            return self.text_literal()
        if kind == "y":
            digits = rng.choice(("", "00", "61", "6162", "FF", "C3AB"))
            return Expr(f"x'{digits.lower() if rng.random() < 0.5 else digits}'", f"unhex('{digits}')", "y", literal=True)
        text = rng.choice(("0.5", "1.25", "12.0", "0.01", "-3.5"))
        digits = text.lstrip("-").replace(".", "").lstrip("0")
        scale = len(text.rpartition(".")[2])
        e = Expr(text, "", "dec", UNARY if text[0] == "-" else ATOM, max(len(digits), scale), scale, literal=True)
        return replace(e, sql=f"CAST('{text}' AS DECIMAL({e.p},{e.s}))")

    def atom(self, kind, mild=True):
        return self.scope.pick(self.rng, kind, mild and self.rng.random() < self.calm) or self.made(kind)

    def made(self, kind):
        """A value of a kind that no column has."""
        literal = self.literal(kind)
        other = self.scope.pick(self.rng, "i", True)
        if other is None or literal.kind == "u":
            return literal
        condition = Expr(f"{self.at(other, COMPARE + 1)} > 10", f"({other.sql} > 10)", "b", COMPARE)
        return self.choice_of(condition, literal, self.literal(kind) if kind != "dec" else literal)

    # ---- text ----

    def at(self, e, level):
        """Its text as an operand of an operator of that level; now and then with unnecessary brackets."""
        needs = e.level < level or (e.hac.startswith("-") and level > COMPARE)
        return f"({e.hac})" if needs or self.rng.random() < 0.1 else e.hac

    def binary(self, op, a, b, level, kind, sql=None, **more):
        space = self.rng.choice((" ", " ", "  ", "") if not op.isalpha() else (" ",))
        right = self.at(b, level + 1)
        left = self.at(a, level + 1 if level == COMPARE else level)
        return Expr(f"{left}{space}{op}{space}{right}", sql or f"({a.sql} {op} {b.sql})", kind, level, **more)

    def call(self, name, args, kind, sql, **more):
        if self.rng.random() < 0.05:
            name = name.upper()
        return Expr(f"{name}({', '.join(a.hac for a in args)})", sql, kind, **more)

    def choice_of(self, condition, a, b):
        self.lazy = True
        hac = self.rng.choice((f"if({condition.hac}, {a.hac}, {b.hac})",
                               f"case when {condition.hac} then {a.hac} else {b.hac} end"))
        return Expr(hac, f"(CASE WHEN {condition.sql} THEN {a.sql} ELSE {b.sql} END)", a.kind, p=a.p, s=a.s,
                    wide=a.wide or b.wide, mild=a.mild and b.mild, sums=a.sums and b.sums)

    # ---- expressions ----

    def expr(self, kind, depth):
        rng = self.rng
        if depth <= 0 or rng.random() < 0.15:
            return self.atom(kind)
        if kind != "f32" and rng.random() < 0.12:
            return self.conditional(kind, depth)
        return getattr(self, "gen_" + kind)(depth)

    def typed(self, kind, depth):
        """Not a literal: literals take their type from their neighbours."""
        for _ in range(5):
            e = self.expr(kind, depth)
            if not e.literal:
                return e
        one = self.literal("i")
        a = self.atom("i")
        return self.choice_of(Expr(f"{self.at(a, 5)} > {self.at(one, 5)}", f"({a.sql} > {one.sql})", "b", COMPARE),
                              self.literal(kind), self.literal(kind)) if kind not in ("dec", "u") else self.atom(kind)

    def by_text(self, a):
        """To text and back, which changes nothing."""
        name = {"i": "i64", "u": "u64", "b": "bool", "d": "date", "t": "timestamp", "y": "bytes"}.get(a.kind, a.kind)
        name = f"decimal({a.p},{a.s})" if a.kind == "dec" else name
        return replace(a, hac=f"cast(cast({a.hac} as string) as {name})", level=ATOM, wide=a.kind == "u")

    def branches(self, a, b):
        """A case of several branches; a and b are of the kind i."""
        self.lazy = True
        of, x, y = self.atom("i"), self.literal("i"), self.literal("i")
        if of.literal:
            return a
        if self.rng.random() < 0.5:
            hac = f"case {of.hac} when {x.hac} then {a.hac} when {y.hac} then {b.hac} end"
            return Expr(hac, f"(CASE {of.sql} WHEN {x.sql} THEN {a.sql} WHEN {y.sql} THEN {b.sql} END)", "i")
        p, q = self.gen_b(1), self.gen_b(0)
        hac = f"case when {p.hac} then {a.hac} when {q.hac} then {b.hac} else {x.hac} end"
        return Expr(hac, f"(CASE WHEN {p.sql} THEN {a.sql} WHEN {q.sql} THEN {b.sql} ELSE {x.sql} END)", "i")

    def conditional(self, kind, depth):
        rng = self.rng
        a = self.typed(kind, depth - 1)
        if rng.random() < 0.2 and not (self.plain or a.literal or a.scale or kind == "s"):
            return self.by_text(a)
        if a.kind == "u":
            b = self.atom("u")
            if a.literal or b.literal:
                return a
        elif a.scale:
            return a
        elif a.kind == "dec":
            b = replace(a, hac=f"cast({a.hac} as decimal({a.p},{a.s}))", level=ATOM)
            if rng.random() < 0.5 or a.literal:
                return a
        else:
            b = self.expr(kind, depth - 1)
            if b.scale:
                return a
        form = rng.randrange(4)
        if kind == "i" and rng.random() < 0.3:
            return self.branches(a, b)
        if form == 0:
            return self.choice_of(self.gen_b(depth - 1), a, b)
        more = {"p": a.p, "s": a.s, "wide": a.wide or b.wide, "mild": a.mild and b.mild, "sums": a.sums and b.sums}
        if form == 1:
            self.lazy = True
            return self.call("coalesce", (a, b), kind, f"coalesce({a.sql}, {b.sql})", **more)
        if form == 2 and kind not in ("f32", "f64"):
            name = rng.choice(("greatest", "least"))
            return self.call(name, (a, b), kind, f"{name}({a.sql}, {b.sql})", **more)
        if kind in ("f64", "dec"):
            return a
        return self.call("nullif", (a, b), kind, f"nullif({a.sql}, {b.sql})", **{**more, "wide": a.wide})

    def gen_i(self, depth):
        rng, pick = self.rng, self.rng.random()
        if pick < 0.5 or (self.plain and 0.6 <= pick < 0.75):
            a, b = self.expr("i", depth - 1), self.expr("i", depth - 1)
            if rng.random() < 0.15 and not a.literal:
                u = self.atom("u")  # an unsigned one beside it becomes i64
                if not u.literal:
                    b = replace(u, sql=f"CAST({u.sql} AS BIGINT)")
            op = rng.choice(("+", "-", "*", "//", "%"))
            return self.binary(op, a, b, ADD if op in "+-" else MULTIPLY, "i")
        if pick < 0.6:
            a = self.expr("i", depth - 1)
            if rng.random() < 0.5 or a.literal:
                return self.call("abs", (a,), "i", f"abs({a.sql})")
            return Expr(f"-{self.at(a, ATOM)}", f"(-{a.sql})", "i", UNARY)
        if pick < 0.75:
            s = self.expr("s", depth - 1)
            if rng.random() < 0.3:
                t = self.expr("s", 0)
                return self.call("position", (s, t), "i", f"CAST(instr({s.sql}, {t.sql}) AS BIGINT)")
            if rng.random() < 0.3:
                y = self.expr("y", depth - 1)
                return self.call(rng.choice(("length", "bytes")), (y,), "i", f"CAST(octet_length({y.sql}) AS BIGINT)")
            name, sql = rng.choice((("length", "length"), ("bytes", "strlen")))
            return self.call(name, (s,), "i", f"CAST({sql}({s.sql}) AS BIGINT)")
        if pick < 0.85:
            return self.date_part(depth)
        if pick < 0.9:
            a, b = self.expr("d", depth - 1), self.expr("d", 0)
            return self.binary("-", a, b, ADD, "i", f"CAST({a.sql} - {b.sql} AS BIGINT)")
        return self.to_integer(depth)

    def date_part(self, depth):
        kind = self.rng.choice("dt")
        a = self.expr(kind, depth - 1)
        parts = [("year", "year"), ("quarter", "quarter"), ("month", "month"), ("week", "week"), ("day", "day"),
                 ("dow", "isodow"), ("doy", "dayofyear")]
        if kind == "t":
            parts += [("hour", "hour"), ("minute", "minute"), ("second", "second"), ("microsecond", "")]
        name, sql = self.rng.choice(parts)
        text = f"CAST({sql}({a.sql}) AS BIGINT)" if sql else f"CAST(microsecond({a.sql}) % 1000000 AS BIGINT)"
        return self.call(name, (a,), "i", text)

    def to_integer(self, depth):
        rng = self.rng
        kind = rng.choice(("b", "f64") if self.plain else ("b", "f64", "dec", "s"))
        if kind == "s":
            columns = [c for c in self.scope.atoms if c.numbers]
            if not columns:
                kind = "b"
            else:
                a = rng.choice(columns)
                sql = f"(CASE WHEN regexp_full_match({a.sql}, '[+-]?[0-9]+') THEN TRY_CAST({a.sql} AS BIGINT) END)"
                return Expr(f"try_cast({a.hac} as i64)", sql, "i")
        a = self.expr(kind, depth - 1)
        if kind == "f64" and (a.scale or not a.sums):
            a = self.literal("f64")
        target, sql = rng.choice((("i64", "BIGINT"), ("i32", "INTEGER"), ("i16", "SMALLINT"), ("i8", "TINYINT")))
        word = "try_cast" if rng.random() < 0.3 and kind != "b" else "cast"
        return Expr(f"{word}({a.hac} as {target})", f"CAST({word.upper()}({a.sql} AS {sql}) AS BIGINT)", "i")

    def gen_u(self, depth):
        rng = self.rng
        a, b = self.atom("u"), self.atom("u")
        if a.literal or b.literal or rng.random() < 0.2:
            e = self.expr("i", depth - 1)
            if rng.random() < 0.5 and not e.literal:
                width = rng.choice((8, 16, 32))
                sql = {8: "UTINYINT", 16: "USMALLINT", 32: "UINTEGER"}[width]
                return Expr(f"try_cast({e.hac} as u{width})", f"CAST(TRY_CAST({e.sql} AS {sql}) AS UBIGINT)", "u")
            return Expr(f"cast(abs({e.hac}) as u64)", f"CAST(abs({e.sql}) AS UBIGINT)", "u", wide=True)
        op = rng.choice(("+", "*", "//", "%", "+", "*", "//", "%", "-"))
        if a.wide and rng.random() < 0.3:
            b = self.literal("u")
        return self.binary(op, a, b, ADD if op in "+-" else MULTIPLY, "u", wide=True)

    def gen_f32(self, depth):
        if all(a.kind != "f32" for a in self.scope.atoms):
            return self.literal("f32")
        a, b = self.expr("f32", depth - 1), self.expr("f32", depth - 1)
        op = self.rng.choice("+-*/")
        return self.binary(op, a, b, ADD if op in "+-" else MULTIPLY, "f32")

    def number(self, depth):
        """A number of some kind that takes part in f64 arithmetic, as a DOUBLE; its hac text unchanged."""
        kind = self.rng.choice(("f64", "f64", "f64", "i", "f32", "u") + ("dec",) * (not self.plain))
        e = self.expr(kind, depth)
        if e.kind == "f64":
            return e
        if e.literal or (e.kind == "dec" and e.p > 15):
            return self.expr("f64", depth)
        return replace(e, sql=f"CAST({e.sql} AS DOUBLE)", kind="f64")

    def gen_f64(self, depth):
        rng, pick = self.rng, self.rng.random()
        if pick < 0.6:
            a, b = self.expr("f64", depth - 1), self.number(depth - 1)
            if a.scale or b.scale:
                return self.inexact_pair(a, b)
            if a.literal and b.literal:
                b = self.atom("f64")
            op = rng.choice("+-*/")
            if rng.random() < 0.5 and not a.literal:
                a, b = b, a
            return self.binary(op, a, b, ADD if op in "+-" else MULTIPLY, "f64",
                               sums=op in "+-" and a.sums and b.sums)
        if pick < 0.7:
            a, b = self.typed("i", depth - 1), self.typed("i", depth - 1)
            return self.binary("/", a, b, MULTIPLY, "f64", f"(CAST({a.sql} AS DOUBLE) / CAST({b.sql} AS DOUBLE))")
        a = self.expr("f64", depth - 1)
        if pick < 0.95 or a.scale or self.scope is not self.row_scope:
            names = ("abs",) if a.scale else ("abs", "sqrt", "floor", "ceil", "trunc", "round")
            name = rng.choice(names)
            return self.call(name, (a,), "f64", f"{name}({a.sql})", scale=a.scale, sums=name == "abs" and a.sums)
        return self.inexact(a)

    def inexact(self, a):
        name = self.rng.choice(("exp", "ln", "log2", "log10", "sin", "cos", "atan"))
        sql = f"{name}({a.sql})"
        return self.call(name, (a,), "f64", sql, scale=f"greatest(abs({sql}), 1e-3)")

    def inexact_pair(self, a, b):
        op = self.rng.choice("+-*")
        sa, sb = a.scale or f"abs({a.sql})", b.scale or f"abs({b.sql})"
        scale = f"({sa} * {sb})" if op == "*" else f"({sa} + {sb})"
        return self.binary(op, a, b, MULTIPLY if op == "*" else ADD, "f64", scale=scale)

    def gen_dec(self, depth):
        rng, pick = self.rng, self.rng.random()
        if pick < 0.05:
            f = self.scope.pick(rng, "f64", True)
            if f is not None and f.sums:  # 64ths, so six digits are exact
                return Expr(f"cast({f.hac} as decimal(20,6))", f"CAST({f.sql} AS DECIMAL(20,6))", "dec", p=20, s=6)
        a = self.expr("dec", depth - 1)
        if pick < 0.5:
            b = self.expr("dec", depth - 1)
            op = rng.choice("+-*")
            if a.literal and b.literal:
                return a
            if op == "*":
                p, s, level = a.p + b.p, a.s + b.s, MULTIPLY
                if p <= 38:  # DuckDB sometimes multiplies in 64 bits what needs more
                    sql = f"(CAST({a.sql} AS DECIMAL(38,{a.s})) * {b.sql})"
                    return self.binary(op, a, b, level, "dec", sql, p=p, s=s)
            else:
                s = max(a.s, b.s)
                p, level = max(a.p - a.s, b.p - b.s) + s + 1, ADD
            return self.binary(op, a, b, level, "dec", p=p, s=s) if p <= 38 else a
        if pick < 0.6 and a.p <= 17:
            i = self.typed("i", 0)
            s, whole = a.s, max(a.p - a.s, 19)
            if i.literal or whole + s + 1 > 38:
                return a
            if i.hac.isidentifier() or i.hac.startswith('"'):  # a column: its own digits, which vary; say which
                i = Expr(f"cast({i.hac} as i64)", i.sql, "i")
            elif i.level == ATOM:  # a call, which may be of a narrower type
                return a
            op = rng.choice("+-")
            return self.binary(op, a, i, ADD, "dec", f"({a.sql} {op} CAST({i.sql} AS DECIMAL(19,0)))",
                               p=whole + s + 1, s=s)
        if pick < 0.75 and not a.literal:
            if rng.random() < 0.5:
                return self.call("abs", (a,), "dec", f"abs({a.sql})", p=a.p, s=a.s)
            return Expr(f"-{self.at(a, ATOM)}", f"(-{a.sql})", "dec", UNARY, p=a.p, s=a.s)
        if pick < 0.9 and 0 < a.s and a.p < 36 and not a.literal:
            name = rng.choice(("floor", "ceil", "trunc", "round"))
            return self.call(name, (a,), "dec", f"{name}({a.sql})", p=max(a.p - a.s + 1, 1), s=0)
        if a.p - a.s + 4 <= 30:
            p, s = a.p - a.s + 4, rng.randint(0, 3)
            return Expr(f"cast({a.hac} as decimal({p},{s}))", f"CAST({a.sql} AS DECIMAL({p},{s}))", "dec", p=p, s=s)
        return a

    # ---- conditions ----

    def gen_b(self, depth):
        rng, pick = self.rng, self.rng.random()
        if depth > 0 and pick < 0.3:
            self.lazy = True
            a, b = self.gen_b(depth - 1), self.gen_b(depth - 1)
            op = rng.choice(("and", "or"))
            return self.binary(op, a, b, AND if op == "and" else OR, "b")
        if depth > 0 and pick < 0.36:
            a = self.gen_b(depth - 1)
            return Expr(f"not {self.at(a, NOT)}", f"(NOT {a.sql})", "b", NOT)
        if pick < 0.45:
            a = rng.choice(self.scope.atoms)
            word = rng.choice(("is null", "is not null"))
            return Expr(f"{self.at(a, COMPARE + 1)} {word}", f"({a.sql} {word})", "b", COMPARE)
        if pick < 0.6 and not self.plain:
            return self.text_condition(depth)
        if pick < 0.7:
            return self.list_condition()
        return self.comparison(depth)

    def text_condition(self, depth):
        rng = self.rng
        a = self.expr("s", depth - 1)
        if rng.random() < 0.5:
            pattern = "".join(rng.choice(("%", "_", "a", "b", "c", "ä", " ", ",", "z", "%a"))
                              for _ in range(rng.randint(0, 4)))
            word = rng.choice(("like", "not like"))
            return Expr(f"{self.at(a, COMPARE + 1)} {word} {quoted(pattern)}", f"({a.sql} {word} {quoted(pattern)})", "b",
                        COMPARE)
        if rng.random() < 0.3:
            a, b = self.typed("y", depth - 1), self.expr("y", 0)
            name = rng.choice(("starts_with", "ends_with"))
            return self.call(name, (a, b), "b", f"{name}(hex({a.sql}), hex({b.sql}))")
        b = self.expr("s", 0)
        name = rng.choice(("starts_with", "ends_with", "contains"))
        return self.call(name, (a, b), "b", f"{name}({a.sql}, {b.sql})")

    def list_condition(self):
        rng = self.rng
        kind = rng.choice(("i", "u", "d", "f64") if self.plain else ("i", "u", "s", "d", "f64", "y"))
        a = self.scope.pick(rng, kind, False)
        if a is None or a.scale:
            a = self.atom("i")
            kind = "i"
        values = [self.beside_bytes(self.literal("i" if kind == "u" else kind)) for _ in range(rng.randint(1, 5))]
        sql = f"CAST({a.sql} AS HUGEINT)" if kind == "u" else a.sql
        word = rng.choice(("in", "in", "not in"))
        null = rng.random() < 0.1
        return Expr(f"{self.at(a, COMPARE + 1)} {word} ({', '.join([v.hac for v in values] + ['null'] * null)})",
                    f"({sql} {word} ({', '.join([v.sql for v in values] + ['NULL'] * null)}))", "b", COMPARE)

    def beside_bytes(self, e):
        """A text literal in place of one of bytes."""
        if not (e.literal and e.kind == "y" and self.rng.random() < 0.3):
            return e
        text = self.text_literal()
        return replace(text, sql=f"encode({text.sql})", kind="y")

    def comparison(self, depth):
        rng = self.rng
        kinds = rng.choice((("i", "i"), ("i", "i"), ("i", "u"), ("u", "u"), ("f64", "f64"), ("f32", "f32"),
                            ("f32", "f64"), ("i", "f64"), ("dec", "dec"), ("dec", "i"), ("dec", "f64"), ("s", "s"),
                            ("b", "b"), ("d", "d"), ("d", "t"), ("t", "t"), ("y", "y")))
        while self.plain and set(kinds) & {"dec", "s", "y"}:
            kinds = rng.choice((("i", "i"), ("i", "u"), ("d", "d"), ("f64", "f64"), ("i", "f64")))
        a, b = (self.any_or(kind, depth) for kind in rng.sample(kinds, 2))
        if a.scale or b.scale:
            a = b = self.atom("i")
        if (a.literal and b.literal) or not self.comparable_exactly(a, b):
            a, b = self.atom("i"), self.atom("i")
        a, b = self.beside_bytes(a), self.beside_bytes(b)
        x, y = self.comparable(a, b)
        op = rng.choice(("=", "<>", "<", "<=", ">", ">=", "==", "!="))
        if rng.random() < 0.1 and a.kind == b.kind:
            word = rng.choice(("between", "not between"))
            return Expr(f"{self.at(a, ADD)} {word} {self.at(b, ADD)} and {self.at(b, ADD)}",
                        f"({x} {word} {y} AND {y})", "b", COMPARE)
        return self.binary(op, a, b, COMPARE, "b", f"({x} {op} {y})")

    def any_or(self, kind, depth):
        """As often a column with extreme values as an expression of small ones."""
        found = self.scope.pick(self.rng, kind, False)
        return found if found is not None and self.rng.random() < 0.5 else self.expr(kind, depth - 1)

    @staticmethod
    def comparable_exactly(a, b):
        """By DuckDB, too, when a decimal is one of them."""
        if "dec" not in (a.kind, b.kind):
            return True
        if a.kind[0] == "f" or b.kind[0] == "f":
            return max(a.p, b.p) <= 15
        return max(a.s, b.s) + max((e.p - e.s if e.kind == "dec" else 20) for e in (a, b)) <= 38

    @staticmethod
    def comparable(a, b):
        kinds = {a.kind, b.kind}
        if kinds == {"i", "u"}:
            return f"CAST({a.sql} AS HUGEINT)", f"CAST({b.sql} AS HUGEINT)"
        if kinds == {"d", "t"}:
            return f"CAST({a.sql} AS TIMESTAMP)", f"CAST({b.sql} AS TIMESTAMP)"
        if "dec" in kinds and kinds <= {"dec", "i", "u"}:
            return (f"CAST({e.sql} AS DECIMAL(38,{max(a.s, b.s)}))" for e in (a, b))
        if kinds & {"f32", "f64"} and len(kinds) > 1:
            return f"CAST({a.sql} AS DOUBLE)", f"CAST({b.sql} AS DOUBLE)"
        return a.sql, b.sql

    # ---- texts, bytes, dates ----

    def gen_y(self, depth):
        a = self.typed("s", depth - 1)
        return Expr(f"cast({a.hac} as bytes)", f"encode({a.sql})", "y")

    def gen_s(self, depth):
        rng, pick = self.rng, self.rng.random()
        if pick < 0.2:
            a, b = self.expr("s", depth - 1), self.expr("s", depth - 1)
            return self.binary("||", a, b, CONCAT, "s")
        if pick < 0.3:
            a, b = self.expr("s", depth - 1), self.expr("s", 0)
            return self.call("concat", (a, b), "s", f"concat({a.sql}, {b.sql})")
        if pick < 0.5:
            a = self.expr("s", depth - 1)
            name = rng.choice(("lower", "upper"))
            return self.call(name, (a,), "s", f"{name}({a.sql})")
        if pick < 0.6:
            a = self.expr("s", depth - 1)
            name = rng.choice(("trim", "ltrim", "rtrim"))
            return self.call(name, (a,), "s", f"{name}({a.sql}, ' \t\n\v\f\r')")
        if pick < 0.75:
            a, first, count = self.expr("s", depth - 1), rng.randint(1, 5), rng.randint(0, 5)
            if rng.random() < 0.5:
                return Expr(f"substr({a.hac}, {first})", f"substr({a.sql}, {first})", "s")
            return Expr(f"substr({a.hac}, {first}, {count})", f"substr({a.sql}, {first}, {count})", "s")
        if pick < 0.85:
            a, b, c = self.expr("s", depth - 1), self.expr("s", 0), self.expr("s", 0)
            return self.call("replace", (a, b, c), "s", f"replace({a.sql}, {b.sql}, {c.sql})")
        kind = rng.choice(("i", "u", "b", "d", "dec", "t"))
        a = self.typed(kind, depth - 1)
        sql = f"CAST({a.sql} AS VARCHAR)"
        if kind == "t":  # all six digits of a fraction
            sql = f"(CASE WHEN contains({sql}, '.') THEN rpad({sql}, 26, '0') ELSE {sql} END)"
        if a.literal or (a.kind == "dec" and a.p == a.s):  # DuckDB writes .5 then
            return self.atom("s")
        return Expr(f"cast({a.hac} as string)", sql, "s")

    def gen_d(self, depth):
        rng, pick = self.rng, self.rng.random()
        a = self.expr("d", depth - 1)
        if pick < 0.3 and a.mild and not a.literal:
            n = rng.randint(-400, 400)
            op = rng.choice("+-")
            n = abs(n)
            return self.binary(op, a, Expr(str(n), str(n), "i", literal=True), ADD, "d", f"({a.sql} {op} {n})")
        if pick < 0.5:
            unit = rng.choice(("year", "quarter", "month", "week"))
            if unit != "week" or a.mild:
                sql = f"CAST(date_trunc('{unit}', {a.sql}) AS DATE)"
                return Expr(f"date_trunc('{unit}', {a.hac})", sql, "d", mild=a.mild)
        if pick < 0.7 and a.mild:
            n = rng.randint(-30, 30)
            return Expr(f"add_months({a.hac}, {n})", f"CAST({a.sql} + to_months({n}) AS DATE)", "d")
        t = self.expr("t", depth - 1)
        return Expr(f"cast({t.hac} as date)", f"CAST({t.sql} AS DATE)", "d", mild=t.mild)

    def gen_t(self, depth):
        rng = self.rng
        if rng.random() < 0.4:
            d = self.expr("d", depth - 1)
            return Expr(f"cast({d.hac} as timestamp)", f"CAST({d.sql} AS TIMESTAMP)", "t", mild=d.mild)
        t = self.expr("t", depth - 1)
        unit = rng.choice(("year", "quarter", "month", "day", "hour", "minute", "second"))
        return Expr(f"date_trunc('{unit}', {t.hac})", f"date_trunc('{unit}', {t.sql})", "t", mild=t.mild)

    # ---- aggregates ----

    def aggregate(self):
        rng = self.rng
        if self.plain:
            return self.plain_aggregate()
        name = rng.choice(("count", "count()", "count distinct", "sum", "sum", "sum", "min", "max", "avg", "variance",
                           "stddev", "var_pop", "stddev_pop", "first", "last", "arg_min", "arg_max"))
        if name == "count()":
            return Expr(rng.choice(("count()", "count(*)")), "count(*)", "i")
        if name == "sum":
            return self.sum_of()
        if name in ("avg", "variance", "stddev", "var_pop", "stddev_pop"):
            return self.moment(name)
        if name in ("arg_min", "arg_max"):
            return self.pair(name)
        kind = rng.choice(ORDERED)
        a = self.any_or(kind, 2)
        if a.scale or a.literal:
            a = self.atom("i")
        if a.literal:
            return Expr("count()", "count(*)", "i")
        if name == "count":
            return self.call("count", (a,), "i", f"count({a.sql})")
        if name == "count distinct":
            inner = f"({a.hac})" if a.hac.startswith(("-", "not ")) else a.hac  # `distinct - x` could be a difference
            hac = rng.choice((f"count(distinct {inner})", f"count_distinct({a.hac})"))
            return Expr(hac, f"count(DISTINCT {a.sql})", "i")
        sql = f"{name}({a.sql})" if name in ("min", "max") else \
            f"{name}({a.sql} ORDER BY rid) FILTER (WHERE {a.sql} IS NOT NULL)"
        return self.call(name, (a,), a.kind, sql, p=a.p, s=a.s, wide=a.wide, mild=a.mild)

    def pair(self, name):
        """DuckDB's arg_min takes any of ties."""
        a, b = (self.any_or(self.rng.choice(("i", "u", "b", "d", "t", "s", "dec", "y")), 1) for _ in range(2))
        if a.scale or a.literal or b.scale or b.literal:
            a = b = self.atom("i")
        if a.literal:
            return Expr("count()", "count(*)", "i")
        order = "ASC" if name == "arg_min" else "DESC"
        sql = f"first({a.sql} ORDER BY {b.sql} {order}, {a.sql} ASC) FILTER (WHERE {a.sql} IS NOT NULL AND {b.sql} IS NOT NULL)"
        return self.call(name, (a, b), a.kind, sql, p=a.p, s=a.s, wide=a.wide, mild=a.mild)

    def plain_aggregate(self):
        """One whose result is the same in every order of the rows."""
        name = self.rng.choice(("count", "sum", "sum", "min", "max"))
        a = self.typed(self.rng.choice(("i", "i", "u")) if name == "sum" else self.rng.choice(PLAIN), 2)
        if a.literal:
            return Expr("count()", "count(*)", "i")
        if name == "sum":
            return self.call("sum", (a,), a.kind, f"CAST(sum({a.sql}) AS {SQL_OF_KIND[a.kind]})", wide=a.kind == "u")
        return self.call(name, (a,), "i" if name == "count" else a.kind, f"{name}({a.sql})", wide=a.wide, mild=a.mild)

    def sum_of(self):
        kind = self.rng.choice(("i", "i", "u", "f64", "f64", "f32", "dec"))
        a = self.typed(kind, 2)
        if a.literal:
            a = self.typed("i", 1)
        if a.kind in "iu":
            return self.call("sum", (a,), a.kind, f"CAST(sum({a.sql}) AS {SQL_OF_KIND[a.kind]})", wide=a.kind == "u")
        if a.kind == "dec":
            return self.call("sum", (a,), "dec", f"sum({a.sql})", p=38, s=a.s)
        sql = f"CAST({a.sql} AS DOUBLE)"
        scale = "" if a.sums and self.table.rows < 2**20 else f"sum(abs({a.scale or sql}))"
        return self.call("sum", (a,), "f64", f"sum({sql})", scale=scale)

    def moment(self, name):
        kind = self.rng.choice(("i", "u", "f64", "f32", "dec"))
        a = self.typed(kind, 1)
        if a.scale or a.literal:
            a = self.atom("i")
        sql = f"CAST({a.sql} AS DOUBLE)"
        if name == "avg":
            return self.call("avg", (a,), "f64", f"avg({a.sql if a.kind != 'f32' else sql})", scale=f"avg(abs({sql}))")
        sql_name = {"variance": "var_samp", "stddev": "stddev_samp"}.get(name, name)
        scale = f"1e2 * max({sql} * {sql})" if name.startswith("var") else f"1e5 * max(abs({sql}))"
        return self.call(name, (a,), "f64", f"{sql_name}({sql})", scale=scale)


@dataclass
class Query:
    options: list  # of hacctl
    sql: str  # SELECT: outputs as text, then one number for each that is not exact, then what orders
    kinds: list
    scales: list  # of each output the column of `sql` with its magnitude, None: exact
    order: list  # pairs (output, descending)
    limit: object
    lazy: bool


def shown(e):
    if e.kind == "y":
        return f"lower(hex({e.sql}))"
    return e.sql if e.kind == "s" else f"CAST({e.sql} AS VARCHAR)"


def constant(e):
    return not re.search(r"\b(c\d+|k\d+|rid)\b|count\(\*\)", e.sql)


def order_of(rng, outputs):
    candidates = [i for i, e in enumerate(outputs) if not e.scale]
    if not candidates or rng.random() < 0.5:
        return []
    return [(i, rng.random() < 0.4) for i in rng.sample(candidates, rng.randint(1, min(3, len(candidates))))]


def finish(rng, generator, options, outputs, names, source, group):
    """The query of these outputs: SQL, order by and limit."""
    order, limit = order_of(rng, outputs), None
    if order:
        words = []
        for i, descending in order:
            named = constant(outputs[i]) or rng.random() < 0.7  # a constant that is written out is refused
            text = names[i] if named else outputs[i].hac
            words.append(text + (rng.choice((" desc", " DESC")) if descending else rng.choice(("", " asc"))))
        options += ["--order-by", ", ".join(words)]
    if rng.random() < 0.3:
        limit = rng.choice((0, 1, 2, 5, 10, 1000, 10**12))
        options += ["--limit", str(limit)]
    scales, extra = [], []
    for e in outputs:
        scales.append(len(outputs) + len(extra) if e.scale else None)
        if e.scale:
            extra.append(f"CAST({e.scale} AS DOUBLE)")
    sql = f"SELECT {', '.join([shown(e) for e in outputs] + extra)} FROM {source}{group}"
    if order:
        sql += " ORDER BY " + ", ".join(f"{outputs[i].sql} {'DESC' if d else 'ASC'} NULLS LAST" for i, d in order)
    return Query(options, sql, [e.kind for e in outputs], scales, order, limit, generator.lazy)


def aliased(rng, items, first=0):
    names = [rng.choice((f"o{first + i}", f'"o {first + i}"')) for i in range(len(items))]
    return names, ", ".join(f"{e.hac} as {name}" for e, name in zip(items, names))


def row_query(rng, generator):
    condition = generator.gen_b(2) if rng.random() < 0.7 else None
    outputs = []
    for _ in range(rng.randint(1, 5)):
        kind = rng.choice(ORDERED)
        e = generator.any_or(kind, 3)
        if kind == "f64" and not e.scale and rng.random() < 0.2:
            e = generator.inexact(e)
        outputs.append(e)
    names, select = aliased(rng, outputs)
    options = (["--where", condition.hac] if condition else []) + ["--select", select]
    source = "t" if condition is None else f"(SELECT * FROM t WHERE {condition.sql})"
    return finish(rng, generator, options, outputs, names, source, "")


def group_query(rng, generator):
    condition = generator.gen_b(2) if rng.random() < 0.5 else None
    options = ["--where", condition.hac] if condition else []
    keys = []
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3))):
        e = generator.any_or(rng.choice(PLAIN if generator.plain else ORDERED), 1)
        if not constant(e) and not e.scale and all(k.hac != e.hac and k.sql != e.sql for k in keys):
            keys.append(e)
    atoms = [generator.aggregate() for _ in range(rng.randint(1, 6))]
    inner = [f"{e.sql} AS k{i}" for i, e in enumerate(keys)]
    # A float key only stands for itself: 0.0 and -0.0 are one group, and which of them it shows is unspecified.
    final_keys = [replace(e, sql=f"k{i}") for i, e in enumerate(keys)]
    usable = [k for k in final_keys if k.kind not in ("f32", "f64")]
    generator.scope = Scope(atoms + usable)
    items = []
    for _ in range(rng.randint(1, 5)):
        items.append(rng.choice(atoms) if rng.random() < 0.6 else final_item(rng, generator, atoms))
    generator.scope = generator.row_scope
    bare = rng.random() < 0.4
    if bare:  # selecting a key again would only give it another name
        items = [e for e in items if e not in final_keys] or atoms[:1]
    key_names, group_by = aliased(rng, keys)
    names, select = aliased(rng, items, len(keys))
    if keys:
        options += ["--group-by", ", ".join(e.hac for e in keys) if bare else group_by]
        if bare:
            key_names = [e.hac for e in keys]
    options += ["--select", select]
    outputs = final_keys + items
    source = f"(SELECT *, {', '.join(inner)} FROM t" if keys else "(SELECT * FROM t"
    source += f" WHERE {condition.sql})" if condition else ")"
    group = " GROUP BY " + ", ".join(k.sql for k in final_keys) if keys else ""
    return finish(rng, generator, options, outputs, key_names + names, source, group)


def final_item(rng, generator, atoms):
    """An expression over aggregates and keys, of kinds that aggregates have."""
    e = rng.choice(atoms)
    if e.kind in ("i", "f64", "dec", "s", "d"):
        e = generator.expr(e.kind, 2)
    return e if not e.literal else rng.choice(atoms)


def random_query(rng, table, wanted=lambda column: True, plain=False):
    """From the wanted columns; first and last go by the column rid, which need not be one of them. Plain:
    groups, with what the device kernels can do."""
    generator = Generator(rng, table, wanted, plain)
    if plain:
        generator.row_scope.atoms[:] = [a for a in generator.row_scope.atoms if a.kind in PLAIN]
        return group_query(rng, generator)
    return row_query(rng, generator) if rng.random() < 0.35 else group_query(rng, generator)
