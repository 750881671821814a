/* SPDX-License-Identifier: Apache-2.0 */
package org.hac;

import java.nio.ByteBuffer;

/** Native memory of any size, read through direct buffers of 1 GiB each; values do not lie across their bounds. */
final class Memory {
    private static final int SHIFT = 30;
    private static final int MASK = (1 << SHIFT) - 1;

    private final long address;
    private final long bytes;
    private final ByteBuffer[] parts;

    Memory(long address, long bytes) {
        this.address = address;
        this.bytes = bytes;
        parts = new ByteBuffer[Math.toIntExact((bytes + MASK) >>> SHIFT)];
        for (int i = 0; i < parts.length; i++) {
            long at = (long) i << SHIFT;
            parts[i] = Native.bufferAt(address + at, (int) Math.min(bytes - at, 1L << SHIFT));
        }
    }

    byte getByte(long at) {
        return parts[(int) (at >>> SHIFT)].get((int) at & MASK);
    }

    short getShort(long at) {
        return parts[(int) (at >>> SHIFT)].getShort((int) at & MASK);
    }

    int getInt(long at) {
        return parts[(int) (at >>> SHIFT)].getInt((int) at & MASK);
    }

    long getLong(long at) {
        return parts[(int) (at >>> SHIFT)].getLong((int) at & MASK);
    }

    boolean getBit(long at) {
        return (getByte(at >>> 3) >> (at & 7) & 1) != 0;
    }

    byte[] get(long at, long n) {
        byte[] copy = new byte[Math.toIntExact(n)];
        for (int done = 0; done < copy.length;) {
            ByteBuffer part = parts[(int) (at + done >>> SHIFT)].duplicate();
            part.position((int) (at + done) & MASK);
            int take = Math.min(part.remaining(), copy.length - done);
            part.get(copy, done, take);
            done += take;
        }
        return copy;
    }

    /** A buffer of its own. */
    ByteBuffer slice(long at, long n) {
        if (at < 0 || n < 0 || n > bytes - at)
            throw new IndexOutOfBoundsException(n + " bytes at " + at + " of " + bytes);
        if (n > Integer.MAX_VALUE)
            throw new IllegalStateException(n + " bytes do not fit into a ByteBuffer; take a range of rows");
        return Native.bufferAt(address + at, (int) n);
    }

    ByteBuffer all() {
        return slice(0, bytes);
    }
}
