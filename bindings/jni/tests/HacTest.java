/* SPDX-License-Identifier: Apache-2.0 */

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import org.hac.HacClient;
import org.hac.HacColumn;
import org.hac.HacException;
import org.hac.HacOpsplit;
import org.hac.HacQuery;
import org.hac.HacResult;
import org.hac.HacSort;
import org.hac.HacTable;
import org.hac.HacType;
import org.hac.InternalsTest;

/**
 * Tests of org.hac against a running hacd, started by tests/integration/jni_test.py. Names of tests are arguments;
 * "print" and "groups" print results for a comparison elsewhere, "print" as many as there are queries, with "--" between
 * them.
 */
public final class HacTest {
    private interface Body {
        void run() throws Exception;
    }

    private static HacClient client;

    private HacTest() {}

    public static void main(String[] args) throws Exception {
        client = HacClient.connect();
        switch (args[0]) {
        case "print":
            printQueries(Arrays.asList(args).subList(1, args.length));
            break;
        case "groups":
            printGroups(Path.of(args[1]), query(Arrays.asList(args).subList(2, args.length)));
            break;
        case "convert":
            client.convert(new HacQuery().select("*").orderBy("n"), Path.of(args[2]), Path.of(args[1]));
            break;
        case "opsplit":
            client.opsplit(new HacOpsplit(Path.of(args[1])).input(args[2], Path.of(args[3])).output(Path.of(args[4])));
            break;
        default:
            for (String name : args)
                test(name);
        }
        client.close();
    }

    private static void test(String name) throws Exception {
        switch (name) {
        case "internals":
            InternalsTest.testMemory();
            InternalsTest.testJson();
            break;
        case "types":
            testTypes();
            break;
        case "text":
            testText();
            break;
        case "errors":
            testErrors();
            break;
        case "tables":
            testTables();
            break;
        case "sorts":
            testSorts();
            break;
        case "closing":
            testClosing();
            break;
        case "serial":
            testSerial();
            break;
        case "questions":
            testQuestions();
            break;
        case "interrupt":
            testInterrupt();
            break;
        case "runs":
            testRuns();
            break;
        case "threads":
            testThreads();
            break;
        case "leaks":
            testLeaks();
            break;
        default:
            throw new AssertionError("no test is called " + name);
        }
        System.out.println("passed " + name);
    }

    // ---- runs of logic files, and files that are written ----

    private static void testRuns() throws Exception {
        Path folder = Files.createTempDirectory("hac-runs");
        Path endless = folder.resolve("endless.yaml"), wrong = folder.resolve("wrong.yaml"), csv = folder.resolve("a.csv");
        Files.write(endless, ("name: endless\nvectors: {x: {template: FixValueVector, type: f64, value: 1, rows: 500}}\n"
            + "operators:\n  - while: {condition: \"all > 0\", rounds: 100000000}\n    do:\n"
            + "      - map: {expr: \"x * 1.0\", out: x}\n      - reduce: {in: x, function: sum, out: all}\n"
            + "outputs: {x: {columns: {x: x}}}\n").getBytes(StandardCharsets.UTF_8));
        Files.write(wrong, "name: wrong\n".getBytes(StandardCharsets.UTF_8));
        Files.write(csv, "n,s\n1,a\n".getBytes(StandardCharsets.UTF_8));
        refusedRun(new HacOpsplit(wrong), HacException.Code.INVALID, "wrong.yaml");
        refusedRun(new HacOpsplit(folder.resolve("none.yaml")), HacException.Code.NOT_FOUND, "none.yaml");
        refusedRun(new HacOpsplit(endless).input("no", csv), HacException.Code.INVALID, "no");
        refusedRun(new HacOpsplit(endless).devices("nothing"), HacException.Code.INVALID, "nothing");
        Thread self = Thread.currentThread();
        Thread other = new Thread(() -> {
            try {
                Thread.sleep(500);
            } catch (InterruptedException e) {
                return;
            }
            self.interrupt();
        });
        other.start();
        refusedRun(new HacOpsplit(endless), HacException.Code.CANCELLED, "interrupted");
        check(Thread.interrupted(), "the thread is still interrupted");
        other.join();
        Path out = folder.resolve("out.parquet");
        Files.write(out, new byte[] {1});
        client.convert(new HacQuery().select("*"), out, csv);
        check(client.rowGroups(out) == 1, "a file that existed is replaced");
        try {
            client.convert(new HacQuery().select("none"), out, csv);
            throw new AssertionError("a wrong query");
        } catch (HacException e) {
            check(e.code() == HacException.Code.INVALID, e.toString());
        }
        try {
            client.convert(new HacQuery().select("*"), folder.resolve("none/out.parquet"), csv);
            throw new AssertionError("no folder");
        } catch (IOException e) {
            check(e.getMessage().contains("none"), e.toString());
        }
        for (Path file : new Path[] {endless, wrong, csv, out})
            Files.delete(file);
        Files.delete(folder); // nothing else is left in it
    }

