/* SPDX-License-Identifier: Apache-2.0 */
package org.hac;

import java.io.Serializable;

/**
 * What every job may be given: {@link HacQuery}, {@link HacSort} and {@link HacOpsplit} extend this class.
 *
 * @param <T> the class that extends this one, which the setters return
 */
public abstract class HacJobOptions<T extends HacJobOptions<T>> implements Serializable {
    private static final long serialVersionUID = 1L;

    private String[] devices = {};
    int priority;
    long deadlineMillis;
    long memoryLimit;

    HacJobOptions() {}

    @SuppressWarnings("unchecked")
    private T self() {
        return (T) this;
    }

    /**
     * The devices that may take part, as {@code hacctl devices} names them.
     *
     * @param names none: all devices
     * @return this
     */
    public T devices(String... names) {
        this.devices = names.clone();
        return self();
    }

    /**
     * Which job goes first.
     *
     * @param priority -100 to 100, higher first
     * @return this
     */
    public T priority(int priority) {
        this.priority = priority;
        return self();
    }

    /**
     * The job is given up after that time.
     *
     * @param milliseconds 0: never
     * @return this
     */
    public T deadline(long milliseconds) {
        this.deadlineMillis = milliseconds;
        return self();
    }

    /**
     * What the job may take of the user's memory in hacd.
     *
     * @param bytes 0: all of it
     * @return this
     */
    public T memoryLimit(long bytes) {
        this.memoryLimit = bytes;
        return self();
    }

    // ---- for native code ----

    int deviceCount() {
        return devices.length;
    }

    /** Adds the devices' names, which come last. */
    Native.Texts withDevices(Native.Texts texts) {
        for (String device : devices)
            texts.add("a device's name", device);
        return texts;
    }
}
