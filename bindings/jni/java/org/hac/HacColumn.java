/* SPDX-License-Identifier: Apache-2.0 */
package org.hac;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;

/**
 * A column of a result, read where hacd's devices wrote it, without a copy.
 *
 * <p>The getters may be called by several threads. They throw IllegalStateException when the result was closed,
 * IndexOutOfBoundsException for a row that is not there and IllegalArgumentException for a type they are not for.
 * Those that return a primitive throw NullPointerException for a null; see {@link #isNull(long)}.
 *
 * <p>The raw buffers ({@link #values()} and so on) are read-only, direct, in the machine's byte order and laid out as
 * Arrow has it. <b>They must not be used after the result was closed:</b> nothing can check that, and the memory is
 * somebody else's by then.
 */
public final class HacColumn {
    private static final BigInteger TWO_TO_64 = BigInteger.ONE.shiftLeft(64);

    private final HacResult result;
    private final String name;
    private final HacType type;
    private final long rows;
    private final Memory validity; // null: no nulls
    private final Memory values; // offsets of texts
    private final Memory bytes; // of texts
    private final boolean wide; // offsets of 64 bits

    HacColumn(HacResult result, long handle, int index, long rows) {
        this.result = result;
        this.rows = rows;
        name = Native.text(Native.columnName(handle, index));
        String format = Native.text(Native.columnFormat(handle, index));
        type = HacType.ofFormat(format);
        wide = format.equals("U") || format.equals("Z");
        long bits = rows / 8 + (rows % 8 != 0 ? 1 : 0);
        long nulls = Native.columnPart(handle, index, 0);
        long first = Native.columnPart(handle, index, 1);
        validity = nulls != 0 && rows > 0 ? new Memory(nulls, bits) : null;
        if (type.isText()) {
            values = new Memory(first, Math.multiplyExact(rows + 1, wide ? 8L : 4L));
            bytes = new Memory(Native.columnPart(handle, index, 2), offset(rows));
        } else {
            int width = type.kind().width;
            values = new Memory(first, width == 0 ? bits : Math.multiplyExact(rows, (long) width));
            bytes = null;
        }
    }

    /**
     * The column's name.
     *
     * @return never null
     */
    public String name() {
        return name;
    }

    /**
     * The column's type.
     *
     * @return never null
     */
    public HacType type() {
        return type;
    }

    /**
     * How many rows it has.
     *
     * @return that of the result
     */
    public long rows() {
        return rows;
    }

    // ---- values ----

    /**
     * Whether the row has no value.
     *
     * @param row from 0
     * @return true for a null
     */
    public boolean isNull(long row) {
        result.requireOpen();
        if (row < 0 || row >= rows)
            throw new IndexOutOfBoundsException("row " + row + " of " + rows);
        return validity != null && !validity.getBit(row);
    }

    /**
     * Of bool.
     *
     * @param row from 0
     * @return the value
     */
    public boolean getBoolean(long row) {
        require(type.kind() == HacType.Kind.BOOL, "bool");
        requireValue(row);
        return values.getBit(row);
    }

    /**
     * Of integers; of date in days and of timestamp in microseconds since 1970. A u64 above 2^63 - 1 comes out
     * negative, with its bits, see {@link Long#toUnsignedString(long)}.
     *
     * @param row from 0
     * @return the value
     */
    public long getLong(long row) {
        requireValue(row);
        switch (type.kind()) {
        case I8:
            return values.getByte(row);
        case U8:
            return values.getByte(row) & 0xffL;
        case I16:
            return values.getShort(row * 2);
        case U16:
            return values.getShort(row * 2) & 0xffffL;
        case I32:
        case DATE:
            return values.getInt(row * 4);
        case U32:
            return values.getInt(row * 4) & 0xffffffffL;
        case I64:
        case U64:
        case TIMESTAMP:
            return values.getLong(row * 8);
        default:
            throw not("an integer");
        }
    }

    /**
     * Of f32 and f64.
     *
     * @param row from 0
     * @return the value
     */
    public double getDouble(long row) {
        requireValue(row);
        switch (type.kind()) {
        case F32:
            return Float.intBitsToFloat(values.getInt(row * 4));
        case F64:
            return Double.longBitsToDouble(values.getLong(row * 8));
        default:
            throw not("a float");
        }
    }

    /**
     * Of string and bytes.
     *
     * @param row from 0
     * @return a copy; null for a null
     */
    public byte[] getBytes(long row) {
        require(type.isText(), "string or bytes");
        if (isNull(row))
            return null;
        long begin = offset(row);
        return bytes.get(begin, offset(row + 1) - begin);
    }

