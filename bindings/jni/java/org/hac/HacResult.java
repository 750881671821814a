/* SPDX-License-Identifier: Apache-2.0 */
package org.hac;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The columns a query gave. They lie in memory that hacd lent; {@link #close()} gives it back, and a result that is
 * never closed keeps it until its client is closed.
 *
 * <p>May be read by several threads at once; none may read while another one closes it.
 */
public final class HacResult implements AutoCloseable {
    private final HacClient client;
    private final long handle;
    private final long job;
    private final String remark;
    private final long rows;
    private final List<HacColumn> columns;
    private volatile boolean closed;

    HacResult(HacClient client, long handle, long job, String remark) {
        this.client = client;
        this.handle = handle;
        this.job = job;
        this.remark = remark;
        rows = Native.rows(handle);
        List<HacColumn> list = new ArrayList<>();
        int n = Native.columns(handle);
        for (int i = 0; i < n; i++)
            list.add(new HacColumn(this, handle, i, rows));
        columns = Collections.unmodifiableList(list);
    }

    /**
     * How many rows there are.
     *
     * @return 0 or more
     */
    public long rows() {
        return rows;
    }

    /**
     * The columns, in the query's order.
     *
     * @return a list that cannot be changed
     */
    public List<HacColumn> columns() {
        requireOpen();
        return columns;
    }

    /**
     * A column by its place.
     *
     * @param index from 0
     * @return never null
     */
    public HacColumn column(int index) {
        requireOpen();
        return columns.get(index);
    }

    /**
     * A column by its name; the first one, where several have it.
     *
     * @param name as select or groupBy has it
     * @return never null
     * @throws HacException NOT_FOUND: none has that name
     */
    public HacColumn column(String name) {
        requireOpen();
        for (HacColumn column : columns)
            if (column.name().equals(name))
                return column;
        throw new HacException(HacException.Code.NOT_FOUND, "no column of the result is called " + name + ": " + columns);
    }

    /**
     * What one should know of the result: records that were left out, options that had no effect.
     *
     * @return "" for nothing
     */
    public String remark() {
        return remark;
    }

    /**
     * The job's number, for {@code hacctl show} and {@link HacClient#receipt(long)}.
     *
     * @return above 0
     */
    public long job() {
        return job;
    }

    /** Gives the memory back. Buffers of the columns must not be used from here on. Closing again does nothing. */
    @Override
    public void close() {
        client.release(this);
    }

    // ---- for HacClient ----

    long handle() {
        return handle;
    }

    void setClosed() {
        closed = true;
    }

    void requireOpen() {
        if (closed)
            throw new IllegalStateException("the result was closed");
    }
}
