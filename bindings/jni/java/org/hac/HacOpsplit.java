/* SPDX-License-Identifier: Apache-2.0 */
package org.hac;

import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * A run of a logic file, for {@link HacClient#opsplit}: its inputs, and the folder for its outputs. Belongs to one
 * thread while it is being set.
 */
public final class HacOpsplit extends HacJobOptions<HacOpsplit> {
    private static final long serialVersionUID = 1L;

    private final String logic;
    private final TreeMap<String, String> inputs = new TreeMap<>();
    private String output;
    private int components;
    private boolean fast;

    /** @param logic the YAML file */
    public HacOpsplit(Path logic) {
        this.logic = Objects.requireNonNull(logic, "logic").toString();
    }

    /**
     * An input of the logic file.
     *
     * @param name as the logic file has it
     * @param file a file, or a folder for {@code directory: true}
     * @return this
     */
    public HacOpsplit input(String name, Path file) {
        inputs.put(Objects.requireNonNull(name, "name"), file.toString());
        return this;
    }

    /**
     * The folder for the outputs, which is made if need be. Without it no outputs are written.
     *
     * @param folder its path
     * @return this
     */
    public HacOpsplit output(Path folder) {
        this.output = folder.toString();
        return this;
    }

    /**
     * Components of vectors that do not state a split. The result does not depend on them.
     *
     * @param components 0: the devices decide
     * @return this
     */
    public HacOpsplit components(int components) {
        if (components < 0 || components > 1024)
            throw new IllegalArgumentException(components + " components: 0 to 1024");
        this.components = components;
        return this;
    }

    /**
     * Without effect: results are the same on every machine.
     *
     * @return this
     */
    public HacOpsplit fast() {
        this.fast = true;
        return this;
    }

    // ---- for native code: the order is that of src/opsplit.c ----

    Native.Texts texts() {
        Native.Texts texts = new Native.Texts().add("the logic file", logic).add("the output's folder", output);
        for (Map.Entry<String, String> input : inputs.entrySet())
            texts.add("an input's name", input.getKey()).add("a file's name", input.getValue());
        return withDevices(texts);
    }

    long[] numbers() {
        return new long[] {components, priority, deadlineMillis, memoryLimit, fast ? 1 : 0, inputs.size(), deviceCount()};
    }
}
