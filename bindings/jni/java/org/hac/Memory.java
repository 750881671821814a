/* SPDX-License-Identifier: Apache-2.0 */
package org.hac;

import java.nio.ByteBuffer;

/** Native memory of any size, read through direct buffers of 1 GiB each; aligned values do not lie across their bounds. */
final class Memory {
    private final int shift;
    private final int mask;
    private final long address;
    private final long bytes;
    private final ByteBuffer[] parts;

    Memory(long address, long bytes) {
        this(address, bytes, 30);
    }

    /** @param shift the size of a part as a power of two, 3 to 30 */
    Memory(long address, long bytes, int shift) {
        this.shift = shift;
        this.mask = (1 << shift) - 1;
        this.address = address;
        this.bytes = bytes;
        parts = new ByteBuffer[Math.toIntExact((bytes + mask) >>> shift)];
        for (int i = 0; i < parts.length; i++) {
            long at = (long) i << shift;
            parts[i] = Native.bufferAt(address + at, (int) Math.min(bytes - at, 1L << shift));
        }
    }

    byte getByte(long at) {
        return parts[(int) (at >>> shift)].get((int) at & mask);
    }

    short getShort(long at) {
        return parts[(int) (at >>> shift)].getShort((int) at & mask);
    }

    int getInt(long at) {
        return parts[(int) (at >>> shift)].getInt((int) at & mask);
    }

    long getLong(long at) {
        return parts[(int) (at >>> shift)].getLong((int) at & mask);
    }

    boolean getBit(long at) {
        return (getByte(at >>> 3) >> (at & 7) & 1) != 0;
    }

    byte[] get(long at, long n) {
        byte[] copy = new byte[Math.toIntExact(n)];
        for (int done = 0; done < copy.length;) {
            ByteBuffer part = parts[(int) (at + done >>> shift)].duplicate();
            part.position((int) (at + done) & mask);
            int take = Math.min(part.remaining(), copy.length - done);
            part.get(copy, done, take);
            done += take;
        }
        return copy;
    }

    /** Buffers of their own that hold everything, one after another. */
    ByteBuffer[] parts() {
        ByteBuffer[] all = new ByteBuffer[parts.length];
        for (int i = 0; i < all.length; i++)
            all[i] = parts[i].duplicate();
        return all;
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
