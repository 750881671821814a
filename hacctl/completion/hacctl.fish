# SPDX-License-Identifier: Apache-2.0
# fish completion for hacctl. Made by `hacctl completion fish`; do not edit.

set -g __hacctl_values (string split -- ' ' '--type --algorithm --scheme --fold --items --input-format --key --where --group-by --having --select --order-by --limit --offset --limit-by --engine --hot-keys --centroids --with --input --placement --threshold --components --parse --split-size --io --input-size --schema --infer --delimiter --null --byte-order --on-error --decimal --thousands --dates --quote --escape --comment -o --output --output-format --codec --row-group-size --row-group-rows --block-size --devices --priority --deadline --memory --determinism --trace --receipt --format --profiles --device --interval --socket --sample --hot-share --work-groups --work-items')
set -g __hacctl_groups (string split -- ' ' 'parquet kernels opsplit')
set -g __hacctl_commands (string split -- ' ' 'devices calibrate tune query describe summarize sort splice pipe mapreduce parquet kernels opsplit run explain simulate jobs show why wait result cancel log trace doctor top metrics reload drain version completion help')

# The command on the line: one word, or two of a group.
function __hacctl_command
    set -l words
    set -l is_value 0
    for word in (commandline -opc)[2..-1]
        if test $is_value = 1
            set is_value 0
        else if contains -- $word $__hacctl_values
            set is_value 1
        else if not string match -q -- '-?*' $word
            set -a words $word
        end
    end
    if contains -- "$words[1]" $__hacctl_groups
        string join ' ' -- $words[1..2]
    else
        echo $words[1]
    end
end

function __hacctl_in
    contains -- "$(__hacctl_command)" $argv
end

# Names of devices or ids of jobs, from a daemon that runs already.
function __hacctl_names
    timeout 2 hacctl --no-autostart --quiet $argv[1] 2>/dev/null |
        awk 'NR > 1 && $1 ~ /^[[:alnum:]._-]+$/ { print $1 }'
end