    private static void refusedRun(HacOpsplit run, HacException.Code code, String says) {
        try {
            client.opsplit(run);
        } catch (HacException e) {
            check(e.code() == code && e.getMessage().contains(says), e.code() + " " + e.getMessage());
            return;
        }
        throw new AssertionError("ran: " + says);
    }

    // ---- sorts, beside java.util.Arrays ----

    private static void testSorts() {
        Random random = new Random(5);
        for (int n : new int[] {0, 1, 1000, 300000}) {
            ByteBuffer keys = ByteBuffer.allocateDirect(8 * n).order(ByteOrder.nativeOrder());
            long[] wanted = random.longs(n).toArray();
            keys.asLongBuffer().put(wanted);
            long[] got = new long[n], down = new long[n];
            client.sort(new HacSort(HacSort.Type.I64), keys).asLongBuffer().get(got);
            client.sort(new HacSort(HacSort.Type.I64).descending().algorithm(HacSort.Algorithm.RADIX), keys).asLongBuffer().get(down);
            int[] order = new int[n];
            client.sort(new HacSort(HacSort.Type.I64).argsort().devices("cpu"), keys).asIntBuffer().get(order);
            for (int i = 1; i < n; i++)
                check(wanted[order[i - 1]] <= wanted[order[i]], "argsort " + n);
            Arrays.sort(wanted);
            check(Arrays.equals(got, wanted), "sort of " + n);
            for (int i = 0; i < n; i++)
                check(down[i] == wanted[n - 1 - i], "descending " + n);
        }
        ByteBuffer floats = ByteBuffer.allocateDirect(20).order(ByteOrder.nativeOrder());
        floats.asFloatBuffer().put(new float[] {Float.NaN, 1, 0.0f, -0.0f, Float.NEGATIVE_INFINITY});
        float[] sorted = new float[4];
        client.sort(new HacSort(HacSort.Type.F32), floats.position(4)).asFloatBuffer().get(sorted);
        check(Arrays.equals(sorted, new float[] {Float.NEGATIVE_INFINITY, -0.0f, 0.0f, 1}), "floats");
        floats.rewind();
        refusedSort(new HacSort(HacSort.Type.I64), floats, "no whole number of keys");
        refusedSort(new HacSort(HacSort.Type.I32), ByteBuffer.allocate(8), "no direct buffer");
        refusedSort(new HacSort(HacSort.Type.I32).devices("nothing"), floats, "nothing");
        refusedSort(new HacSort(HacSort.Type.I32).priority(1000), floats, "priority");
    }

    private static void refusedSort(HacSort sort, ByteBuffer keys, String says) {
        try {
            client.sort(sort, keys);
        } catch (IllegalArgumentException | HacException e) {
            check(e.getMessage().contains(says), e.getMessage());
            return;
        }
        throw new AssertionError("not refused: " + says);
    }

    // ---- for comparisons elsewhere ----

    private static Path[] files(String list) {
        return List.of(list.split(":")).stream().map(Path::of).toArray(Path[] ::new);
    }

    /** file, option, value, …, "--", file, … */
    private static void printQueries(List<String> words) {
        int end = words.indexOf("--");
        List<String> first = end < 0 ? words : words.subList(0, end);
        try (HacResult result = client.query(query(first.subList(1, first.size())), files(first.get(0)))) {
            print(result);
        }
        if (end < 0)
            return;
        System.out.println("--");
        printQueries(words.subList(end + 1, words.size()));
    }

