/* SPDX-License-Identifier: Apache-2.0 */
package org.hac;

import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A connection to hacd, the service that lends this machine's accelerators.
 *
 * <pre>{@code
 * HacQuery query = new HacQuery().where("price > 10").groupBy("city").select("sum(price) as s, count() as n");
 * try (HacClient client = HacClient.connect();
 *      HacResult result = client.query(query, Path.of("sales.parquet"))) {
 *     HacColumn city = result.column("city"), sum = result.column("s");
 *     for (long row = 0; row < result.rows(); row++)
 *         System.out.println(city.getString(row) + " " + sum.getDouble(row));
 * }
 * }</pre>
 *
 * <p><b>Threads.</b> A client may be used by any thread, but does one thing at a time: a second thread waits until
 * the first one's query has ended. For queries side by side take a client for each thread; there is no state that
 * clients share. A thread that is interrupted while it waits for a query cancels it and gets a HacException of code
 * CANCELLED; its interrupted status stays set. So does one whose client is closed by another thread.
 *
 * <p><b>The library.</b> libhacjni is loaded from {@code java.library.path}, or from the file that the system property
 * {@code org.hac.library} names.
 */
public final class HacClient implements AutoCloseable {
    private static final int SLICE_MILLIS = 100; // how late an interrupt is seen

    private final ReentrantLock turn = new ReentrantLock(true); // who holds it may use the handles
    private long handle; // guarded by turn; 0: closed
    private volatile boolean closing;
    private final Object lists = new Object();
    private final Set<HacResult> results = new HashSet<>(); // guarded by lists
    private final Queue<Long> unused = new ArrayDeque<>(); // guarded by lists; handles of results to be freed

    private HacClient(long handle) {
        this.handle = handle;
    }

    // ---- connecting ----

    /**
     * Connects to {@code $HAC_SOCKET}, else to the system's daemon, else to this user's private one, which is started
     * if need be.
     *
     * @return to be closed
     * @throws HacException NO_DAEMON or REFUSED
     */
    public static HacClient connect() {
        return connect(null, true);
    }

    /**
     * Connects to the daemon at a socket.
     *
     * @param socket its path; null: as {@link #connect()} finds it
     * @param autostart whether a private daemon may be started; one that is named is never started
     * @return to be closed
     * @throws HacException NO_DAEMON or REFUSED
     */
    public static HacClient connect(Path socket, boolean autostart) {
        Native.Texts texts = new Native.Texts()
            .add("the socket", socket != null ? socket.toString() : null).add("the software", "hac.jar");
        return new HacClient(Native.connect(texts.packed(), autostart));
    }

    /**
     * The version of libhac that is loaded.
     *
     * @return such as "0.1.0"
     */
    public static String version() {
        return Native.text(Native.version());
    }

    /**
     * The socket it is connected to.
     *
     * @return a path
     */
    public String socket() {
        return inTurn(() -> Native.text(Native.socket(handle)));
    }

    /** Ends the connection, closes the results of its queries, and cancels what runs. */
    @Override
    public void close() {
        closing = true;
        turn.lock();
        try {
            synchronized (lists) {
                for (HacResult result : results) {
                    result.setClosed();
                    unused.add(result.handle());
                }
                results.clear();
            }
            freeUnused();
            if (handle != 0)
                Native.disconnect(handle);
            handle = 0;
        } finally {
            turn.unlock();
        }
    }

    // ---- queries ----

    /**
     * Queries files of this machine, as one source in that order. They are opened by this process and read by the
     * devices' processes; 64 at most.
     *
     * @param query what is asked; its format goes by the first file's suffix if it has none
     * @param files regular files
     * @return to be closed
     * @throws HacException INVALID: the query is wrong, the message says where; FAILED: a file, or the job
     */
    public HacResult query(HacQuery query, Path... files) {
        Native.Texts texts = query.texts();
        for (Path file : files)
            texts.add("a file's name", file.toString());
        HacQuery.Format byDefault = files.length > 0 ? HacQuery.Format.of(files[0]) : null;
        return run(() -> Native.queryFiles(handle, texts.packed(), query.numbers(byDefault, HacQuery.RESULT_TABLE)));
    }

    /**
     * Queries text, or a Parquet file, in memory.
     *
     * @param query what is asked; it must have a format
     * @param text direct; from its position to its limit. It is copied before the job begins
     * @return to be closed
     * @throws HacException INVALID: the query is wrong; FAILED: the text, or the job
     */
    public HacResult query(HacQuery query, ByteBuffer text) {
        if (!text.isDirect())
            throw new IllegalArgumentException("the text is in no direct buffer");
        ByteBuffer slice = text.slice();
        try {
            return run(() -> Native.queryMemory(handle, query.texts().packed(), query.numbers(null, HacQuery.RESULT_TABLE),
                                                Native.address(slice), slice.remaining()));
        } finally {
            Reference.reachabilityFence(slice);
        }
    }