    /**
     * Of string. What is no UTF-8 comes out as U+FFFD; {@link #getBytes(long)} has it as it is.
     *
     * @param row from 0
     * @return null for a null
     */
    public String getString(long row) {
        require(type.kind() == HacType.Kind.STRING, "string");
        byte[] text = getBytes(row);
        return text == null ? null : new String(text, StandardCharsets.UTF_8);
    }

    /**
     * Of decimal.
     *
     * @param row from 0
     * @return the value, with the type's scale; null for a null
     */
    public BigDecimal getDecimal(long row) {
        require(type.kind() == HacType.Kind.DECIMAL, "decimal");
        if (isNull(row))
            return null;
        boolean little = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
        long low = values.getLong(row * 16 + (little ? 0 : 8));
        long high = values.getLong(row * 16 + (little ? 8 : 0));
        if (high == low >> 63)
            return BigDecimal.valueOf(low, type.scale());
        return new BigDecimal(BigInteger.valueOf(high).shiftLeft(64).add(unsigned(low)), type.scale());
    }

    /**
     * Of date.
     *
     * @param row from 0
     * @return null for a null
     */
    public LocalDate getDate(long row) {
        require(type.kind() == HacType.Kind.DATE, "date");
        return isNull(row) ? null : LocalDate.ofEpochDay(getLong(row));
    }

    /**
     * Of timestamp.
     *
     * @param row from 0
     * @return null for a null
     */
    public Instant getTimestamp(long row) {
        require(type.kind() == HacType.Kind.TIMESTAMP, "timestamp");
        return isNull(row) ? null : Instant.EPOCH.plus(getLong(row), ChronoUnit.MICROS);
    }

    /**
     * Of every type, as an object: Boolean, Long (BigInteger of u64), Float, Double, LocalDate, Instant, BigDecimal,
     * String or byte[].
     *
     * @param row from 0
     * @return null for a null
     */
    public Object get(long row) {
        if (isNull(row))
            return null;
        switch (type.kind()) {
        case BOOL:
            return getBoolean(row);
        case U64:
            return unsigned(getLong(row));
        case F32:
            return (float) getDouble(row);
        case F64:
            return getDouble(row);
        case DATE:
            return getDate(row);
        case TIMESTAMP:
            return getTimestamp(row);
        case DECIMAL:
            return getDecimal(row);
        case STRING:
            return getString(row);
        case BYTES:
            return getBytes(row);
        default:
            return getLong(row);
        }
    }

    // ---- raw buffers ----

    /**
     * A bit a row, least significant first: 1 for a value.
     *
     * @return null when there are no nulls
     */
    public ByteBuffer validity() {
        result.requireOpen();
        return validity == null ? null : validity.all();
    }

    /**
     * Values of fixed width, or bits; not of string and bytes.
     *
     * @return of all rows
     */
    public ByteBuffer values() {
        result.requireOpen();
        require(!type.isText(), "of fixed width");
        return values.all();
    }

    /**
     * The same of a range of rows, for columns above 2 GiB; not of bool.
     *
     * @param first row
     * @param n rows
     * @return of these rows
     */
    public ByteBuffer values(long first, int n) {
        result.requireOpen();
        int width = type.kind().width;
        require(width > 0, "of fixed width");
        if (first < 0 || n < 0 || n > rows - first)
            throw new IndexOutOfBoundsException("rows " + first + " and " + n + " more of " + rows);
        return values.slice(first * width, (long) n * width);
    }

    /**
     * Whether {@link #offsets()} are 64 bits wide, not 32.
     *
     * @return false for types that have none
     */
    public boolean wideOffsets() {
        return wide;
    }

    /**
     * Of string and bytes: where each row begins in {@link #bytes()}, and where the last one ends.
     *
     * @return rows + 1 offsets
     */
    public ByteBuffer offsets() {
        result.requireOpen();
        require(type.isText(), "string or bytes");
        return values.all();
    }

    /**
     * Of string and bytes: those of all rows, one after the other.
     *
     * @return of all rows
     */
    public ByteBuffer bytes() {
        result.requireOpen();
        require(type.isText(), "string or bytes");
        return bytes.all();
    }

    @Override
    public String toString() {
        return name + ":" + type;
    }

    // ---- checks ----

    private long offset(long row) {
        return wide ? values.getLong(row * 8) : values.getInt(row * 4);
    }

    private static BigInteger unsigned(long bits) {
        BigInteger value = BigInteger.valueOf(bits);
        return bits < 0 ? value.add(TWO_TO_64) : value;
    }

    private void requireValue(long row) {
        if (isNull(row))
            throw new NullPointerException("row " + row + " of column " + name + " is null");
    }

    private void require(boolean is, String what) {
        if (!is)
            throw not(what);
    }

    private IllegalArgumentException not(String what) {
        return new IllegalArgumentException("column " + name + " is " + type + ", not " + what);
    }
}
