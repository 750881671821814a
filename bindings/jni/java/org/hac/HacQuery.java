/* SPDX-License-Identifier: Apache-2.0 */
package org.hac;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * What is asked of rows: those for which {@code where} is true, grouped by {@code groupBy}, give {@code
 * select}. docs/expressions.md is the language. Without {@code orderBy} the order of the rows is
 * unspecified.
 *
 * <p>Plain data, which Spark can send to its executors: the setters change the object and return it. It
 * belongs to one thread while it is being set; running it reads it only.
 */
public final class HacQuery extends HacJobOptions<HacQuery> implements Cloneable {
    private static final long serialVersionUID = 2;

    /** How the bytes of a source become rows. */
    public enum Format {
        /** RFC 4180, with a header line unless {@link HacQuery#noHeader()}. */
        CSV(2),
        /** TAB between fields; {@code \t \n \\ \N} are escapes. */
        TSV(3),
        /** An object a line. */
        JSONL(4),
        /** One column, {@code line}. */
        LINES(5),
        /** One column, {@code word}. */
        WORDS(6),
        /** Columns {@code key} and {@code value}, cut at the first TAB. */
        KV(7),
        /** Little-endian records of the schema's types, without gaps. */
        FIXED(8),
        /** Parquet files; types are the file's. */
        PARQUET(9),
        /** Binary records, each behind its length in 4 bytes. */
        LENGTHS(10),
        /** Hadoop's typed bytes: a key and a value a record. */
        TYPEDBYTES(11),
        /** Access logs of Apache and nginx, common or combined. */
        CLF(12),
        /** Pairs {@code key=value}; columns by key. */
        LOGFMT(13),
        /** Lines of RFC 3164 and 5424. */
        SYSLOG(14);

        final int number;

        Format(int number) {
            this.number = number;
        }

        /** By the suffix, as hacctl does; null: it is none of those that are known. */
        static Format of(Path file) {
            int number = Native.formatOf(new Native.Texts().add("a file's name", file.toString()).packed());
            for (Format format : values())
                if (format.number == number)
                    return format;
            return null;
        }
    }

    /** What aggregates. Every engine gives the same answer. */
    public enum Engine {
        /** The faster one. */
        AUTO,
        /** Code in C, on the host's cores. */
        HOST,
        /** OpenCL kernels, where they can run the query. */
        DEVICE
    }

    private String schema;
    private String where;
    private String groupBy;
    private String select;
    private String orderBy;
    private long limit = -1;
    private Format format;
    private TreeMap<String, String> options = new TreeMap<>();
    private boolean fast;
    private Engine engine = Engine.AUTO;

    /** A query that still needs {@link #select(String)}, or {@link #groupBy(String)}. */
    public HacQuery() {}

