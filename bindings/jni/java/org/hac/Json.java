/* SPDX-License-Identifier: Apache-2.0 */
package org.hac;

/** The little that this package reads of hacd's JSON. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** The number of elements of a list that is a member of the object {@code text}. */
    static long lengthOf(String text, String member) {
        Json json = new Json(text);
        json.expect('{');
        while (json.next() == '"') {
            boolean found = json.string().equals(member);
            json.expect(':');
            long elements = json.value();
            if (found && elements >= 0)
                return elements;
            if (json.next() == ',')
                json.at++;
        }
        throw json.broken();
    }

    private HacException broken() {
        return new HacException(HacException.Code.PROTOCOL, "hacd's answer is not the JSON that is expected, at character " + at);
    }

    private char next() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0)
            at++;
        if (at >= text.length())
            throw broken();
        return text.charAt(at);
    }

    private void expect(char wanted) {
        if (next() != wanted)
            throw broken();
        at++;
    }

    /** Names that are looked for have no escapes. */
    private String string() {
        expect('"');
        int begin = at;
        while (at < text.length() && text.charAt(at) != '"')
            at += text.charAt(at) == '\\' ? 2 : 1;
        if (at >= text.length())
            throw broken();
        return text.substring(begin, at++);
    }

    /** Goes behind a value; of a list the number of its elements, -1 of others. */
    private long value() {
        char first = next();
        if (first == '"')
            string();
        else if (first == '{' || first == '[')
            return nested();
        else
            while (at < text.length() && ",]}".indexOf(text.charAt(at)) < 0)
                at++;
        return -1;
    }

    /** Without recursion: depth goes by brackets, elements by the commas of the outermost. */
    private long nested() {
        boolean list = next() == '[';
        long commas = 0;
        int depth = 0;
        boolean empty = true;
        do {
            char c = next();
            if (c == '"') {
                string();
                empty = false;
                continue;
            }
            at++;
            if (c == '[' || c == '{') {
                empty &= depth == 0;
                depth++;
            } else if (c == ']' || c == '}') {
                depth--;
            } else {
                empty = false;
                commas += c == ',' && depth == 1 ? 1 : 0;
            }
        } while (depth > 0);
        return list ? (empty ? 0 : commas + 1) : -1;
    }
}
