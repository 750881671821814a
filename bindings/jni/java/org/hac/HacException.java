/* SPDX-License-Identifier: Apache-2.0 */
package org.hac;

import java.nio.charset.StandardCharsets;

/** What went wrong, in libhac, in hacd or in a job: a {@link Code} for programs and one line for people. */
public final class HacException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** The codes of {@code <hac/error.h>}, which are stable. */
    public enum Code {
        /** The job failed: unreadable or truncated input, a value that overflows, a full disk. */
        FAILED(1),
        /** A wrong query, expression, schema or option. */
        INVALID(2),
        /** No daemon can be reached, or it speaks another version of the protocol. */
        NO_DAEMON(3),
        /** Permission, quota or overload. */
        REFUSED(4),
        /** The job was cancelled, or its thread interrupted. */
        CANCELLED(5),
        /** An allocation failed. */
        NO_MEMORY(6),
        /** A system call failed. */
        IO(7),
        /** The daemon broke the protocol. */
        PROTOCOL(8),
        /** A device or its driver failed. */
        DEVICE(9),
        /** This device, build or file cannot do it. */
        UNSUPPORTED(10),
        /** No such job, column, device or program. */
        NOT_FOUND(11),
        /** Nothing to do now. */
        AGAIN(12),
        /** A defect of hac. */
        INTERNAL(13);

        private final int number;

        Code(int number) {
            this.number = number;
        }

        private static Code of(int number) {
            for (Code code : values())
                if (code.number == number)
                    return code;
            return INTERNAL;
        }
    }

    private final Code code;

    HacException(Code code, String message) {
        super(message);
        this.code = code;
    }

    /** Called by the native methods. */
    private HacException(int number, byte[] message) {
        this(Code.of(number), new String(message, StandardCharsets.UTF_8));
    }

    /**
     * What kind of error it is.
     *
     * @return never null
     */
    public Code code() {
        return code;
    }
}
