/* SPDX-License-Identifier: Apache-2.0 */
package org.hac;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Columns in memory, to be queried: direct buffers laid out as Arrow has them, or Java arrays, which are copied.
 *
 * <p>Buffers are read from their position to their limit; they are in the machine's byte order whatever their
 * {@link ByteBuffer#order()} says, and must not be changed while a query is being submitted. The table keeps them
 * reachable. A table belongs to one thread while columns are added; queries only read it.
 */
public final class HacTable {
    private static final int PARTS = 4; // see src/query.c

    private final long rows;
    private final List<Column> columns = new ArrayList<>();

    private static final class Column {
        String name;
        HacType type;
        ByteBuffer validity; // null: no nulls
        ByteBuffer values; // offsets of texts
        ByteBuffer bytes; // texts only
    }

    /**
     * A table without columns.
     *
     * @param rows that each column will have
     */
    public HacTable(long rows) {
        if (rows < 0)
            throw new IllegalArgumentException("a table of " + rows + " rows");
        this.rows = rows;
    }

    /**
     * The number of rows.
     *
     * @return 0 or more
     */
    public long rows() {
        return rows;
    }

    /**
     * A column of fixed width, or of bits.
     *
     * @param name of the column
     * @param type any but strings and bytes; decimals are 128 bits wide
     * @param values direct
     * @param validity direct, a bit a row, least significant first, 1 for a value; null: there are no nulls
     * @return this
     */
    public HacTable add(String name, HacType type, ByteBuffer values, ByteBuffer validity) {
        if (type.isText())
            throw new IllegalArgumentException("column " + name + " of type " + type + " needs offsets");
        Column column = column(name, type, validity);
        long width = type.kind().width;
        column.values = direct(name, "values", values, width == 0 ? bits() : Math.multiplyExact(rows, width));
        columns.add(column);
        return this;
    }

    /**
     * A column of strings or bytes.
     *
     * @param name of the column
     * @param type {@link HacType#STRING} or {@link HacType#BYTES}
     * @param offsets direct, rows + 1 times 32 bits: where each row begins in bytes, and where the last ends
     * @param bytes direct
     * @param validity as for other columns
     * @return this
     */
    public HacTable add(String name, HacType type, ByteBuffer offsets, ByteBuffer bytes, ByteBuffer validity) {
        if (!type.isText())
            throw new IllegalArgumentException("column " + name + " of type " + type + " has no offsets");
        Column column = column(name, type, validity);
        column.values = direct(name, "offsets", offsets, Math.multiplyExact(Math.addExact(rows, 1), 4L));
        column.bytes = direct(name, "bytes", bytes, 0);
        columns.add(column);
        return this;
    }

    /**
     * An i32 column.
     *
     * @param name of the column
     * @param values one for each row
     * @return this
     */
    public HacTable add(String name, int... values) {
        ByteBuffer buffer = allocate(name, values.length, 4);
        buffer.asIntBuffer().put(values);
        return add(name, HacType.I32, buffer, null);
    }

    /**
     * An i64 column.
     *
     * @param name of the column
     * @param values one for each row
     * @return this
     */
    public HacTable add(String name, long... values) {
        ByteBuffer buffer = allocate(name, values.length, 8);
        buffer.asLongBuffer().put(values);
        return add(name, HacType.I64, buffer, null);
    }

    /**
     * An f64 column.
     *
     * @param name of the column
     * @param values one for each row
     * @return this
     */
    public HacTable add(String name, double... values) {
        ByteBuffer buffer = allocate(name, values.length, 8);
        buffer.asDoubleBuffer().put(values);
        return add(name, HacType.F64, buffer, null);
    }

    /**
     * A column of strings.
     *
     * @param name of the column
     * @param values one for each row; null is null
     * @return this
     */
    public HacTable add(String name, String... values) {
        ByteBuffer offsets = allocate(name, values.length, 4, 4);
        ByteBuffer validity = ByteBuffer.allocateDirect(values.length / 8 + 1);
        byte[][] texts = new byte[values.length][];
        long all = 0;
        for (int i = 0; i < values.length; i++) {
            texts[i] = values[i] != null ? values[i].getBytes(StandardCharsets.UTF_8) : new byte[0];
            offsets.putInt(4 * i, (int) all);
            all += texts[i].length;
            if (all > Integer.MAX_VALUE)
                throw new IllegalArgumentException("column " + name + " has more than 2 GiB of text");
            if (values[i] != null)
                validity.put(i / 8, (byte) (validity.get(i / 8) | 1 << i % 8));
        }
        offsets.putInt(4 * values.length, (int) all);
        ByteBuffer bytes = ByteBuffer.allocateDirect((int) all);
        for (byte[] text : texts)
            bytes.put(text);
        bytes.flip();
        return add(name, HacType.STRING, offsets, bytes, validity);
    }

    // ---- checks ----

    private long bits() {
        return rows / 8 + (rows % 8 != 0 ? 1 : 0);
    }

    private Column column(String name, HacType type, ByteBuffer validity) {
        Column column = new Column();
        column.name = Objects.requireNonNull(name, "name");
        column.type = type;
        column.validity = validity == null ? null : direct(name, "validity", validity, bits());
        return column;
    }

    private static ByteBuffer direct(String name, String what, ByteBuffer buffer, long bytes) {
        if (!buffer.isDirect())
            throw new IllegalArgumentException(what + " of column " + name + " are in no direct buffer");
        if (buffer.remaining() < bytes)
            throw new IllegalArgumentException(
                what + " of column " + name + " have " + buffer.remaining() + " bytes, " + bytes + " are needed");
        return buffer.slice();
    }

    private ByteBuffer allocate(String name, int length, int width) {
        return allocate(name, length, width, 0);
    }

    private ByteBuffer allocate(String name, int length, int width, int more) {
        if (length != rows)
            throw new IllegalArgumentException("column " + name + " has " + length + " rows, the table " + rows);
        return ByteBuffer.allocateDirect(Math.addExact(Math.multiplyExact(length, width), more))
            .order(ByteOrder.nativeOrder());
    }

    // ---- for native code: the order is that of src/query.c ----

    void addTexts(Native.Texts texts) {
        for (Column column : columns)
            texts.add("a column's name", column.name).add("a column's type", column.type.format());
    }

    /** Addresses in this table's buffers, which must stay reachable. */
    long[] parts() {
        long[] parts = new long[PARTS * columns.size()];
        int at = 0;
        for (Column column : columns) {
            parts[at] = column.validity != null ? Native.address(column.validity) : 0;
            parts[at + 1] = Native.address(column.values);
            parts[at + 2] = column.bytes != null ? Native.address(column.bytes) : 0;
            parts[at + 3] = column.bytes != null ? column.bytes.remaining() : 0;
            at += PARTS;
        }
        return parts;
    }
}