    /** option, value, … */
    private static HacQuery query(List<String> words) {
        HacQuery query = new HacQuery();
        for (int at = 0; at + 1 < words.size(); at += 2) {
            String value = words.get(at + 1);
            switch (words.get(at)) {
            case "schema":
                query.schema(value);
                break;
            case "where":
                query.where(value);
                break;
            case "group-by":
                query.groupBy(value);
                break;
            case "select":
                query.select(value);
                break;
            case "order-by":
                query.orderBy(value);
                break;
            case "limit":
                query.limit(Long.parseLong(value));
                break;
            case "format":
                query.format(HacQuery.Format.valueOf(value));
                break;
            default:
                throw new IllegalArgumentException(words.get(at));
            }
        }
        return query;
    }

    /** A line of names and types, then a line a row; texts in hex, floats with all their bits. */
    private static void print(HacResult result) {
        StringBuilder out = new StringBuilder();
        for (HacColumn column : result.columns())
            out.append(column).append('\t');
        out.append('\n');
        for (long row = 0; row < result.rows(); row++) {
            for (HacColumn column : result.columns())
                out.append(show(column, row)).append('\t');
            out.append('\n');
        }
        System.out.print(out);
    }

    private static String show(HacColumn column, long row) {
        Object value = column.get(row);
        if (value == null)
            return "null";
        switch (column.type().kind()) {
        case F32:
        case F64:
            return Double.toHexString(((Number) value).doubleValue());
        case STRING:
        case BYTES:
            return new BigInteger(1, concat((byte) 1, column.getBytes(row))).toString(16).substring(1);
        case TIMESTAMP:
            return Long.toString(column.getLong(row));
        case DECIMAL:
            return ((BigDecimal) value).toPlainString();
        default:
            return value.toString();
        }
    }

    private static byte[] concat(byte first, byte[] rest) {
        return ByteBuffer.allocate(rest.length + 1).put(first).put(rest).array();
    }

    private static void printGroups(Path file, HacQuery query) {
        System.out.println(client.rowGroups(file) + " row groups");
        for (Iterator<HacResult> groups = client.byRowGroup(query, file); groups.hasNext();)
            try (HacResult result = groups.next()) {
                print(result);
            }
    }

    // ---- checks ----

    private static void check(boolean good, String what) {
        if (!good)
            throw new AssertionError(what);
    }

    private static void equal(Object got, Object wanted, String what) {
        check(Objects.deepEquals(got, wanted), what + ": " + got + ", wanted: " + wanted);
    }

    private static void fails(HacException.Code code, String words, Body body) throws Exception {
        try {
            body.run();
        } catch (HacException e) {
            equal(e.code(), code, e.getMessage());
            check(e.getMessage().contains(words), "\"" + e.getMessage() + "\" has no \"" + words + "\"");
            return;
        }
        throw new AssertionError("no HacException: " + words);
    }

    private static void refuses(Class<? extends RuntimeException> type, Body body) throws Exception {
        try {
            body.run();
        } catch (RuntimeException e) {
            check(e.getClass() == type, e + ", wanted: " + type);
            return;
        }
        throw new AssertionError("no " + type);
    }

    // ---- every type, there and back ----

    private static final HacType[] TYPES = {
        HacType.BOOL, HacType.I8, HacType.I16, HacType.I32, HacType.I64, HacType.U8, HacType.U16, HacType.U32,
        HacType.U64, HacType.F32, HacType.F64, HacType.DATE, HacType.TIMESTAMP, HacType.decimal(9, 2),
        HacType.decimal(18, 0), HacType.decimal(38, 10), HacType.STRING, HacType.BYTES};

    /** What a row should be read as, made with the column that is sent. */
    private static Object[] fill(HacTable table, String name, HacType type, int rows, boolean nulls, Random random) {
        Object[] wanted = new Object[rows];
        int width = width(type);
        ByteBuffer values = direct(width > 0 ? rows * width : isText(type) ? 4 * rows + 4 : bits(rows));
        ByteBuffer validity = nulls ? direct(bits(rows)) : null;
        ByteArrayOutputStream texts = new ByteArrayOutputStream();
        for (int row = 0; row < rows; row++) {
            boolean is = !nulls || random.nextInt(3) != 0;
            if (nulls && is)
                setBit(validity, row);
            Object value = isText(type) ? text(type, row, values, texts, random) : put(type, values, row, random);
            wanted[row] = is ? value : null;
        }
        if (isText(type)) {
            ByteBuffer bytes = direct(texts.size());
            bytes.put(texts.toByteArray()).flip();
            values.putInt(4 * rows, texts.size());
            table.add(name, type, values, bytes, validity);
        } else {
            table.add(name, type, values, validity);
        }
        return wanted;
    }

