/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text form of performance models. A line is a bucket: device key, codelet, type, alone|together,
 * units:seconds …, check sum; TABs between them. The samples begin with a mark for each degree of their
 * disturbance: "", "~", "~~". A plus stands before the first sample of each job.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/type.h"
#include "model_set.h"

#define HEADER   "hac-models 1\n"
#define MAX_LINE 8192

static uint32_t check_sum(const char *bytes, size_t n)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)bytes[i]) * 16777619u;
    return h;
}

/* Keys come from drivers: what would break the line goes out as %XX. */
static void write_escaped(hac_text *text, const char *s)
{
    for (; *s != '\0'; s++) {
        if ((unsigned char)*s < 0x20 || *s == '%')
            hac_text_addf(text, "%%%02X", (unsigned char)*s);
        else
            hac_text_add_bytes(text, s, 1);
    }
}

static void write_bucket(hac_text *text, hac_model_bucket *b)
{
    size_t start = text->bytes;
    write_escaped(text, b->device_key);
    hac_text_add(text, "\t");
    write_escaped(text, b->codelet);
    hac_text_addf(text, "\t%s\t%s\t", hac_type_name(b->type), b->together ? "together" : "alone");
    for (int i = 0; i < (int)b->quality; i++)
        hac_text_add(text, "~");
    for (unsigned i = 0; i < b->n; i++) {
        const hac_model_sample *s = hac_model_sample_of_age(b, b->n - 1 - i);
        hac_text_addf(text, "%s%s%.9g:%.9g", i > 0 ? " " : "", s->begins ? "+" : "", s->units, s->seconds);
    }
    if (!text->broken)
        hac_text_addf(text, "\t%08" PRIx32 "\n", check_sum(text->data + start, text->bytes - start));
}

hac_status hac_model_set_write(hac_model_set *set, char **ret_text, size_t *ret_bytes, hac_error *err)
{
    hac_text text = HAC_TEXT_NONE;
    hac_text_add(&text, HEADER);
    for (size_t i = 0; i < set->n; i++)
        write_bucket(&text, set->buckets[i]);
    hac_status status = hac_text_finish(&text, ret_text, ret_bytes, err);
    if (status == HAC_OK)
        set->dirty = false;
    return status;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool read_escaped(const char *in, char *out, size_t capacity)
{
    size_t n = 0;
    for (; *in != '\0'; in++) {
        char c = *in;
        if (c == '%') {
            int high = hex_digit(in[1]), low = high < 0 ? -1 : hex_digit(in[2]);
            if (low < 0)
                return false;
            c = (char)(high * 16 + low);
            in += 2;
        }
        if (c == '\0' || n + 1 >= capacity)
            return false;
        out[n++] = c;
    }
    out[n] = '\0';
    return n > 0;
}

/* "units:seconds units:seconds …" into `samples`; the number of them, 0 when anything is wrong. */
static unsigned read_samples(char *text, hac_model_sample *samples)
{
    unsigned n = 0;
    char *rest = NULL;
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *end;
        if (n == HAC_MODEL_SAMPLES)
            return 0;
        samples[n].begins = word[0] == '+';
        samples[n].units = strtod(word, &end);
        if (end == word || *end != ':')
            return 0;
        char *second = end + 1;
        samples[n].seconds = strtod(second, &end);
        if (end == second || *end != '\0' || !hac_model_is_measurement(samples[n].units, samples[n].seconds))
            return 0;
        n++;
    }
    return n;
}

static bool read_line(hac_model_set *set, char *line)
{
    char *fields[6];
    char *sum = strrchr(line, '\t');
    if (sum == NULL)
        return false;
    char expected[9];
    snprintf(expected, sizeof(expected), "%08" PRIx32, check_sum(line, (size_t)(sum - line)));
    if (strcmp(sum + 1, expected) != 0)
        return false;
    *sum = '\0';
    char *at = line;
    for (int i = 0; i < 5; i++) {
        fields[i] = strsep(&at, "\t");
        if (fields[i] == NULL)
            return false;
    }
    char key[HAC_MODEL_KEY_MAX], codelet[HAC_MODEL_NAME_MAX];
    hac_type type = hac_type_from_name(fields[2]);
    bool together = strcmp(fields[3], "together") == 0;
    hac_model_sample samples[HAC_MODEL_SAMPLES];
    size_t marks = strspn(fields[4], "~");
    unsigned n = marks <= HAC_COLD ? read_samples(fields[4] + marks, samples) : 0;
    if (at != NULL || n == 0 || !read_escaped(fields[0], key, sizeof(key)) ||
        !read_escaped(fields[1], codelet, sizeof(codelet)) ||
        (type == HAC_TYPE_NONE && strcmp(fields[2], "none") != 0) ||
        (!together && strcmp(fields[3], "alone") != 0))
        return false;
    for (unsigned i = 0; i < n; i++)
        hac_model_set_restore(set, key, codelet, type, together, (hac_disturbance)marks, &samples[i]);
    return true;
}

hac_status hac_model_set_read(hac_model_set *set, const char *text, size_t bytes, size_t *ret_skipped,
                              hac_error *err)
{
    size_t skipped = 0, header = strlen(HEADER);
    bool was_dirty = set->dirty;
    if (bytes < header || memcmp(text, HEADER, header) != 0)
        return hac_fail(err, HAC_UNSUPPORTED, "models: the file does not begin with \"hac-models 1\"");
    for (size_t at = header; at < bytes;) {
        const char *newline = memchr(text + at, '\n', bytes - at);
        size_t length = newline != NULL ? (size_t)(newline - text) - at : bytes - at;
        char line[MAX_LINE];
        bool whole = newline != NULL && length < sizeof(line) && memchr(text + at, '\0', length) == NULL;
        if (whole) {
            memcpy(line, text + at, length);
            line[length] = '\0';
        }
        if (!whole || !read_line(set, line))
            skipped++;
        at += length + 1;
    }
    set->dirty = was_dirty;
    if (ret_skipped != NULL)
        *ret_skipped = skipped;
    return HAC_OK;
}
