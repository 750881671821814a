/* SPDX-License-Identifier: Apache-2.0 */
#include "command_table.h"

#include "commands/cmd.h"

const hac_command hac_commands[] = {
    {"devices", "list the devices: state, group, memory, capability", "", NULL, 0, 0, 0, HAC_WORDS_NONE,
     hac_cmd_devices},
    {"calibrate", "measure the devices, then print the break-even sizes of this machine", "[DEVICE…]",
     "Measures the performance models of the named devices, or of all: what each device does alone, and what "
     "they do together. Takes about a minute per device. Ctrl-C ends it and keeps what was measured.",
     HAC_FOR_MEASURE, 0, SIZE_MAX, HAC_WORDS_DEVICE, hac_cmd_calibrate},
    {"tune", "search thread, kernel style, work-group and block settings", "[DEVICE…]",
     "Tries settings on the named devices, or on all, with sorts and queries of several types and sizes. "
     "Other settings are kept only if they were faster in at least 9 of 10 rounds, and by 3 % in the median. "
     "Takes about a minute per device, and longer where kernels must be built. For administrators; "
     "everybody may --show.",
     HAC_FOR_MEASURE | HAC_FOR_TUNE, 0, SIZE_MAX, HAC_WORDS_DEVICE, hac_cmd_tune},
    {"query", "filter, group and aggregate rows of any kind, with options or SQL",
     "IN… [OPTION…] | \"SELECT … FROM 'IN' …\" [OPTION…]",
     "IN are files, folders, or - for standard input: csv, tsv, JSON lines, Parquet, plain text. Types are "
     "found in the first records unless --schema gives them. SQL takes one source; its FROM may also be a "
     "pattern: 'logs/2*.csv'. Parquet files are read as `parquet query` reads them, pipes and compressed "
     "files as `splice`, other files as `mapreduce`; `hacctl explain query …` says which. docs/sql.md "
     "describes the SQL, docs/expressions.md the expressions.",
     HAC_FOR_QUERY, 1, SIZE_MAX, HAC_WORDS_FILE, hac_cmd_query},
    {"describe", "list the columns of files of any kind with their types", "IN… [OPTION…]",
     "IN is as in query: files, a folder, a pattern in quotes, or - for standard input. Types are those of "
     "the first records, of --schema, or of a Parquet file; a column that cannot be read has none.",
     HAC_FOR_SUMMARY, 1, SIZE_MAX, HAC_WORDS_FILE, hac_cmd_describe},
    {"summarize", "say what the columns of files hold: count, nulls, smallest, largest, quartiles",
     "IN… [OPTION…]",
     "One row for each column: count, nulls, distinct, min, max, and of numbers mean, stddev, q25, median "
     "and q75. All values are exact: they are those of the query's aggregates. --where takes only some rows.",
     HAC_FOR_SUMMARY, 1, SIZE_MAX, HAC_WORDS_FILE, hac_cmd_summarize},
    {"sort", "sort a raw little-endian array, or the rows of a file",
     "IN --type TYPE [-o OUT] [OPTION…] | IN --input-format csv|parquet --key COLUMN,… [-o OUT] [OPTION…]",
     "IN is a file, or - for standard input. Without -o the result goes to standard output. Equal keys keep "
     "their input order. Floats are in total order: -0.0 before +0.0, all NaNs last. With --key whole rows "
     "are sorted, nulls last. Types of csv are found in its records; --schema gives them to the columns "
     "that it names, and leaves none out.",
     HAC_FOR_SORT, 1, 1, HAC_WORDS_FILE, hac_cmd_sort},
    {"splice", "filter, group and aggregate a stream of any length", "IN…|- --select EXPR,… [OPTION…]",
     "Reads any number of files one after another; - is standard input. The input is cut into splits of "
     "whole records, and the devices work on one split while the next is read, so that memory does not grow "
     "with the input. Input that is gzip or zstd is decompressed. Rows are written as they come, unless "
     "--order-by or a Parquet file needs all of them first. docs/flows/splice.md explains more.",
     HAC_FOR_SPLICE, 1, SIZE_MAX, HAC_WORDS_FILE, hac_cmd_splice},
    {"pipe", "run a splice as a filter of Hadoop Streaming or Spark's pipe()", "--select EXPR,… [OPTION…]",
     "Reads standard input and writes standard output: columns joined by TAB, no header, null as \\N; with "
     "--io typedbytes Hadoop's typed bytes. Without --parse each line is a row with the column `line`; csv "
     "and tsv have a header line only with --header. Counters and states for Hadoop (reporter: lines) go to "
     "standard error unless there is --quiet. docs/hadoop-spark.md has command lines.",
     HAC_FOR_PIPE, 0, 0, HAC_WORDS_NONE, hac_cmd_pipe},
    {"mapreduce", "filter, group and aggregate the rows of files",
     "IN… --select EXPR,… [OPTION…] | JOB IN… [OPTION…]",
     "Reads up to 253 files as one; - is standard input. JOB is a named query: wordcount, histogram, "
     "groupby, inverted-index, string-match, linear-regression, page-view-count, k-means (with "
     "--centroids), matrix-multiply (with --with); options change any part of it. Without -o the result "
     "goes to standard output. Columns are text unless --schema gives them a type. `man hacctl` has "
     "examples; docs/expressions.md describes the language.",
     HAC_FOR_MAPREDUCE, 1, SIZE_MAX, HAC_WORDS_NAMED, hac_cmd_mapreduce},
    {"parquet query", "filter, group and aggregate the rows of Parquet files",
     "IN… --select EXPR,… [OPTION…]",
     "A folder stands for the Parquet files in it and in its subfolders. Only the "
     "data that the query needs is read. Types are those of the file; --schema chooses columns and checks "
     "their types. Text, such as csv, is converted first, in memory.",
     HAC_FOR_PARQUET_QUERY, 1, SIZE_MAX, HAC_WORDS_FILE, hac_cmd_parquet_query},
    {"parquet convert", "write a Parquet file from csv, tsv, JSON lines, raw arrays or Parquet",
     "IN OUT [OPTION…]",
     "The suffix of IN or --parse tells its format; with --type IN is a raw array, which becomes the column "
     "`value`; - is standard input. OUT appears when it is complete.",
     HAC_FOR_CONVERT, 2, 2, HAC_WORDS_FILE, hac_cmd_parquet_convert},
    {"parquet inspect", "show what a Parquet file contains", "FILE",
     "Prints the columns with their types, the row groups, and the codecs, encodings, sizes and statistics "
     "of their columns. --json prints everything.",
     0, 1, 1, HAC_WORDS_FILE, hac_cmd_parquet_inspect},
    {"kernels build", "build a device's kernels ahead of time, into one file", "--device D -o FILE",
     "The file is for profiles that say `program: {binary: FILE}`. Such a device needs no compiler, and "
     "FPGAs have none. The file fits only this device, driver and release of hac. docs/fpga.md explains "
     "more.",
     HAC_FOR_KERNELS, 0, 0, HAC_WORDS_NONE, hac_cmd_kernels_build},
    {"opsplit run", "run a logic file: operators over vectors, split over the devices",
     "LOGIC.yaml [--input NAME=FILE]… [-o DIR] [OPTION…]",
     "Loads the inputs, splits the operators into sub-operators and runs each where it ends first, or where "
     "the rule or a pin says. Writes exactly the outputs that the logic file names to DIR. "
     "docs/flows/opsplit.md describes logic files.",
     HAC_FOR_OPSPLIT, 1, 1, HAC_WORDS_FILE, hac_cmd_opsplit_run},
    {"opsplit check", "report the errors of a logic file", "LOGIC.yaml",
     "Prints OK, or all errors with file, line and column: names, templates, types, shapes, order. Reads no "
     "data and asks no daemon.",
     0, 1, 1, HAC_WORDS_FILE, hac_cmd_opsplit_check},
    {"opsplit op", "list, show, add or remove OPs of your own",
     "list | show NAME[@VERSION] | add FILE.yaml | remove NAME[@VERSION]",
     "An OP is a composition of sub-operators with parameters that logic files use by its name. It is "
     "checked when it is added. Every change is a new version; a name without a version means the newest. "
     "OPs are kept in $XDG_DATA_HOME/hac/opsplit. docs/flows/opsplit.md describes how to write them.",
     0, 1, 2, HAC_WORDS_OPERATOR, hac_cmd_opsplit_op},
    {"opsplit subop", "list, show, add or remove sub-operators",
     "list | show NAME[@VERSION] | add FILE.yaml | remove NAME[@VERSION]",
     "Also lists the built-in sub-operators, which docs/opsplit-library.md describes. Your own are typed "
     "expressions with named arguments, kept and versioned as OPs are.",
     0, 1, 2, HAC_WORDS_OPERATOR, hac_cmd_opsplit_subop},
    {"run", "run a pipeline: jobs that use each other's results", "PIPELINE.yaml [--receipt FILE]",
     "A step of the file is a job's command line: query, sort, convert or opsplit with its options; job:STEP "
     "is the result of another step, which stays in memory. Prints rows, time and devices of each step. "
     "docs/pipelines.md describes the file.",
     HAC_FOR_RUN, 1, 1, HAC_WORDS_FILE, hac_cmd_run},
    {"explain", "show the plan of a job before it runs", "JOB [OPTION…]",
     "JOB is a whole query, sort, splice, mapreduce, parquet query, parquet convert or opsplit run command. "
     "For a sort of an array, --items COUNT can replace IN; for a query, --input-size SIZE gives the size "
     "of the input. Nothing is sorted or written; options that say where results go are ignored. The plan "
     "of a logic file shows what each OP becomes: its sub-operators, their components, and the order.",
     HAC_FOR_ANY_PLAN, 1, SIZE_MAX, HAC_WORDS_PLAN, hac_cmd_explain},
    {"simulate", "show the plan and predicted time of a job on another machine",
     "--profiles DIR JOB [OPTION…]",
     "JOB is the same as for explain. Every device profile *.yaml in DIR is one device of the machine; its "
     "`match` is ignored, and no OpenCL is needed. A profile must state the capabilities that the job needs.",
     HAC_FOR_ANY_PLAN | HAC_FOR_SIMULATE, 1, SIZE_MAX, HAC_WORDS_PLAN, hac_cmd_simulate},
    {"jobs", "list your jobs", "[--all]",
     "Lists the jobs that the daemon has at hand: those that have not ended, and those that ended last. "
     "Without JOB, show, why, log and trace tell of your newest job.",
     HAC_FOR_LIST, 0, 0, HAC_WORDS_NONE, hac_cmd_jobs},
    {"show", "show a job: state, progress, plan", "[JOB] [--format text|json|svg] [--receipt FILE]",
     "Without JOB: your newest job. svg is a drawing of the plan.", HAC_FOR_SHOW, 0, 1, HAC_WORDS_JOB,
     hac_cmd_show},
    {"why", "say why a job runs where it does, and what it waits for", "[JOB]",
     "Without JOB: your newest job.", 0, 0, 1, HAC_WORDS_JOB, hac_cmd_why},
    {"wait", "wait until a job has ended; the exit code is the job's", "JOB",
     "Ctrl-C ends the waiting and does not cancel the job.", 0, 1, 1, HAC_WORDS_JOB, hac_cmd_wait},
    {"result", "fetch the result of a detached job", "JOB [-o OUT]",
     "Waits for the job if it still runs. Ctrl-C ends the waiting and does not cancel the job.",
     HAC_FOR_RESULT, 1, 1, HAC_WORDS_JOB, hac_cmd_result},
    {"cancel", "cancel a job", "JOB", NULL, 0, 1, 1, HAC_WORDS_JOB, hac_cmd_cancel},
    {"log", "print a job's log", "[JOB] [-f]", "Without JOB: your newest job.", HAC_FOR_LOG, 0, 1,
     HAC_WORDS_JOB, hac_cmd_log},
    {"trace", "print a job's trace: predicted and measured times", "[JOB] [-o FILE]",
     "Without JOB: your newest job. The trace is Chrome/Perfetto JSON: open it with ui.perfetto.dev or "
     "chrome://tracing.",
     HAC_FOR_TRACE, 0, 1, HAC_WORDS_JOB, hac_cmd_trace},
    {"doctor", "check this machine's set-up", "", "Exits with 1 if something is wrong.", 0, 0, 0,
     HAC_WORDS_NONE, hac_cmd_doctor},
    {"top", "report devices, jobs and memory until Ctrl-C", "[--once] [--interval TIME]",
     "On a terminal each report replaces the one before; elsewhere reports follow one another. --json prints "
     "one object per line. Two samples are needed to tell how busy a device is, so --once takes one "
     "interval.",
     HAC_FOR_TOP, 0, 0, HAC_WORDS_NONE, hac_cmd_top},
    {"metrics", "print the daemon's metrics (OpenMetrics text)", "", NULL, 0, 0, 0, HAC_WORDS_NONE,
     hac_cmd_metrics},
    {"reload", "make the daemon read its configuration and profiles again", "", NULL, 0, 0, 0, HAC_WORDS_NONE,
     hac_cmd_reload},
    {"drain", "make the daemon finish its jobs, accept no new ones, and exit", "", NULL, 0, 0, 0,
     HAC_WORDS_NONE, hac_cmd_drain},
    {"version", "print the versions of hacctl and of the daemon", "", NULL, 0, 0, 0, HAC_WORDS_NONE,
     hac_cmd_version},
    {"completion", "print the completion script of a shell", "bash|fish|zsh",
     "Packages install the scripts. Without them: source <(hacctl completion bash)", 0, 1, 1, HAC_WORDS_SHELL,
     hac_cmd_completion},
    {"help", "explain a command", "[COMMAND]", NULL, 0, 0, 2, HAC_WORDS_COMMAND, hac_cmd_help},
    {.name = NULL},
};