complete -c hacctl -f
complete -c hacctl -n '__hacctl_in ""' -a devices -d 'list the devices: state, group, memory, capability'
complete -c hacctl -n '__hacctl_in ""' -a calibrate -d 'measure the devices, then print the break-even sizes of this machine'
complete -c hacctl -n '__hacctl_in ""' -a tune -d 'search thread, kernel style, work-group and block settings'
complete -c hacctl -n '__hacctl_in ""' -a query -d 'filter, group and aggregate rows of any kind, with options or SQL'
complete -c hacctl -n '__hacctl_in ""' -a describe -d 'list the columns of files of any kind with their types'
complete -c hacctl -n '__hacctl_in ""' -a summarize -d 'say what the columns of files hold: count, nulls, smallest, largest, quartiles'
complete -c hacctl -n '__hacctl_in ""' -a sort -d 'sort a raw little-endian array, or the rows of a file'
complete -c hacctl -n '__hacctl_in ""' -a splice -d 'filter, group and aggregate a stream of any length'
complete -c hacctl -n '__hacctl_in ""' -a pipe -d 'run a splice as a filter of Hadoop Streaming or Spark\'s pipe()'
complete -c hacctl -n '__hacctl_in ""' -a mapreduce -d 'filter, group and aggregate the rows of files'
complete -c hacctl -n '__hacctl_in ""' -a parquet -d 'a group of commands'
complete -c hacctl -n '__hacctl_in parquet' -a query -d 'filter, group and aggregate the rows of Parquet files'
complete -c hacctl -n '__hacctl_in parquet' -a convert -d 'write a Parquet file from csv, tsv, JSON lines, raw arrays or Parquet'
complete -c hacctl -n '__hacctl_in parquet' -a inspect -d 'show what a Parquet file contains'
complete -c hacctl -n '__hacctl_in ""' -a kernels -d 'a group of commands'
complete -c hacctl -n '__hacctl_in kernels' -a build -d 'build a device\'s kernels ahead of time, into one file'
complete -c hacctl -n '__hacctl_in ""' -a opsplit -d 'a group of commands'
complete -c hacctl -n '__hacctl_in opsplit' -a run -d 'run a logic file: operators over vectors, split over the devices'
complete -c hacctl -n '__hacctl_in opsplit' -a check -d 'report the errors of a logic file'
complete -c hacctl -n '__hacctl_in opsplit' -a op -d 'list, show, add or remove OPs of your own'
complete -c hacctl -n '__hacctl_in opsplit' -a subop -d 'list, show, add or remove sub-operators'
complete -c hacctl -n '__hacctl_in ""' -a run -d 'run a pipeline: jobs that use each other\'s results'
complete -c hacctl -n '__hacctl_in ""' -a explain -d 'show the plan of a job before it runs'
complete -c hacctl -n '__hacctl_in ""' -a simulate -d 'show the plan and predicted time of a job on another machine'
complete -c hacctl -n '__hacctl_in ""' -a jobs -d 'list your jobs'
complete -c hacctl -n '__hacctl_in ""' -a show -d 'show a job: state, progress, plan'
complete -c hacctl -n '__hacctl_in ""' -a why -d 'say why a job runs where it does, and what it waits for'
complete -c hacctl -n '__hacctl_in ""' -a wait -d 'wait until a job has ended; the exit code is the job\'s'
complete -c hacctl -n '__hacctl_in ""' -a result -d 'fetch the result of a detached job'
complete -c hacctl -n '__hacctl_in ""' -a cancel -d 'cancel a job'
complete -c hacctl -n '__hacctl_in ""' -a log -d 'print a job\'s log'
complete -c hacctl -n '__hacctl_in ""' -a trace -d 'print a job\'s trace: predicted and measured times'
complete -c hacctl -n '__hacctl_in ""' -a doctor -d 'check this machine\'s set-up'
complete -c hacctl -n '__hacctl_in ""' -a top -d 'report devices, jobs and memory until Ctrl-C'
complete -c hacctl -n '__hacctl_in ""' -a metrics -d 'print the daemon\'s metrics (OpenMetrics text)'
complete -c hacctl -n '__hacctl_in ""' -a reload -d 'make the daemon read its configuration and profiles again'
complete -c hacctl -n '__hacctl_in ""' -a drain -d 'make the daemon finish its jobs, accept no new ones, and exit'
complete -c hacctl -n '__hacctl_in ""' -a version -d 'print the versions of hacctl and of the daemon'
complete -c hacctl -n '__hacctl_in ""' -a completion -d 'print the completion script of a shell'
complete -c hacctl -n '__hacctl_in ""' -a help -d 'explain a command'
complete -c hacctl -n '__hacctl_in "calibrate"' -a '(__hacctl_names devices)'
complete -c hacctl -n '__hacctl_in "tune"' -a '(__hacctl_names devices)'
complete -c hacctl -n '__hacctl_in "query"' -F
complete -c hacctl -n '__hacctl_in "describe"' -F
complete -c hacctl -n '__hacctl_in "summarize"' -F
complete -c hacctl -n '__hacctl_in "sort"' -F
complete -c hacctl -n '__hacctl_in "splice"' -F
complete -c hacctl -n '__hacctl_in "mapreduce"' -F -a 'wordcount histogram groupby inverted-index string-match linear-regression page-view-count k-means matrix-multiply'
complete -c hacctl -n '__hacctl_in "parquet query"' -F
complete -c hacctl -n '__hacctl_in "parquet convert"' -F
complete -c hacctl -n '__hacctl_in "parquet inspect"' -F
complete -c hacctl -n '__hacctl_in "opsplit run"' -F
complete -c hacctl -n '__hacctl_in "opsplit check"' -F
complete -c hacctl -n '__hacctl_in "opsplit op"' -F -a 'list show add remove'
complete -c hacctl -n '__hacctl_in "opsplit subop"' -F -a 'list show add remove'
complete -c hacctl -n '__hacctl_in "run"' -F
complete -c hacctl -n '__hacctl_in "explain"' -F -a 'query sort splice mapreduce parquet opsplit'
complete -c hacctl -n '__hacctl_in "simulate"' -F -a 'query sort splice mapreduce parquet opsplit'
complete -c hacctl -n '__hacctl_in "show"' -a '(__hacctl_names jobs)'
complete -c hacctl -n '__hacctl_in "why"' -a '(__hacctl_names jobs)'
complete -c hacctl -n '__hacctl_in "wait"' -a '(__hacctl_names jobs)'
complete -c hacctl -n '__hacctl_in "result"' -a '(__hacctl_names jobs)'
complete -c hacctl -n '__hacctl_in "cancel"' -a '(__hacctl_names jobs)'
complete -c hacctl -n '__hacctl_in "log"' -a '(__hacctl_names jobs)'
complete -c hacctl -n '__hacctl_in "trace"' -a '(__hacctl_names jobs)'
complete -c hacctl -n '__hacctl_in "completion"' -a 'bash fish zsh'
complete -c hacctl -n '__hacctl_in "help"' -a '$__hacctl_commands'
complete -c hacctl -n '__hacctl_in "sort" "parquet convert" "explain" "simulate"' -l type -x -a 'u32 i32 f32 u64 i64 f64' -d 'type of the items of a raw array, little-endian'
complete -c hacctl -n '__hacctl_in "sort" "explain" "simulate"' -l descending -d 'largest first, NaN before all numbers'
complete -c hacctl -n '__hacctl_in "sort" "explain" "simulate"' -l argsort -d 'write the sorted order as u32 indices (u64 from 2^32 items)'
complete -c hacctl -n '__hacctl_in "sort" "explain" "simulate"' -l raw -d 'take the bytes as numbers even if they begin like another format'
complete -c hacctl -n '__hacctl_in "sort" "explain" "simulate"' -l algorithm -x -a 'auto bitonic radix' -d 'how to sort'
complete -c hacctl -n '__hacctl_in "sort" "explain" "simulate"' -l scheme -x -a 'auto proportional lower upper none' -d 'how much the slower devices get'
complete -c hacctl -n '__hacctl_in "sort" "explain" "simulate"' -l fold -x -a 'auto none' -d 'steps of the sorting network that only the fastest device runs: a list (3,6) or one of'
complete -c hacctl -n '__hacctl_in "explain" "simulate"' -l items -x -d 'plan for that many items instead of IN (16777216, 16Mi, 2^24)'
complete -c hacctl -n '__hacctl_in "sort" "explain" "simulate"' -l input-format -x -a 'csv parquet' -d 'sort the rows of such a file by --key'
complete -c hacctl -n '__hacctl_in "sort" "explain" "simulate"' -l key -x -d 'columns to sort rows by: \'a desc, b\''
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "splice" "pipe" "mapreduce" "parquet query" "explain" "simulate"' -l where -x -d 'only rows for which this is true'
complete -c hacctl -n '__hacctl_in "query" "splice" "pipe" "mapreduce" "parquet query" "explain" "simulate"' -l group-by -x -d 'one result row for each combination of these values'
complete -c hacctl -n '__hacctl_in "query" "splice" "pipe" "mapreduce" "parquet query" "explain" "simulate"' -l having -x -d 'only groups for which this is true: \'count() > 1\''
complete -c hacctl -n '__hacctl_in "query" "splice" "pipe" "mapreduce" "parquet query" "explain" "simulate"' -l select -x -d 'columns of the result: \'sum(x * y) as s, count() as n\''
complete -c hacctl -n '__hacctl_in "query" "splice" "pipe" "mapreduce" "parquet query" "explain" "simulate"' -l order-by -x -d 'order of the result: \'s desc, name\''
complete -c hacctl -n '__hacctl_in "query" "splice" "pipe" "mapreduce" "parquet query" "explain" "simulate"' -l limit -x -d 'at most that many result rows'
complete -c hacctl -n '__hacctl_in "query" "splice" "pipe" "mapreduce" "parquet query" "explain" "simulate"' -l offset -x -d 'leave out the first N result rows'
complete -c hacctl -n '__hacctl_in "query" "splice" "pipe" "mapreduce" "parquet query" "explain" "simulate"' -l limit-by -x -d '--limit is for each combination of these values'
complete -c hacctl -n '__hacctl_in "query" "splice" "pipe" "mapreduce" "parquet query" "explain" "simulate"' -l distinct -d 'result rows that are equal appear once'
complete -c hacctl -n '__hacctl_in "query" "splice" "pipe" "mapreduce" "parquet query" "explain" "simulate"' -l engine -x -a 'auto host device' -d 'what aggregates: the faster one (auto), the host\'s CPUs, or device kernels'
complete -c hacctl -n '__hacctl_in "query" "splice" "pipe" "mapreduce" "parquet query" "explain" "simulate"' -l hot-keys -x -a 'on off' -d 'keep frequent keys in local memory; on: even where that is slower'
complete -c hacctl -n '__hacctl_in "mapreduce" "explain" "simulate"' -l centroids -r -F -d 'k-means: the centroids, csv with the points\' column names'
complete -c hacctl -n '__hacctl_in "mapreduce" "explain" "simulate"' -l with -r -F -d 'matrix-multiply: the matrix on the right, csv'
complete -c hacctl -n '__hacctl_in "opsplit run" "explain" "simulate"' -l input -r -F -d 'file or folder of an input that the logic file declares; once for each input'
complete -c hacctl -n '__hacctl_in "opsplit run" "explain" "simulate"' -l placement -x -a 'measured rule' -d 'how devices are chosen for sub-operators: by the measured models, or by type and size'
complete -c hacctl -n '__hacctl_in "opsplit run" "explain" "simulate"' -l threshold -x -d 'size at which --placement rule changes the device'
complete -c hacctl -n '__hacctl_in "opsplit run" "explain" "simulate"' -l components -x -d 'number of components of vectors whose split the logic file does not state'
complete -c hacctl -n '__hacctl_in "opsplit run" "explain" "simulate"' -l kernels -d 'run OpenCL kernels even where host codelets could run'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l parse -x -a 'csv tsv jsonl lines words kv fixed parquet lengths typedbytes clf logfmt syslog' -d 'how the input becomes rows'
complete -c hacctl -n '__hacctl_in "splice" "pipe" "explain" "simulate"' -l split-size -x -d 'bytes of a split'
complete -c hacctl -n '__hacctl_in "pipe"' -l io -x -a 'text typedbytes' -d 'form of the result, and of the input without --parse'
complete -c hacctl -n '__hacctl_in "explain" "simulate"' -l input-size -x -d 'queries: plan for that many bytes instead of IN\'s (20GB)'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l schema -x -d 'columns and their types: name:type,…; columns left out are inferred'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l infer -x -a 'on off' -d 'find the types of columns that --schema does not list; off: they are text'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l header -d 'the first line of csv or tsv names the columns, whatever it looks like'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l no-header -d 'the first line is data; --schema names the columns'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l delimiter -x -d 'separator of the fields of csv'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l null -x -d 'an unquoted field of csv or tsv with this text is null; several: NA,NULL, or --null again'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l byte-order -x -a 'little big' -d 'byte order of numbers and lengths in fixed and lengths'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l on-error -x -a 'fail skip' -d 'what to do about records that cannot be read'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l trim -d 'leave out spaces around fields of csv and tsv that are not quoted'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l decimal -x -a 'auto point comma' -d 'what stands before the fraction of numbers: 12.5 or 12,5'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l thousands -x -a 'auto none comma point space apostrophe' -d 'what stands between groups of three digits of numbers'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l dates -x -a 'auto ymd dmy mdy' -d 'order of day and month in dates: 31.12.2024 is dmy, 12/31/2024 mdy'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l quote -x -d 'what stands around fields of csv and tsv: \' or another character, or none'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l escape -x -d 'the character behind this one is data, as in \" of csv; or none'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l comment -x -d 'lines of csv and tsv that begin with this are left out; or none'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "sort" "splice" "mapreduce" "parquet query" "kernels build" "opsplit run" "explain" "simulate" "result" "trace"' -s o -l output -r -F -d 'write there; the file appears when it is complete, and may be IN'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "sort" "splice" "mapreduce" "parquet query" "explain" "simulate"' -l output-format -x -a 'csv json parquet table tsv jsonl markdown arrow' -d 'form of the result'
complete -c hacctl -n '__hacctl_in "query" "sort" "splice" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l codec -x -a 'zstd none snappy gzip lz4' -d 'compression of the pages'
complete -c hacctl -n '__hacctl_in "query" "sort" "splice" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l row-group-size -x -d 'maximum bytes of a row group'
complete -c hacctl -n '__hacctl_in "query" "sort" "splice" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l row-group-rows -x -d 'maximum rows of a row group'
complete -c hacctl -n '__hacctl_in "query" "sort" "splice" "mapreduce" "parquet query" "parquet convert" "explain" "simulate"' -l block-size -x -d 'no row group crosses a multiple of this many bytes'
complete -c hacctl -n '__hacctl_in "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "opsplit run" "explain" "simulate"' -l devices -x -a '(__hacctl_names devices)' -d 'use only these devices'
complete -c hacctl -n '__hacctl_in "calibrate" "tune" "query" "sort" "splice" "mapreduce" "parquet query" "parquet convert" "opsplit run" "explain" "simulate"' -l detach -d 'print the job\'s id and exit; `hacctl wait` waits until the job ends, `hacctl result` fetches the result of a job without OUT'
complete -c hacctl -n '__hacctl_in "calibrate" "tune" "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "opsplit run" "explain" "simulate"' -l priority -x -d '-100 to 100, higher first'
complete -c hacctl -n '__hacctl_in "calibrate" "tune" "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "opsplit run" "explain" "simulate"' -l deadline -x -d 'fail unless done in that time (30s, 500ms)'
complete -c hacctl -n '__hacctl_in "calibrate" "tune" "query" "describe" "summarize" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "opsplit run" "explain" "simulate"' -l memory -x -d 'use at most that much memory (512MiB)'
complete -c hacctl -n '__hacctl_in "query" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "opsplit run" "explain" "simulate"' -l determinism -x -a 'exact fast' -d 'without effect: every set of devices gives the same answer'
complete -c hacctl -n '__hacctl_in "calibrate" "tune" "query" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "opsplit run" "explain" "simulate"' -l trace -r -F -d 'write a Chrome/Perfetto trace of the job to FILE'
complete -c hacctl -n '__hacctl_in "calibrate" "tune" "query" "sort" "splice" "pipe" "mapreduce" "parquet query" "parquet convert" "opsplit run" "run" "explain" "simulate" "show"' -l receipt -r -F -d 'write to FILE what was done, where and why (JSON)'
complete -c hacctl -n '__hacctl_in "tune"' -l show -d 'print the settings in force, and where each comes from, instead of searching'
complete -c hacctl -n '__hacctl_in "tune"' -l revert -d 'go back to the settings before the last search that changed them'
complete -c hacctl -n '__hacctl_in "tune"' -l reset -d 'forget what all searches found'
complete -c hacctl -n '__hacctl_in "explain" "simulate" "show"' -l format -x -a 'text json svg' -d 'output format'
complete -c hacctl -n '__hacctl_in "simulate"' -l profiles -x -a '(__fish_complete_directories)' -d 'the machine: every profile *.yaml in DIR is a device (required)'
complete -c hacctl -n '__hacctl_in "log"' -s f -l follow -d 'go on until the job ends'
complete -c hacctl -n '__hacctl_in "jobs"' -l all -d 'also list the ended jobs that are remembered, the last 1,000'
complete -c hacctl -n '__hacctl_in "kernels build"' -l device -x -a '(__hacctl_names devices)' -d 'the device whose kernels are built'
complete -c hacctl -n '__hacctl_in "top"' -l once -d 'print one report and exit'
complete -c hacctl -n '__hacctl_in "top"' -l interval -x -d 'time between two reports'
complete -c hacctl -l socket -r -F -d 'use the daemon that listens there'
complete -c hacctl -l json -d 'answer in JSON where that makes sense'
complete -c hacctl -s q -l quiet -d 'only errors on standard error'
complete -c hacctl -l no-autostart -d 'do not start a private daemon when there is none'
complete -c hacctl -s h -l help -d 'show this help'
complete -c hacctl -s V -l version -d 'show hacctl\'s version'
complete -c hacctl -n '__hacctl_in "query" "splice" "pipe" "mapreduce" "parquet query" "explain" "simulate"' -l sample -x -d 'share of the rows that are sampled for hot keys'
complete -c hacctl -n '__hacctl_in "query" "splice" "pipe" "mapreduce" "parquet query" "explain" "simulate"' -l hot-share -x -d 'share of the sample\'s keys that count as hot'
complete -c hacctl -n '__hacctl_in "query" "splice" "pipe" "mapreduce" "parquet query" "explain" "simulate"' -l work-groups -x -d 'number of work-groups of the kernels'
complete -c hacctl -n '__hacctl_in "query" "splice" "pipe" "mapreduce" "parquet query" "explain" "simulate"' -l work-items -x -d 'number of work-items of a work-group'