    private static boolean isText(HacType type) {
        return type.kind() == HacType.Kind.STRING || type.kind() == HacType.Kind.BYTES;
    }

    private static int width(HacType type) {
        switch (type.kind()) {
        case BOOL:
        case STRING:
        case BYTES:
            return 0;
        case I8:
        case U8:
            return 1;
        case I16:
        case U16:
            return 2;
        case I32:
        case U32:
        case F32:
        case DATE:
            return 4;
        case DECIMAL:
            return 16;
        default:
            return 8;
        }
    }

    private static ByteBuffer direct(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    private static int bits(int rows) {
        return (rows + 7) / 8;
    }

    private static void setBit(ByteBuffer bits, int row) {
        bits.put(row / 8, (byte) (bits.get(row / 8) | 1 << row % 8));
    }

    private static Object text(HacType type, int row, ByteBuffer offsets, ByteArrayOutputStream texts, Random random) {
        String[] some = {"", "a", "Zürich", "東京", "\uD83D\uDE00", "a longer text, with \"quotes\" and\nlines", "\t"};
        String text = some[random.nextInt(some.length)].repeat(random.nextInt(3));
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (type.kind() == HacType.Kind.BYTES)
            random.nextBytes(bytes);
        offsets.putInt(4 * row, texts.size());
        texts.write(bytes, 0, bytes.length);
        return type.kind() == HacType.Kind.BYTES ? bytes : text;
    }

    private static Object put(HacType type, ByteBuffer values, int row, Random random) {
        long bits = random.nextInt(4) == 0 ? -random.nextInt(2) : random.nextLong();
        switch (type.kind()) {
        case BOOL:
            if ((bits & 1) != 0)
                setBit(values, row);
            return (bits & 1) != 0;
        case I8:
            values.put(row, (byte) bits);
            return (long) (byte) bits;
        case U8:
            values.put(row, (byte) bits);
            return bits & 0xff;
        case I16:
            values.putShort(2 * row, (short) bits);
            return (long) (short) bits;
        case U16:
            values.putShort(2 * row, (short) bits);
            return bits & 0xffff;
        case I32:
            values.putInt(4 * row, (int) bits);
            return (long) (int) bits;
        case U32:
            values.putInt(4 * row, (int) bits);
            return bits & 0xffffffffL;
        case U64:
            values.putLong(8 * row, bits);
            return new BigInteger(Long.toUnsignedString(bits));
        case F32:
            values.putFloat(4 * row, (float) random.nextGaussian());
            return values.getFloat(4 * row);
        case F64:
            values.putDouble(8 * row, random.nextGaussian());
            return values.getDouble(8 * row);
        case DATE:
            values.putInt(4 * row, (int) (bits % 100000));
            return LocalDate.ofEpochDay((int) (bits % 100000));
        case TIMESTAMP:
            values.putLong(8 * row, bits % 4_000_000_000_000_000L);
            return Instant.EPOCH.plus(bits % 4_000_000_000_000_000L, ChronoUnit.MICROS);
        case DECIMAL:
            return putDecimal(type, values, row, random);
        default:
            values.putLong(8 * row, bits);
            return bits;
        }
    }

    private static BigDecimal putDecimal(HacType type, ByteBuffer values, int row, Random random) {
        BigInteger value = new BigInteger(126, random).mod(BigInteger.TEN.pow(1 + random.nextInt(type.precision())));
        value = random.nextBoolean() ? value.negate() : value;
        values.putLong(16 * row, value.longValue());
        values.putLong(16 * row + 8, value.shiftRight(64).longValue());
        return new BigDecimal(value, type.scale());
    }

    private static void testTypes() throws Exception {
        Random random = new Random(1);
        for (int rows : new int[] {0, 1, 7, 8, 9, 63, 64, 65, 1023, 1024, 1025, 9000})
            for (int nulls = 0; nulls < 2; nulls++) {
                HacTable table = new HacTable(rows);
                Object[][] wanted = new Object[TYPES.length][];
                for (int i = 0; i < TYPES.length; i++)
                    wanted[i] = fill(table, "c" + i, TYPES[i], rows, nulls != 0, random);
                try (HacResult result = client.query(new HacQuery().select("*"), table)) {
                    equal(result.rows(), (long) rows, "rows");
                    for (int i = 0; i < TYPES.length; i++)
                        compare(result.column("c" + i), TYPES[i], wanted[i]);
                }
            }
    }

    private static void compare(HacColumn column, HacType type, Object[] wanted) throws Exception {
        equal(column.type(), type, column.name());
        equal(column.rows(), (long) wanted.length, "rows of " + column);
        for (int row = 0; row < wanted.length; row++) {
            equal(column.get(row), wanted[row], "row " + row + " of " + column);
            equal(column.isNull(row), wanted[row] == null, "null in row " + row + " of " + column);
        }
        refuses(IndexOutOfBoundsException.class, () -> column.isNull(wanted.length));
        refuses(IndexOutOfBoundsException.class, () -> column.get(-1));
        compareBuffers(column, wanted);
    }

    /** The raw buffers say the same as the getters. */
    private static void compareBuffers(HacColumn column, Object[] wanted) throws Exception {
        ByteBuffer validity = column.validity();
        for (int row = 0; row < wanted.length && validity != null; row++)
            equal((validity.get(row / 8) >> row % 8 & 1) == 0, wanted[row] == null, "bit " + row + " of " + column);
        if (isText(column.type())) {
            equal(column.offsets().remaining(), 4 * wanted.length + 4, "offsets of " + column);
            equal(column.offsets().getInt(4 * wanted.length), column.bytes().remaining(), "bytes of " + column);
            refuses(IllegalArgumentException.class, column::values);
            return;
        }
        int width = width(column.type());
        equal(column.values().remaining(), width == 0 ? bits(wanted.length) : width * wanted.length, "values of " + column);
        check(column.values().isReadOnly() && column.values().isDirect(), column + " can be written");
        refuses(IllegalArgumentException.class, column::bytes);
        if (width == 8 && wanted.length > 5 && wanted[5] instanceof Long)
            equal(column.values(5, 1).getLong(0), wanted[5], "a range of " + column);
        if (width > 0)
            refuses(IndexOutOfBoundsException.class, () -> column.values(1, wanted.length));
    }

    // ---- text ----

    private static ByteBuffer utf8(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return direct(bytes.length).put(bytes).flip();
    }

    private static void testText() throws Exception {
        HacQuery query = new HacQuery().format(HacQuery.Format.CSV).schema("\"ci\uD83D\uDE00ty\":string,n:i32")
                             .where("\"ci\uD83D\uDE00ty\" <> 'x\uD83D\uDE00'").select("*").orderBy("n");
        try (HacResult result = client.query(query, utf8("ci\uD83D\uDE00ty,n\n\uD83D\uDE00,2\nx\uD83D\uDE00,3\n\"\",1\n,0\n"))) {
            equal(result.rows(), 2L, "rows");
            equal(result.column("ci\uD83D\uDE00ty").getString(0), "", "an empty text");
            equal(result.column(0).getString(1), "\uD83D\uDE00", "a text");
            equal(result.remark(), "", "remark");
        }
        try (HacResult result = client.query(new HacQuery().format(HacQuery.Format.CSV).schema("n:i32").skipErrors().select("n"),
                                             utf8("n\n1\nx\n"))) {
            equal(result.rows(), 1L, "rows");
            check(result.remark().contains("1 record"), result.remark());
        }
        ByteBuffer middle = utf8("no\nn\n7\n");
        middle.position(3);
        try (HacResult result = client.query(new HacQuery().format(HacQuery.Format.CSV).schema("n:i32").select("n"), middle)) {
            equal(result.column("n").getLong(0), 7L, "text from its position on");
        }
        equal(middle.position(), 3, "the position of a buffer");
        Path file = Files.createTempFile("ha\u00e7 ", ".tsv");
        Files.writeString(file, "a\tb\n1\tx\n2\t\\N\n");
        try (HacResult result = client.query(new HacQuery().select("b, a").orderBy("a"), file, file)) {
            equal(result.rows(), 4L, "rows of a file that is given twice");
            equal(result.column("a").getString(3), "2", "a");
            check(result.column("b").isNull(3), "\\N");
        }
        Files.delete(file);
    }

    // ---- tables ----

    private static void testTables() throws Exception {
        HacTable table = new HacTable(4).add("i", 1, 2, 3, 4).add("l", 1L, 2L, 3L, 4L).add("d", .5, 1, 1.5, 2)
                             .add("s", "a", null, "", "\u00e9");
        try (HacResult result = client.query(new HacQuery().select("i + l as il, d * 2 as dd, s").where("i > 1").orderBy("i"), table)) {
            equal(result.column("il").getLong(0), 4L, "il");
            equal(result.column("dd").getDouble(2), 4.0, "dd");
            check(result.column("s").isNull(0) && result.column("s").getString(0) == null, "null");
            equal(result.column("s").getString(1), "", "empty");
            equal(result.column("s").getString(2), "\u00e9", "s");
        }
        refuses(IllegalArgumentException.class, () -> new HacTable(3).add("i", 1, 2));
        refuses(IllegalArgumentException.class, () -> new HacTable(-1));
        refuses(IllegalArgumentException.class, () -> new HacTable(2).add("i", HacType.I64, direct(15), null));
        refuses(IllegalArgumentException.class, () -> new HacTable(9).add("i", HacType.I8, direct(9), direct(1)));
        refuses(IllegalArgumentException.class, () -> new HacTable(1).add("i", HacType.I64, ByteBuffer.allocate(8), null));
        refuses(IllegalArgumentException.class, () -> new HacTable(1).add("s", HacType.STRING, direct(8), null));
        refuses(IllegalArgumentException.class, () -> new HacTable(1).add("s", HacType.STRING, direct(4), direct(8), null));
        refuses(NullPointerException.class, () -> new HacTable(1).add(null, 1));
        int[][] wrong = {{0, 5}, {0, -1}, {-1, 2}, {3, 2}, {Integer.MAX_VALUE, Integer.MAX_VALUE}};
        for (int[] pair : wrong) {
            ByteBuffer offsets = direct(8).putInt(0, pair[0]).putInt(4, pair[1]);
            HacTable bad = new HacTable(1).add("s", HacType.STRING, offsets, direct(4), null);
            fails(HacException.Code.INVALID, "offsets of column s", () -> client.query(new HacQuery().select("s"), bad));
        }
        fails(HacException.Code.INVALID, "name has 0 bytes", () -> client.query(new HacQuery().select("*"), new HacTable(1).add("", 1)));
    }

    // ---- errors ----

    private static void testErrors() throws Exception {
        ByteBuffer text = utf8("n\n1\n");
        HacQuery csv = new HacQuery().format(HacQuery.Format.CSV).schema("n:i32");
        fails(HacException.Code.INVALID, "character", () -> client.query(csv.select("n +"), text));
        fails(HacException.Code.INVALID, "m", () -> client.query(csv.select("m"), text));
        fails(HacException.Code.FAILED, "", () -> client.query(csv.select("n"), utf8("n\nx\n")));
        fails(HacException.Code.INVALID, "half of a surrogate", () -> client.query(csv.select("'\uD83D'"), text));
        fails(HacException.Code.INVALID, "NUL", () -> client.query(csv.select("n\0"), text));
        fails(HacException.Code.INVALID, "format", () -> client.query(new HacQuery().select("n"), text));
        fails(HacException.Code.INVALID, "nowhere", () -> client.query(new HacQuery().format(HacQuery.Format.LINES).devices("nowhere").select("line"), text));
        fails(HacException.Code.INVALID, "option of parquet", () -> client.query(new HacQuery().format(HacQuery.Format.LINES).rowGroups(1, 1).select("line"), text));
        fails(HacException.Code.FAILED, "cannot open /no/such/file.csv", () -> client.query(csv.select("n"), Path.of("/no/such/file.csv")));
        fails(HacException.Code.FAILED, "/tmp is a directory", () -> client.query(csv.select("n"), Path.of("/tmp")));
        fails(HacException.Code.FAILED, "no file with a size", () -> client.query(csv.select("n"), Path.of("/dev/null")));
        fails(HacException.Code.INVALID, "0 files", () -> client.query(csv.select("n")));
        Path[] many = new Path[254];
        Arrays.fill(many, Path.of("/dev/null"));
        fails(HacException.Code.INVALID, "254 files", () -> client.query(csv.select("n"), many));
        fails(HacException.Code.NO_DAEMON, "/no/such/socket", () -> HacClient.connect(Path.of("/no/such/socket"), true));
        refuses(IllegalArgumentException.class, () -> client.query(csv, ByteBuffer.allocate(4)));
        refuses(IllegalArgumentException.class, () -> new HacQuery().limit(-1));
        refuses(IllegalArgumentException.class, () -> HacType.decimal(39, 0));
        try (HacResult result = client.query(csv.select("n, cast(null as i64) as z, n > 0 as b"), text)) {
            fails(HacException.Code.NOT_FOUND, "called x", () -> result.column("x"));
            refuses(IllegalArgumentException.class, () -> result.column("n").getString(0));
            refuses(IllegalArgumentException.class, () -> result.column("n").getDouble(0));
            refuses(IllegalArgumentException.class, () -> result.column("b").getLong(0));
            refuses(NullPointerException.class, () -> result.column("z").getLong(0));
            refuses(UnsupportedOperationException.class, () -> result.columns().clear());
        }
        try (HacResult result = client.query(csv.select("n"), text)) {
            equal(result.column("n").getLong(0), 1L, "the client after all that");
        }
    }

    // ---- lives ----

    private static void testClosing() throws Exception {
        HacQuery query = new HacQuery().select("n + 1 as m");
        HacTable table = new HacTable(1).add("n", 1);
        HacClient other = HacClient.connect();
        HacResult closed = other.query(query, table), left = other.query(query, table), more = other.query(query, table);
        HacColumn column = closed.column("m");
        closed.close();
        closed.close();
        refuses(IllegalStateException.class, () -> column.getLong(0));
        refuses(IllegalStateException.class, () -> column.get(0));
        refuses(IllegalStateException.class, column::values);
        refuses(IllegalStateException.class, () -> closed.column(0));
        refuses(IllegalStateException.class, closed::columns);
        equal(left.column("m").getLong(0), 2L, "a result beside one that was closed");
        HacColumn of = left.column("m");
        other.close();
        other.close();
        refuses(IllegalStateException.class, () -> of.getLong(0));
        left.close();
        more.close();
        refuses(IllegalStateException.class, () -> other.query(query, table));
        refuses(IllegalStateException.class, other::socket);
        refuses(IllegalStateException.class, other::devices);
    }

    private static void testSerial() throws Exception {
        HacQuery query = new HacQuery().format(HacQuery.Format.CSV).schema("n:i32").where("n > 1").select("n").orderBy("n desc").limit(2);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(query);
        }
        HacQuery copy;
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            copy = (HacQuery) in.readObject();
        }
        try (HacResult result = client.query(copy, utf8("n\n1\n2\n3\n4\n"))) {
            equal(result.rows(), 2L, "rows");
            equal(result.column("n").getLong(0), 4L, "n");
        }
    }

    private static void testQuestions() throws Exception {
        check(HacClient.version().matches("\\d+\\.\\d+\\.\\d+"), HacClient.version());
        check(client.socket().endsWith("hacd.sock"), client.socket());
        check(client.devices().contains("\"devices\""), client.devices());
        try (HacResult result = client.query(new HacQuery().select("n"), new HacTable(1).add("n", 1))) {
            check(client.receipt(result.job()).contains("\"query\""), client.receipt(result.job()));
        }
        fails(HacException.Code.NOT_FOUND, "", () -> client.receipt(123456789));
        try (HacClient same = HacClient.connect(Path.of(client.socket()), false)) {
            equal(same.socket(), client.socket(), "socket");
        }
    }

    // ---- threads ----

    /** Takes far longer than the tests wait. */
    private static HacResult longQuery(HacClient by) {
        StringBuilder sum = new StringBuilder("0e0");
        for (int i = 0; i < 400; i++)
            sum.append(" + exp(sin(x + ").append(i).append("))");
        double[] values = new double[4_000_000];
        for (int i = 0; i < values.length; i++)
            values[i] = i;
        return by.query(new HacQuery().select("max(" + sum + ") as m"), new HacTable(values.length).add("x", values));
    }

    private static void testInterrupt() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        HacResult before = client.query(new HacQuery().select("n"), new HacTable(1).add("n", 1));
        for (int round = 0; round < 2; round++) {
            HacClient by = round == 0 ? client : HacClient.connect();
            Thread[] runner = new Thread[1];
            Future<Boolean> status = threads.submit(() -> {
                runner[0] = Thread.currentThread();
                fails(HacException.Code.CANCELLED, "", () -> longQuery(by));
                return Thread.interrupted();
            });
            Thread.sleep(2000);
            check(!status.isDone(), "the long query was too short");
            if (round == 0) {
                before.close(); // at once, although another thread has its turn
                refuses(IllegalStateException.class, () -> before.column(0));
                runner[0].interrupt();
            } else {
                by.close();
            }
            equal(status.get(30, TimeUnit.SECONDS), round == 0, "interrupted");
        }
        threads.shutdown();
        try (HacResult result = client.query(new HacQuery().select("n"), new HacTable(1).add("n", 5))) {
            equal(result.column("n").getLong(0), 5L, "the client after an interrupt");
        }
    }

    private static Callable<Boolean> worker(int number, boolean shared) {
        return () -> {
            HacClient by = shared ? client : HacClient.connect();
            List<HacResult> kept = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                long n = number * 1000L + i;
                HacResult result = by.query(new HacQuery().select("sum(n) as s"), new HacTable(3).add("n", n, 2 * n, -n));
                equal(result.column("s").getLong(0), 2 * n, "sum");
                kept.add(result);
                if (i % 7 == 6) {
                    for (HacResult old : kept) {
                        check(old.column("s").getLong(0) % 2 == 0, "an old result");
                        old.close();
                    }
                    kept.clear();
                }
            }
            for (HacResult old : kept)
                old.close();
            if (!shared)
                by.close();
            return true;
        };
    }

    private static void testThreads() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(12);
        List<Callable<Boolean>> workers = new ArrayList<>();
        for (int i = 0; i < 12; i++)
            workers.add(worker(i, i % 3 == 0));
        for (Future<Boolean> done : threads.invokeAll(workers))
            check(done.get(), "a worker");
        threads.shutdown();
    }

    // ---- leaks ----

    private static long residentBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status")))
            if (line.startsWith("VmRSS:"))
                return Long.parseLong(line.replaceAll("\\D", "")) << 10;
        throw new AssertionError("no VmRSS");
    }

    /** What is open, but for /proc itself. */
    private static List<String> descriptors() throws IOException {
        List<String> names = new ArrayList<>();
        for (String fd : new File("/proc/self/fd").list()) {
            Path link = Path.of("/proc/self/fd", fd);
            if (Files.exists(link, LinkOption.NOFOLLOW_LINKS))
                names.add(fd + " " + Files.readSymbolicLink(link).toString());
        }
        Collections.sort(names);
        return names;
    }

    private static long directBytes() {
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class))
            if (pool.getName().equals("direct"))
                return pool.getMemoryUsed();
        throw new AssertionError("no direct pool");
    }

    private static void smallQueries(int n) throws Exception {
        ByteBuffer text = utf8("n,s\n1,a\n2,b\n3,\n");
        HacTable table = new HacTable(3).add("n", 1, 2, 3).add("s", "x", null, "z");
        HacQuery csv = new HacQuery().format(HacQuery.Format.CSV).schema("n:i32,s:string").select("n, s")
                           .where("n > 1 or s = '" + "long".repeat(1000) + "'"); // what is left of it would show
        HacQuery columns = new HacQuery().groupBy("s").select("sum(n) as n").orderBy("n");
        Path file = Files.createTempFile("hac", ".csv");
        Files.writeString(file, "n,s\n1,a\n2,b\n3,\n");
        for (int i = 0; i < n; i++) {
            try (HacResult result = i % 8 == 0 ? client.query(csv, file)
                                  : i % 2 == 0 ? client.query(csv, text) : client.query(columns, table)) {
                equal(result.rows(), i % 2 == 0 ? 2L : 3L, "rows");
                result.column("n").values();
                result.column("s").getString(0);
            }
            if (i % 10 == 9)
                fails(HacException.Code.INVALID, "", () -> client.query(csv.select("n +"), text));
            csv.select("n, s");
        }
        Files.delete(file);
    }

    private static void testLeaks() throws Exception {
        smallQueries(2000);
        System.gc();
        long direct = directBytes(), resident = residentBytes();
        List<String> files = descriptors(); // java.nio has opened what it keeps
        smallQueries(5000);
        System.gc();
        Thread.sleep(100);
        long more = residentBytes() - resident;
        check(directBytes() <= direct + 65536, "direct memory was " + direct + " and is " + directBytes());
        check(more < 8 << 20, "resident memory has grown by " + (more >> 10) + " KiB");
        equal(descriptors(), files, "descriptors");
        System.out.println("grown by " + (more >> 10) + " KiB in 5000 queries");
    }
}