    /**
     * A query that asks for the same.
     *
     * @return a new query
     */
    public HacQuery copy() {
        try {
            HacQuery copy = (HacQuery) clone();
            copy.options = new TreeMap<>(options);
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Types of columns: {@code "city:string,price:decimal(10,2)"}. Without one columns are strings, of
     * Parquet files what the file says. Not used for a {@link HacTable}.
     *
     * @param schema name:type, separated by commas
     * @return this
     */
    public HacQuery schema(String schema) {
        this.schema = schema;
        return this;
    }

    /**
     * The rows that count: {@code "total > 10 and name like 'a%'"}.
     *
     * @param where a condition
     * @return this
     */
    public HacQuery where(String where) {
        this.where = where;
        return this;
    }

    /**
     * Keys: {@code "day, upper(city) as c"}. They are the first columns of the result.
     *
     * @param groupBy expressions
     * @return this
     */
    public HacQuery groupBy(String groupBy) {
        this.groupBy = groupBy;
        return this;
    }

    /**
     * Columns of the result: {@code "sum(x * y) as s, count() as n"}; {@code "*"} is all columns.
     *
     * @param select expressions, with aggregates or without
     * @return this
     */
    public HacQuery select(String select) {
        this.select = select;
        return this;
    }

    /**
     * The order of the result: {@code "s desc, name"}.
     *
     * @param orderBy names of columns of the result, or expressions
     * @return this
     */
    public HacQuery orderBy(String orderBy) {
        this.orderBy = orderBy;
        return this;
    }

    /**
     * The number of rows at most.
     *
     * @param rows 0 or more
     * @return this
     */
    public HacQuery limit(long rows) {
        if (rows < 0)
            throw new IllegalArgumentException("a limit of " + rows + " rows");
        this.limit = rows;
        return this;
    }

    /**
     * The format of files and text. Without it that of a file goes by its suffix.
     *
     * @param format null: by the suffix
     * @return this
     */
    public HacQuery format(Format format) {
        this.format = format;
        return this;
    }

    /**
     * Sets an option of the format by the name that logic files have for it (docs/formats.md):
     * {@code option("null_text", "NA,NULL")}. The query fails if the format has no such option.
     *
     * @param name delimiter, header, null_text, byte_order, on_error …
     * @param value as in a logic file
     * @return this
     */
    public HacQuery option(String name, String value) {
        if (name == null || value == null)
            throw new IllegalArgumentException("an option needs a name and a value");
        options.put(name, value);
        return this;
    }

    /**
     * What is between the fields of csv.
     *
     * @param delimiter a character of ASCII; the comma if not set
     * @return this
     */
    public HacQuery delimiter(char delimiter) {
        if (delimiter > 127)
            throw new IllegalArgumentException("the delimiter is not ASCII");
        return option("delimiter", String.valueOf(delimiter));
    }

    /**
     * The first line of csv and tsv is data; columns are the schema's, by position.
     *
     * @return this
     */
    public HacQuery noHeader() {
        return option("header", "false");
    }

    /**
     * Records that cannot be read are left out, and counted in {@link HacResult#remark()}.
     *
     * @return this
     */
    public HacQuery skipErrors() {
        return option("on_error", "skip");
    }

    /**
     * A text of csv that is null where it stands without quotes, as an empty field is.
     *
     * @param text up to 31 bytes
     * @return this
     */
    public HacQuery nullText(String text) {
        return option("null_text", text);
    }

    /**
     * Without effect: results are the same on every machine.
     *
     * @return this
     */
    public HacQuery fast() {
        this.fast = true;
        return this;
    }

    /**
     * What aggregates; {@link Engine#AUTO} without it. The job's receipt says what ran, and why kernels did
     * not.
     *
     * @param engine the engine
     * @return this
     */
    public HacQuery engine(Engine engine) {
        this.engine = java.util.Objects.requireNonNull(engine, "engine");
        return this;
    }

    /**
     * A part of one Parquet file.
     *
     * @param first the first row group, from 0
     * @param count how many; 0: all from there on
     * @return this
     */
    public HacQuery rowGroups(long first, long count) {
        if (first < 0 || count < 0)
            throw new IllegalArgumentException("row groups " + first + " and " + count + " more");
        return option("first_row_group", Long.toString(first)).option("row_groups", Long.toString(count));
    }

    // ---- for native code: the order is that of src/query.c ----

    Native.Texts texts() {
        Native.Texts texts = new Native.Texts()
            .add("schema", schema).add("where", where).add("groupBy", groupBy)
            .add("select", select).add("orderBy", orderBy);
        for (Map.Entry<String, String> option : options.entrySet())
            texts.add("an option's name", option.getKey()).add(option.getKey(), option.getValue());
        return withDevices(texts);
    }

    /** What a job gives, as the numbers of {@code hac_result_format}. */
    static final int RESULT_TABLE = 2;
    static final int RESULT_PARQUET = 3;

    /**
     * @param byDefault where no format was set; null: there is none
     * @param result RESULT_TABLE or RESULT_PARQUET
     */
    long[] numbers(Format byDefault, int result) {
        Format chosen = format != null ? format : byDefault;
        return new long[] {
            limit, chosen != null ? chosen.number : 0, priority, deadlineMillis, memoryLimit, fast ? 1 : 0,
            engine.ordinal(), result, options.size(), deviceCount()};
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("select ").append(select);
        if (where != null)
            text.append(" where ").append(where);
        if (groupBy != null)
            text.append(" group by ").append(groupBy);
        if (orderBy != null)
            text.append(" order by ").append(orderBy);
        if (limit >= 0)
            text.append(" limit ").append(limit);
        return text.toString();
    }
}
