/* SPDX-License-Identifier: Apache-2.0 */
package org.hac;

import java.io.Serializable;
import java.util.Locale;
import java.util.Objects;

/** The type of a column. Its text is what a schema of hac has: {@code i64}, {@code decimal(10,2)}. */
public final class HacType implements Serializable {
    private static final long serialVersionUID = 1;

    /** Kinds of types, with the width of a value in bytes where it is fixed. */
    public enum Kind {
        /** One bit a row. */
        BOOL("b", 0),
        I8("c", 1),
        I16("s", 2),
        I32("i", 4),
        I64("l", 8),
        U8("C", 1),
        U16("S", 2),
        U32("I", 4),
        U64("L", 8),
        F32("f", 4),
        F64("g", 8),
        /** Days since 1970-01-01, 32 bits. */
        DATE("tdD", 4),
        /** Microseconds since 1970-01-01 00:00 UTC, 64 bits. */
        TIMESTAMP("tsu:", 8),
        /** 128 bits in two's complement; {@link HacType#precision()} and {@link HacType#scale()} belong to it. */
        DECIMAL("d:", 16),
        /** UTF-8. */
        STRING("u", 0),
        /** Bytes that are no text. */
        BYTES("z", 0);

        final String format; // of the Arrow C Data Interface
        final int width;

        Kind(String format, int width) {
            this.format = format;
            this.width = width;
        }
    }

    public static final HacType BOOL = new HacType(Kind.BOOL);
    public static final HacType I8 = new HacType(Kind.I8);
    public static final HacType I16 = new HacType(Kind.I16);
    public static final HacType I32 = new HacType(Kind.I32);
    public static final HacType I64 = new HacType(Kind.I64);
    public static final HacType U8 = new HacType(Kind.U8);
    public static final HacType U16 = new HacType(Kind.U16);
    public static final HacType U32 = new HacType(Kind.U32);
    public static final HacType U64 = new HacType(Kind.U64);
    public static final HacType F32 = new HacType(Kind.F32);
    public static final HacType F64 = new HacType(Kind.F64);
    public static final HacType DATE = new HacType(Kind.DATE);
    public static final HacType TIMESTAMP = new HacType(Kind.TIMESTAMP);
    /** An instant: a timestamp with zone, whose values are in UTC. */
    public static final HacType TIMESTAMPTZ = new HacType(Kind.TIMESTAMP, 1, 0);
    public static final HacType STRING = new HacType(Kind.STRING);
    public static final HacType BYTES = new HacType(Kind.BYTES);

    private final Kind kind;
    private final int precision;
    private final int scale;

    private HacType(Kind kind) {
        this(kind, 0, 0);
    }

    private HacType(Kind kind, int precision, int scale) {
        this.kind = kind;
        this.precision = precision;
        this.scale = scale;
    }

    /**
     * An exact decimal number.
     *
     * @param precision digits, 1 to 38
     * @param scale digits behind the point, 0 to precision
     * @return the type
     */
    public static HacType decimal(int precision, int scale) {
        if (precision < 1 || precision > 38 || scale < 0 || scale > precision)
            throw new IllegalArgumentException("there is no decimal(" + precision + "," + scale + ")");
        return new HacType(Kind.DECIMAL, precision, scale);
    }

    /**
     * The kind.
     *
     * @return never null
     */
    public Kind kind() {
        return kind;
    }

    /**
     * Of decimals: digits.
     *
     * @return 0 for other types
     */
    public int precision() {
        return kind == Kind.DECIMAL ? precision : 0;
    }

    /**
     * Of decimals: digits behind the point.
     *
     * @return 0 for other types
     */
    public int scale() {
        return scale;
    }

    /**
     * Whether this is a timestamp with zone.
     *
     * @return false for all other types
     */
    public boolean hasZone() {
        return kind == Kind.TIMESTAMP && precision == TIMESTAMPTZ.precision;
    }

    boolean isText() {
        return kind == Kind.STRING || kind == Kind.BYTES;
    }

    boolean isInteger() {
        return kind.compareTo(Kind.I8) >= 0 && kind.compareTo(Kind.U64) <= 0;
    }

    String format() {
        String zone = hasZone() ? "UTC" : "";
        return kind == Kind.DECIMAL ? kind.format + precision + "," + scale : kind.format + zone;
    }

    /** The type of a result's column by its Arrow format; "U" and "Z" are "u" and "z" with wide offsets. */
    static HacType ofFormat(String format) {
        if (format.startsWith(Kind.DECIMAL.format)) {
            String[] digits = format.substring(2).split(",");
            return decimal(Integer.parseInt(digits[0]), Integer.parseInt(digits[1]));
        }
        if (format.startsWith(Kind.TIMESTAMP.format))
            return format.equals(Kind.TIMESTAMP.format) ? TIMESTAMP : TIMESTAMPTZ;
        String narrow = format.equals("U") ? "u" : format.equals("Z") ? "z" : format;
        for (Kind kind : Kind.values())
            if (kind.format.equals(narrow))
                return new HacType(kind);
        throw new HacException(HacException.Code.UNSUPPORTED, "a column of the result has Arrow format \"" + format + "\"");
    }

    @Override
    public String toString() {
        String name = kind.name().toLowerCase(Locale.ROOT) + (hasZone() ? "tz" : "");
        return kind == Kind.DECIMAL ? name + "(" + precision + "," + scale + ")" : name;
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof HacType))
            return false;
        HacType type = (HacType) other;
        return kind == type.kind && precision == type.precision && scale == type.scale;
    }

    @Override
    public int hashCode() {
        return Objects.hash(kind, precision, scale);
    }
}
