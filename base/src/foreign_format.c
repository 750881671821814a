/* SPDX-License-Identifier: Apache-2.0 */
#include "base/foreign_format.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

typedef struct foreign_format {
    const char *what;  /* "a zip archive" */
    const char *magic; /* bytes at `at` */
    uint8_t bytes;
    uint16_t at;
    bool letters; /* the magic is letters, as text may begin: it counts only with a control byte behind it */
    const char *hint; /* what to type instead; FILE stands for the input */
} foreign_format;

#define MAGIC(text) text, sizeof(text) - 1

#define TO_PARQUET(read)                                                                                     \
    "python3 -c \"import pyarrow as a, pyarrow.orc, pyarrow.parquet as p; p.write_table(" read               \
    ", 'FILE.parquet')\""
#define FIRST  "unpack it first: "
#define TABLES "save the sheet as csv"
#define OTHER  "there is nothing in it to read"

static const foreign_format formats[] = {
    {"a zip archive", MAGIC("PK\3\4"), 0, false, FIRST "unzip -p FILE"},
    {"an empty zip archive", MAGIC("PK\5\6"), 0, false, OTHER},
    {"a part of a zip archive", MAGIC("PK\7\10"), 0, false, FIRST "unzip -p FILE"},
    {"data packed with gzip", MAGIC("\x1f\x8b\x08"), 0, false, FIRST "gzip -dc FILE"},
    {"data packed with zstd", MAGIC("\x28\xb5\x2f\xfd"), 0, false, FIRST "zstd -dc FILE"},
    {"data packed with bzip2", MAGIC("\x31\x41\x59\x26\x53\x59"), 4, false, FIRST "bzip2 -dc FILE"},
    {"data packed with bzip2 (empty)", MAGIC("\x17\x72\x45\x38\x50\x90"), 4, false, OTHER},
    {"data packed with xz",
     MAGIC("\xfd"
           "7zXZ\0"),
     0, false, FIRST "xz -dc FILE"},
    {"data packed with lz4", MAGIC("\x04\x22\x4d\x18"), 0, false, FIRST "lz4 -dc FILE"},
    {"data packed with lz4", MAGIC("\x02\x21\x4c\x18"), 0, false, FIRST "lz4 -dc FILE"},
    {"data packed with lzop", MAGIC("\x89LZO\0\r\n\x1a\n"), 0, false, FIRST "lzop -dc FILE"},
    {"data packed with snappy", MAGIC("\xff\x06\0\0sNaPpY"), 0, false, FIRST "snzip -dc FILE"},
    {"data packed with compress", MAGIC("\x1f\x9d"), 0, false, FIRST "gzip -dc FILE"},
    {"a 7z archive", MAGIC("7z\xbc\xaf\x27\x1c"), 0, false, FIRST "7z e -so FILE"},
    {"a RAR archive", MAGIC("Rar!\x1a\x07"), 0, false, FIRST "unrar p -inul FILE"},
    {"a tar archive", MAGIC("ustar\0"), 257, false, FIRST "tar -xOf FILE"},
    {"a tar archive", MAGIC("ustar  "), 257, false, FIRST "tar -xOf FILE"},
    {"an array of NumPy", MAGIC("\x93NUMPY"), 0, false,
     "python3 -c \"import numpy, sys; numpy.savetxt(sys.stdout, numpy.load('FILE'))\""},
    {"a Parquet file", MAGIC("PAR1"), 0, true, "say --parse parquet"},
    {"a Parquet file, encrypted", MAGIC("PARE"), 0, true, "decrypt it first"},
    {"an ORC file", MAGIC("ORC"), 0, true, TO_PARQUET("pyarrow.orc.read_table('FILE')")},
    {"an Avro file", MAGIC("Obj\1"), 0, false,
     "duckdb -c \"copy (from read_avro('FILE')) to 'FILE.parquet'\""},
    {"an Arrow file", MAGIC("ARROW1\0\0"), 0, false, TO_PARQUET("a.ipc.open_file('FILE').read_all()")},
    {"an Arrow stream", MAGIC("\xff\xff\xff\xff"), 0, true,
     TO_PARQUET("a.ipc.open_stream('FILE').read_all()")},
    {"a Feather file (version 1)", MAGIC("FEA1"), 0, true,
     TO_PARQUET("__import__('pyarrow.feather').feather.read_table('FILE')")},
    {"a database of SQLite", MAGIC("SQLite format 3\0"), 0, false,
     "sqlite3 -csv -header FILE 'select * from TABLE'"},
    {"a database of DuckDB", MAGIC("DUCK"), 8, true, "duckdb -csv FILE 'from TABLE'"},
    {"a SequenceFile of Hadoop", MAGIC("SEQ\6"), 0, false, "hadoop fs -text FILE"},
    {"an RCFile of Hive", MAGIC("RCF\1"), 0, false, "hive --rcfilecat FILE"},
    {"an HDF5 file", MAGIC("\x89HDF\r\n\x1a\n"), 0, false, "h5dump FILE"},
    {"a MATLAB file", MAGIC("MATLAB 5.0 MAT-file"), 0, false, "save its matrices as csv"},
    {"a Python pickle", MAGIC("\x80\x04\x95"), 0, false, "write the data as csv or Parquet"},
    {"a Python pickle", MAGIC("\x80\x05\x95"), 0, false, "write the data as csv or Parquet"},
    {"an old document of Excel or Word", MAGIC("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), 0, false, TABLES},
    {"a PDF document", MAGIC("%PDF-"), 0, false, "pdftotext FILE -"},
    {"a PNG picture", MAGIC("\x89PNG\r\n\x1a\n"), 0, false, OTHER},
    {"a JPEG picture", MAGIC("\xff\xd8\xff"), 0, false, OTHER},
    {"a GIF picture", MAGIC("GIF8"), 0, true, OTHER},
    {"a program (ELF)",
     MAGIC("\x7f"
           "ELF"),
     0, false, OTHER},
};

/* A control byte other than white space in the first bytes: text has none. */
static bool has_control(const uint8_t *data, size_t bytes)
{
    for (size_t i = 0; i < bytes && i < 64; i++)
        if (data[i] < 0x20 && (data[i] < '\t' || data[i] > '\r'))
            return true;
    return false;
}

static bool begins_like(const foreign_format *f, const uint8_t *data, size_t bytes)
{
    if (bytes < (size_t)f->at + f->bytes || memcmp(data + f->at, f->magic, f->bytes) != 0)
        return false;
    return !f->letters || has_control(data, bytes);
}

/* ---- text in UTF-16 and UTF-32 ---- */

typedef struct wide_text {
    const char *name; /* as iconv names it */
    uint8_t width;    /* bytes of a character */
    uint8_t low;      /* which of them is not 0 in the characters of ASCII */
    const char *mark; /* `width` bytes */
} wide_text;

/* UTF-32 before UTF-16, whose mark is the beginning of UTF-32's. */
static const wide_text wide_texts[] = {{"UTF-32LE", 4, 0, "\xff\xfe\0\0"},
                                       {"UTF-32BE", 4, 3, "\0\0\xfe\xff"},
                                       {"UTF-16LE", 2, 0, "\xff\xfe"},
                                       {"UTF-16BE", 2, 1, "\xfe\xff"}};

static bool has_wide_mark(const wide_text *w, const uint8_t *data, size_t bytes)
{
    return bytes >= w->width && memcmp(data, w->mark, w->width) == 0;
}

static bool is_printable(uint8_t byte)
{
    return (byte >= ' ' && byte <= '~') || byte == '\t' || byte == '\n' || byte == '\r';
}

/* Whether the first characters, 2 at least, are all ASCII: small numbers would be control characters. */
static bool is_wide_ascii(const wide_text *w, const uint8_t *data, size_t bytes)
{
    size_t n = (bytes < 64 ? bytes : 64) / w->width;
    for (size_t i = 0; i < n * w->width; i++)
        if (i % w->width == w->low ? !is_printable(data[i]) : data[i] != 0)
            return false;
    return n >= 2;
}

static hac_status refuse_wide(const uint8_t *data, size_t bytes, const char *wanted, const char *name,
                              hac_error *err)
{
    for (size_t i = 0; i < sizeof wide_texts / sizeof *wide_texts; i++) {
        const wide_text *w = &wide_texts[i];
        bool mark = has_wide_mark(w, data, bytes);
        if (!mark && !is_wide_ascii(w, data, bytes))
            continue;
        /* with a mark, iconv finds the byte order itself, and leaves the mark out */
        int letters = mark ? (int)sizeof("UTF-16") - 1 : (int)strlen(w->name);
        return hac_fail(
            err, HAC_FAILED,
            "%.200s: is text in %s, and %s is read as UTF-8; convert it first: iconv -f %.*s -t UTF-8 "
            "FILE",
            name, w->name, wanted, letters, w->name);
    }
    return HAC_OK;
}

/* ---- numbers that are text ---- */

/* Whether the bytes are lines of visible ASCII: numbers in binary have other bytes among so many. */
static bool is_ascii_lines(const uint8_t *data, size_t bytes)
{
    bool line = false, visible = false;
    for (size_t i = 0; i < bytes; i++) {
        line |= data[i] == '\n';
        visible |= data[i] > ' ';
        if (data[i] > '~' || (data[i] < ' ' && (data[i] < '\t' || data[i] > '\r')))
            return false;
    }
    return line && visible && bytes >= 8;
}

static hac_status refuse_lines(const uint8_t *data, size_t bytes, const char *wanted, const char *name,
                               hac_error *err)
{
    if (!is_ascii_lines(data, bytes))
        return HAC_OK;
    return hac_fail(err, HAC_FAILED,
                    "%.200s: is lines of text, not %s in binary; to sort the rows of a text file, say "
                    "--input-format csv --key COLUMN; if it is numbers all the same, say --raw",
                    name, wanted);
}

/* Whether the name is one of a spreadsheet, which is a zip archive. */
static bool is_spreadsheet(const char *name)
{
    static const char *const suffixes[] = {".xlsx", ".xlsm", ".xlsb", ".ods"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot != NULL && i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcasecmp(dot, suffixes[i]) == 0)
            return true;
    return false;
}

static bool decides(const foreign_format *f, hac_foreign_use use)
{
    if (use == HAC_FOREIGN_RECORDS)
        return f->bytes >= 6;
    return use == HAC_FOREIGN_TEXT || (f->bytes >= 4 && f->magic[0] != '\xff');
}

hac_status hac_foreign_refuse(const uint8_t *data, size_t bytes, hac_foreign_use use, const char *wanted,
                              const char *name, hac_error *err)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const foreign_format *f = &formats[i];
        if (!decides(f, use) || !begins_like(f, data, bytes))
            continue;
        if (i == 0 && is_spreadsheet(name))
            return hac_fail(err, HAC_FAILED, "%.200s: is a spreadsheet, not %s; " TABLES, name, wanted);
        return hac_fail(err, HAC_FAILED, "%.200s: is %s, not %s; %s%s", name, f->what, wanted, f->hint,
                        use == HAC_FOREIGN_NUMBERS ? "; if it is numbers all the same, say --raw" : "");
    }
    if (use == HAC_FOREIGN_NUMBERS)
        return refuse_lines(data, bytes, wanted, name, err);
    return use == HAC_FOREIGN_TEXT ? refuse_wide(data, bytes, wanted, name, err) : HAC_OK;
}

hac_status hac_foreign_refuse_file(int fd, uint64_t offset, hac_foreign_use use, const char *wanted,
                                   const char *name, hac_error *err)
{
    uint8_t begin[HAC_FOREIGN_BYTES];
    ssize_t n = pread(fd, begin, sizeof begin, (off_t)offset);
    return n > 0 ? hac_foreign_refuse(begin, (size_t)n, use, wanted, name, err) : HAC_OK;
}
