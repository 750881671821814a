/* SPDX-License-Identifier: Apache-2.0 */
package org.hac;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;

/** Of what is not public: memory in parts, and the reading of JSON. */
public final class InternalsTest {
    private InternalsTest() {}

    private static void check(boolean good, String what) {
        if (!good)
            throw new AssertionError(what);
    }

    /** Parts of 16 bytes instead of 1 GiB, over every length up to several of them. */
    public static void testMemory() {
        ByteBuffer all = ByteBuffer.allocateDirect(100).order(ByteOrder.nativeOrder());
        byte[] copy = new byte[100];
        new Random(5).nextBytes(copy);
        all.duplicate().put(copy);
        for (int bytes = 0; bytes <= 100; bytes++) {
            Memory memory = new Memory(Native.address(all), bytes, 4);
            for (int at = 0; at < bytes; at++) {
                check(memory.getByte(at) == copy[at], "byte " + at);
                check(at % 2 != 0 || at + 2 > bytes || memory.getShort(at) == all.getShort(at), "short at " + at);
                check(at % 4 != 0 || at + 4 > bytes || memory.getInt(at) == all.getInt(at), "int at " + at);
                check(at % 8 != 0 || at + 8 > bytes || memory.getLong(at) == all.getLong(at), "long at " + at);
                for (int bit = 0; bit < 8; bit++)
                    check(memory.getBit(8L * at + bit) == ((copy[at] >> bit & 1) != 0), "bit " + bit + " of " + at);
                for (int n = 0; n <= bytes - at; n++)
                    check(Arrays.equals(memory.get(at, n), Arrays.copyOfRange(copy, at, at + n)), n + " bytes at " + at);
                ByteBuffer slice = memory.slice(at, bytes - at);
                check(slice.remaining() == bytes - at && slice.get(0) == copy[at], "slice at " + at);
            }
            check(memory.all().remaining() == bytes, "all " + bytes);
            refuses(memory, -1, 1);
            refuses(memory, 0, bytes + 1);
            refuses(memory, bytes + 1, 0);
            refuses(memory, 0, -1);
        }
    }

    private static void refuses(Memory memory, long at, long n) {
        try {
            memory.slice(at, n);
        } catch (IndexOutOfBoundsException e) {
            return;
        }
        throw new AssertionError("a slice of " + n + " bytes at " + at);
    }

    public static void testJson() {
        Object[][] good = {
            {"{\"a\":[]}", 0L}, {"{\"a\":[1]}", 1L}, {" { \"a\" : [ 1 , 2 ] } ", 2L}, {"{\"a\":[[],[1,2],{}]}", 3L},
            {"{\"a\":[{\"b\":[1,2,3]},{\"a\":[1]}]}", 2L}, {"{\"x\":\"a\",\"a\":[1,2]}", 2L},
            {"{\"x\":{\"a\":[1]},\"y\":[\"a\",[1]],\"z\":-1.5e3,\"a\":[null,true]}", 2L},
            {"{\"x\":\"\\\"]}\\\\\",\"a\":[\"],[\",\"\\\"\"]}", 2L}, {"{\"a\":[[[]]]}", 1L}, {"{\"a\":[\n]}", 0L}};
        for (Object[] text : good)
            check(Json.lengthOf((String) text[0], "a") == (Long) text[1], text[0] + ": " + Json.lengthOf((String) text[0], "a"));
        String[] bad = {"", "{", "{}", "[]", "{\"b\":[1]}", "{\"a\":1}", "{\"a\":[1", "{\"a\":[\"", "{\"a\"", "{\"a\":", "{\"x\":\"\\",
                        "{\"x\":[}", "{\"x\":{\"a\":[1]}}", "{a:[1]}"};
        for (String text : bad)
            try {
                Json.lengthOf(text, "a");
                throw new AssertionError(text);
            } catch (HacException e) {
                check(e.code() == HacException.Code.PROTOCOL, text);
            }
    }
}
