/* SPDX-License-Identifier: Apache-2.0 */
package org.hac;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * libhacjni. Handles are pointers: they must be used by one thread at a time for each client, and never after they
 * were freed. {@link HacClient} and {@link HacResult} see to that.
 */
final class Native {
    /** Topics of {@code hac_client_query}. */
    static final int RECEIPT = 5;
    static final int DEVICES = 1;

    static {
        String library = System.getProperty("org.hac.library");
        if (library != null)
            System.load(Path.of(library).toAbsolutePath().toString());
        else
            System.loadLibrary("hacjni");
    }

    private Native() {}

    static native byte[] version();

    static native long connect(byte[] texts, boolean autostart);

    static native void disconnect(long client);

    static native byte[] socket(long client);

    static native byte[] ask(long client, int topic, long job);

    /** The number of the format that a file's suffix stands for; 0: none. */
    static native int formatOf(byte[] path);

    static native long queryFiles(long client, byte[] texts, long[] numbers);

    static native long queryMemory(long client, byte[] texts, long[] numbers, long address, long bytes);

    static native long queryColumns(long client, byte[] texts, long[] numbers, long rows, long[] parts);

    static native long describeParquet(long client, byte[] texts);

    static native long sortMemory(long client, byte[] devices, long[] numbers, long address, long items);

    static native boolean await(long job, int milliseconds);

    static native void freeJob(long job);

    static native long jobId(long job);

    static native byte[] jobText(long job);

    static native byte[] jobData(long job);

    static native long jobAddress(long job);

    static native long jobBytes(long job);

    /** Runs to its end, or to its failure; {@link #stop} ends it from another thread. */
    static native void opsplit(long client, byte[] texts, long[] numbers, int stop);

    static native int newStop();

    static native void stop(int stop);

    static native void freeStop(int stop);

    static native long export(long job);

    static native void freeResult(long result);

    static native long rows(long result);

    static native int columns(long result);

    static native byte[] columnName(long result, int column);

    static native byte[] columnFormat(long result, int column);

    static native long columnPart(long result, int column, int part);

    static native ByteBuffer view(long address, long bytes);

    static native long address(ByteBuffer buffer);

    // ---- helpers ----

    static String text(byte[] utf8) {
        return new String(utf8, StandardCharsets.UTF_8);
    }

    /** Read-only, in the machine's order. The memory is not kept alive by the buffer. */
    static ByteBuffer bufferAt(long address, int bytes) {
        ByteBuffer buffer = bytes == 0 ? ByteBuffer.allocateDirect(0) : view(address, bytes);
        return buffer.asReadOnlyBuffer().order(ByteOrder.nativeOrder());
    }

    /** Texts on their way to native code, see {@code hacjni_texts}. */
    static final class Texts {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        /**
         * @param what for the message when it cannot be a text of C
         * @param text null is passed on as null
         */
        Texts add(String what, String text) {
            bytes.write(text == null ? 0 : 1);
            if (text == null)
                return this;
            try {
                ByteBuffer utf8 = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
                bytes.write(utf8.array(), 0, utf8.limit());
            } catch (CharacterCodingException e) {
                throw new HacException(HacException.Code.INVALID, what + " has half of a surrogate pair");
            }
            if (text.indexOf('\0') >= 0)
                throw new HacException(HacException.Code.INVALID, what + " has a NUL character");
            bytes.write(0);
            return this;
        }

        byte[] packed() {
            return bytes.toByteArray();
        }
    }
}
