/* SPDX-License-Identifier: Apache-2.0 */
package org.hac;

import java.util.Objects;

/** How keys are sorted, for {@link HacClient#sort}. Not thread-safe. */
public final class HacSort extends HacJobOptions<HacSort> {
    private static final long serialVersionUID = 1L;

    /** Types of keys. Floats are in total order: -0.0 before 0.0, and all NaN behind infinity. */
    public enum Type {
        /** 32 bits without a sign. */
        U32,
        /** {@code int}. */
        I32,
        /** {@code float}. */
        F32,
        /** 64 bits without a sign. */
        U64,
        /** {@code long}. */
        I64,
        /** {@code double}. */
        F64;

        int bytes() {
            return this == U32 || this == I32 || this == F32 ? 4 : 8;
        }
    }

    /** How devices sort. Every algorithm gives the same answer. */
    public enum Algorithm {
        /** What the models of the devices say is faster. */
        AUTO,
        /** The bitonic sort. */
        BITONIC,
        /** The radix sort. */
        RADIX
    }

    private final Type type;
    private boolean descending;
    private boolean argsort;
    private Algorithm algorithm = Algorithm.AUTO;

    /** @param type of the keys */
    public HacSort(Type type) {
        this.type = Objects.requireNonNull(type, "type");
    }

    /**
     * The largest key comes first.
     *
     * @return this
     */
    public HacSort descending() {
        this.descending = true;
        return this;
    }

    /**
     * The result is the indices that sort the keys, 32 bits each; equal keys keep their order.
     *
     * @return this
     */
    public HacSort argsort() {
        this.argsort = true;
        return this;
    }

    /**
     * How devices sort; {@link Algorithm#AUTO} without it.
     *
     * @param algorithm the algorithm
     * @return this
     */
    public HacSort algorithm(Algorithm algorithm) {
        this.algorithm = Objects.requireNonNull(algorithm, "algorithm");
        return this;
    }

    Type type() {
        return type;
    }

    // ---- for native code: the order is that of src/sort.c ----

    Native.Texts texts() {
        return withDevices(new Native.Texts());
    }

    long[] numbers() {
        return new long[] {type.ordinal() + 1, descending ? 1 : 0, argsort ? 1 : 0, algorithm.ordinal(), priority,
                           deadlineMillis, memoryLimit};
    }
}