    /**
     * Queries columns in memory. They are copied before the job begins.
     *
     * @param query what is asked; its format and schema are not used
     * @param table the columns
     * @return to be closed
     * @throws HacException INVALID: the query is wrong; FAILED: the job
     */
    public HacResult query(HacQuery query, HacTable table) {
        Native.Texts texts = query.texts();
        table.addTexts(texts);
        try {
            return run(() -> Native.queryColumns(handle, texts.packed(), query.numbers(null, HacQuery.RESULT_TABLE), table.rows(), table.parts()));
        } finally {
            Reference.reachabilityFence(table);
        }
    }

    // ---- Parquet files ----

    /**
     * Writes what a query gives to a Parquet file: {@code new HacQuery().select("*")} converts files as they are.
     * The file gets its name when it is complete.
     *
     * @param query what is asked; its format goes by the first file's suffix if it has none
     * @param out the Parquet file; one that exists is replaced
     * @param files regular files, 64 at most
     * @throws HacException INVALID: the query is wrong; FAILED: a file, or the job
     * @throws IOException {@code out} cannot be written
     */
    public void convert(HacQuery query, Path out, Path... files) throws IOException {
        Native.Texts texts = query.texts();
        for (Path file : files)
            texts.add("a file's name", file.toString());
        HacQuery.Format byDefault = files.length > 0 ? HacQuery.Format.of(files[0]) : null;
        long[] numbers = query.numbers(byDefault, HacQuery.RESULT_PARQUET);
        Path folder = out.toAbsolutePath().getParent();
        Path temporary = folder.resolve("." + out.getFileName() + "." + ProcessHandle.current().pid() + ".tmp");
        try {
            IOException failed = inTurn(() -> {
                long job = Native.queryFiles(handle, texts.packed(), numbers);
                try {
                    await(job);
                    return write(job, temporary);
                } finally {
                    Native.freeJob(job); // and cancels it, if it has not ended
                }
            });
            if (failed != null)
                throw failed;
            Files.move(temporary, out, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /** @return null: it is written */
    private static IOException write(long job, Path file) {
        Memory memory = new Memory(Native.jobAddress(job), Native.jobBytes(job));
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            for (ByteBuffer part : memory.parts())
                while (part.hasRemaining())
                    channel.write(part);
            channel.force(false);
            return null;
        } catch (IOException e) {
            return e;
        }
    }

    // ---- logic files ----

    /**
     * Runs a logic file (docs/flows/opsplit.md): its inputs are files, its outputs are written to a folder. A thread
     * of its own runs it, so that an interrupt of this one ends it.
     *
     * @param run the file, its inputs and its folder
     * @throws HacException INVALID: the logic file is wrong, the message says where; FAILED: an input, or the job
     */
    public void opsplit(HacOpsplit run) {
        byte[] texts = run.texts().packed();
        long[] numbers = run.numbers();
        this.<Void>inTurn(() -> {
            int stop = Native.newStop();
            try {
                await(() -> Native.opsplit(handle, texts, numbers, stop), stop);
            } finally {
                Native.freeStop(stop);
            }
            return null;
        });
    }

    /** Runs an action that is not cut into slices, in another thread; this one waits, and has the turn. */
    private void await(Runnable action, int stop) {
        Throwable[] thrown = {null};
        HacException reason = null;
        boolean interrupted = false;
        Thread worker = new Thread(action, "org.hac.opsplit");
        worker.setUncaughtExceptionHandler((thread, e) -> thrown[0] = e);
        worker.setDaemon(true);
        worker.start();
        while (worker.isAlive()) {
            try {
                worker.join(SLICE_MILLIS);
                if (closing && reason == null)
                    reason = new HacException(HacException.Code.CANCELLED, "the client was closed while the job ran");
            } catch (InterruptedException e) {
                reason = new HacException(HacException.Code.CANCELLED, "the thread was interrupted");
                interrupted = true;
            }
            if (reason != null)
                Native.stop(stop);
        }
        if (interrupted)
            Thread.currentThread().interrupt();
        if (thrown[0] instanceof HacException && reason == null)
            throw (HacException) thrown[0];
        if (thrown[0] != null && reason != null)
            throw reason;
        if (thrown[0] != null)
            throw new IllegalStateException(thrown[0]);
    }

    // ---- sorts ----

    /**
     * Sorts keys in memory.
     *
     * @param sort the type of the keys, and how they are sorted
     * @param keys direct; from its position to its limit, in the machine's byte order. They are copied before the job begins
     * @return a copy of the sorted keys, or of the indices, in the machine's byte order; it needs no closing
     * @throws HacException INVALID: the options; FAILED: the job
     */
    public ByteBuffer sort(HacSort sort, ByteBuffer keys) {
        if (!keys.isDirect())
            throw new IllegalArgumentException("the keys are in no direct buffer");
        ByteBuffer slice = keys.slice();
        int bytes = sort.type().bytes();
        if (slice.remaining() % bytes != 0)
            throw new IllegalArgumentException(slice.remaining() + " bytes are no whole number of keys of " + bytes + " bytes");
        try {
            return inTurn(() -> {
                long job = Native.sortMemory(handle, sort.texts().packed(), sort.numbers(), Native.address(slice),
                                             slice.remaining() / bytes);
                try {
                    await(job);
                    return ByteBuffer.wrap(Native.jobData(job)).order(ByteOrder.nativeOrder());
                } finally {
                    Native.freeJob(job); // and cancels it, if it has not ended
                }
            });
        } finally {
            Reference.reachabilityFence(slice);
        }
    }

    // ---- Parquet, by row group ----

    /**
     * What a Parquet file holds.
     *
     * @param file a regular file
     * @return JSON: rows, columns, row groups and their statistics
     * @throws HacException FAILED: it cannot be read, or is no Parquet file
     */
    public String describeParquet(Path file) {
        byte[] texts = new Native.Texts().add("a file's name", file.toString()).packed();
        return inTurn(() -> {
            long job = Native.describeParquet(handle, texts);
            try {
                await(job);
                return Native.text(Native.jobData(job));
            } finally {
                Native.freeJob(job);
            }
        });
    }

    /**
     * The number of a Parquet file's row groups.
     *
     * @param file a regular file
     * @return 0 or more
     * @throws HacException FAILED: it cannot be read, or is no Parquet file
     */
    public long rowGroups(Path file) {
        return Json.lengthOf(describeParquet(file), "row_groups");
    }

    /**
     * Runs a query over each row group of a Parquet file by itself: one result a group, in the file's order. What is
     * aggregated is aggregated within the group.
     *
     * @param query what is asked; row groups that were set in it are not used
     * @param file a regular file
     * @return results, each to be closed; a group is read when it is asked for
     * @throws HacException FAILED: it cannot be read, or is no Parquet file
     */
    public Iterator<HacResult> byRowGroup(HacQuery query, Path file) {
        long groups = rowGroups(file);
        return new Iterator<HacResult>() {
            private long next;

            @Override
            public boolean hasNext() {
                return next < groups;
            }

            @Override
            public HacResult next() {
                if (!hasNext())
                    throw new NoSuchElementException("the file has " + groups + " row groups");
                HacResult result = query(query.copy().rowGroups(next, 1), file);
                next++;
                return result;
            }
        };
    }

    // ---- questions ----

    /**
     * The devices, as {@code hacctl --json devices} has them.
     *
     * @return JSON
     */
    public String devices() {
        return inTurn(() -> Native.text(Native.ask(handle, Native.DEVICES, 0)));
    }

    /**
     * What a job did, where, and how long it took.
     *
     * @param job its number, {@link HacResult#job()}
     * @return JSON
     * @throws HacException NOT_FOUND: it is no longer known
     */
    public String receipt(long job) {
        return inTurn(() -> Native.text(Native.ask(handle, Native.RECEIPT, job)));
    }

    // ---- turns ----

    private interface Action<T> {
        T get();
    }

    private <T> T inTurn(Action<T> action) {
        try {
            turn.lockInterruptibly();
        } catch (InterruptedException e) {
            throw interrupted();
        }
        try {
            if (closing)
                throw new IllegalStateException("the client was closed");
            return action.get();
        } finally {
            freeUnused();
            turn.unlock();
            freeUnusedIfFree(); // what was added between these two lines
        }
    }

    private HacResult run(Action<Long> submit) {
        return inTurn(() -> {
            long job = submit.get();
            try {
                await(job);
                return result(job);
            } finally {
                Native.freeJob(job); // and cancels it, if it has not ended
            }
        });
    }

    private HacResult result(long job) {
        String remark = Native.text(Native.jobText(job));
        long exported = Native.export(job);
        try {
            HacResult result = new HacResult(this, exported, Native.jobId(job), remark);
            synchronized (lists) {
                results.add(result);
            }
            return result;
        } catch (Throwable e) {
            Native.freeResult(exported);
            throw e;
        }
    }

    private void await(long job) {
        while (!Native.await(job, SLICE_MILLIS)) {
            if (Thread.interrupted())
                throw interrupted();
            if (closing)
                throw new HacException(HacException.Code.CANCELLED, "the client was closed while the query ran");
            freeUnused();
        }
    }

    private static HacException interrupted() {
        Thread.currentThread().interrupt();
        return new HacException(HacException.Code.CANCELLED, "the thread was interrupted");
    }

    // ---- results that were closed, maybe while another thread has its turn ----

    void release(HacResult result) {
        synchronized (lists) {
            if (!results.remove(result))
                return;
            result.setClosed();
            unused.add(result.handle());
        }
        freeUnusedIfFree();
    }

    private void freeUnusedIfFree() {
        while (hasUnused() && turn.tryLock()) {
            try {
                freeUnused();
            } finally {
                turn.unlock();
            }
        }
    }

    private boolean hasUnused() {
        synchronized (lists) {
            return !unused.isEmpty();
        }
    }

    /** In turn only. */
    private void freeUnused() {
        synchronized (lists) {
            for (Long result : unused)
                Native.freeResult(result);
            unused.clear();
        }
    }
}
