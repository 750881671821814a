# SPDX-License-Identifier: Apache-2.0
# bash completion for hacctl. Made by `hacctl completion bash`; do not edit.

_hacctl_words() { mapfile -t COMPREPLY < <(compgen -W "$*" -- "$cur"); }

# Files ("-f") or folders ("-d").
_hacctl_paths() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}

# Names of devices or ids of jobs, from a daemon that runs already.
_hacctl_names() {
    timeout 2 "${COMP_WORDS[0]}" --no-autostart --quiet "$1" 2>/dev/null |
        awk 'NR > 1 && $1 ~ /^[[:alnum:]._-]+$/ { print $1 }'
}

# a,b,…: completes the last name.
_hacctl_device_list() {
    local before=''
    [[ $cur == *,* ]] && before=${cur%,*},
    compopt -o nospace 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$(_hacctl_names devices)" -- "${cur##*,}")
}

_hacctl() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local command='' after=0 word i
    local commands='devices calibrate tune query describe summarize sort splice pipe mapreduce parquet kernels opsplit run explain simulate jobs show why wait result cancel log trace doctor top metrics reload drain version completion help'
    local groups='parquet kernels opsplit'
    local global='--socket --json -q --quiet --no-autostart -h --help -V --version'
    local values='--type --algorithm --scheme --fold --items --input-format --key --where --group-by --having --select --order-by --limit --offset --limit-by --engine --hot-keys --centroids --with --input --placement --threshold --components --parse --split-size --io --input-size --schema --infer --delimiter --null --byte-order --on-error --decimal --thousands --dates --quote --escape --comment -o --output --output-format --codec --row-group-size --row-group-rows --block-size --devices --priority --deadline --memory --determinism --trace --receipt --format --profiles --device --interval --socket --sample --hot-share --work-groups --work-items'
    COMPREPLY=()
    # bash cuts --type=u32 into three words
    if [[ $cur == '=' ]]; then
        cur=''
    elif [[ $prev == '=' ]]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $word == '=' || (" $values " == *" $word "* && ${COMP_WORDS[i + 1]} != '=') ]]; then
            ((i++))
        elif [[ $word == -?* ]]; then
            continue
        elif [[ -z $command ]]; then
            command=$word
        elif [[ " $groups " == *" $command "* ]]; then
            command+=" $word"
        else
            ((after++))
        fi
    done
    case $prev in
    --type) _hacctl_words u32 i32 f32 u64 i64 f64; return ;;
    --algorithm) _hacctl_words auto bitonic radix; return ;;
    --scheme) _hacctl_words auto proportional lower upper none; return ;;
    --fold) _hacctl_words auto none; return ;;
    --items) return ;;
    --input-format) _hacctl_words csv parquet; return ;;
    --key) return ;;
    --where) return ;;
    --group-by) return ;;
    --having) return ;;
    --select) return ;;
    --order-by) return ;;
    --limit) return ;;
    --offset) return ;;
    --limit-by) return ;;
    --engine) _hacctl_words auto host device; return ;;
    --hot-keys) _hacctl_words on off; return ;;
    --centroids) _hacctl_paths -f; return ;;
    --with) _hacctl_paths -f; return ;;
    --input) _hacctl_paths -f; return ;;
    --placement) _hacctl_words measured rule; return ;;
    --threshold) return ;;
    --components) return ;;
    --parse) _hacctl_words csv tsv jsonl lines words kv fixed parquet lengths typedbytes clf logfmt syslog; return ;;
    --split-size) return ;;
    --io) _hacctl_words text typedbytes; return ;;
    --input-size) return ;;
    --schema) return ;;
    --infer) _hacctl_words on off; return ;;
    --delimiter) return ;;
    --null) return ;;
    --byte-order) _hacctl_words little big; return ;;
    --on-error) _hacctl_words fail skip; return ;;
    --decimal) _hacctl_words auto point comma; return ;;
    --thousands) _hacctl_words auto none comma point space apostrophe; return ;;
    --dates) _hacctl_words auto ymd dmy mdy; return ;;
    --quote) return ;;
    --escape) return ;;
    --comment) return ;;
    -o | --output) _hacctl_paths -f; return ;;
    --output-format) _hacctl_words csv json parquet table tsv jsonl markdown arrow; return ;;
    --codec) _hacctl_words zstd none snappy gzip lz4; return ;;
    --row-group-size) return ;;
    --row-group-rows) return ;;
    --block-size) return ;;
    --devices) _hacctl_device_list; return ;;
    --priority) return ;;
    --deadline) return ;;
    --memory) return ;;
    --determinism) _hacctl_words exact fast; return ;;
    --trace) _hacctl_paths -f; return ;;
    --receipt) _hacctl_paths -f; return ;;
    --format) _hacctl_words text json svg; return ;;
    --profiles) _hacctl_paths -d; return ;;
    --device) _hacctl_device_list; return ;;
    --interval) return ;;
    --socket) _hacctl_paths -f; return ;;
    --sample) return ;;
    --hot-share) return ;;
    --work-groups) return ;;
    --work-items) return ;;
    esac
    case $command in
    '') if [[ $cur == -* ]]; then _hacctl_words "$global"; else _hacctl_words "$commands"; fi ;;
    parquet) if [[ $cur == -* ]]; then _hacctl_words "$global"; else _hacctl_words query convert inspect; fi ;;
    kernels) if [[ $cur == -* ]]; then _hacctl_words "$global"; else _hacctl_words build; fi ;;
    opsplit) if [[ $cur == -* ]]; then _hacctl_words "$global"; else _hacctl_words run check op subop; fi ;;
    devices)
        if [[ $cur == -* ]]; then _hacctl_words "$global"; fi
        ;;
    calibrate)
        if [[ $cur == -* ]]; then _hacctl_words --detach --priority --deadline --memory --trace --receipt "$global"; else _hacctl_words "$(_hacctl_names devices)"; fi
        ;;
    tune)
        if [[ $cur == -* ]]; then _hacctl_words --detach --priority --deadline --memory --trace --receipt --show --revert --reset "$global"; else _hacctl_words "$(_hacctl_names devices)"; fi
        ;;
    query)
        if [[ $cur == -* ]]; then _hacctl_words --where --group-by --having --select --order-by --limit --offset --limit-by --distinct --engine --hot-keys --parse --schema --infer --header --no-header --delimiter --null --byte-order --on-error --trim --decimal --thousands --dates --quote --escape --comment -o --output --output-format --codec --row-group-size --row-group-rows --block-size --devices --detach --priority --deadline --memory --determinism --trace --receipt --sample --hot-share --work-groups --work-items "$global"; else _hacctl_paths -f; fi
        ;;
    describe)
        if [[ $cur == -* ]]; then _hacctl_words --where --parse --schema --infer --header --no-header --delimiter --null --byte-order --on-error --trim --decimal --thousands --dates --quote --escape --comment -o --output --output-format --devices --priority --deadline --memory "$global"; else _hacctl_paths -f; fi
        ;;
    summarize)
        if [[ $cur == -* ]]; then _hacctl_words --where --parse --schema --infer --header --no-header --delimiter --null --byte-order --on-error --trim --decimal --thousands --dates --quote --escape --comment -o --output --output-format --devices --priority --deadline --memory "$global"; else _hacctl_paths -f; fi
        ;;
    sort)
        if [[ $cur == -* ]]; then _hacctl_words --type --descending --argsort --raw --algorithm --scheme --fold --input-format --key --schema --infer --header --no-header --delimiter --null --byte-order --on-error --trim --decimal --thousands --dates --quote --escape --comment -o --output --output-format --codec --row-group-size --row-group-rows --block-size --devices --detach --priority --deadline --memory --determinism --trace --receipt "$global"; else _hacctl_paths -f; fi
        ;;
    splice)
        if [[ $cur == -* ]]; then _hacctl_words --where --group-by --having --select --order-by --limit --offset --limit-by --distinct --engine --hot-keys --parse --split-size --schema --infer --header --no-header --delimiter --null --byte-order --on-error --trim --decimal --thousands --dates --quote --escape --comment -o --output --output-format --codec --row-group-size --row-group-rows --block-size --devices --detach --priority --deadline --memory --determinism --trace --receipt --sample --hot-share --work-groups --work-items "$global"; else _hacctl_paths -f; fi
        ;;
    pipe)
        if [[ $cur == -* ]]; then _hacctl_words --where --group-by --having --select --order-by --limit --offset --limit-by --distinct --engine --hot-keys --parse --split-size --io --schema --infer --header --no-header --delimiter --null --byte-order --on-error --trim --decimal --thousands --dates --quote --escape --comment --devices --priority --deadline --memory --determinism --trace --receipt --sample --hot-share --work-groups --work-items "$global"; fi
        ;;
    mapreduce)
        if [[ $cur == -* ]]; then _hacctl_words --where --group-by --having --select --order-by --limit --offset --limit-by --distinct --engine --hot-keys --centroids --with --parse --schema --infer --header --no-header --delimiter --null --byte-order --on-error --trim --decimal --thousands --dates --quote --escape --comment -o --output --output-format --codec --row-group-size --row-group-rows --block-size --devices --detach --priority --deadline --memory --determinism --trace --receipt --sample --hot-share --work-groups --work-items "$global"; else _hacctl_paths -f; ((after == 0)) && mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W 'wordcount histogram groupby inverted-index string-match linear-regression page-view-count k-means matrix-multiply' -- "$cur"); fi
        ;;
    'parquet query')
        if [[ $cur == -* ]]; then _hacctl_words --where --group-by --having --select --order-by --limit --offset --limit-by --distinct --engine --hot-keys --parse --schema --infer --header --no-header --delimiter --null --byte-order --on-error --trim --decimal --thousands --dates --quote --escape --comment -o --output --output-format --codec --row-group-size --row-group-rows --block-size --devices --detach --priority --deadline --memory --determinism --trace --receipt --sample --hot-share --work-groups --work-items "$global"; else _hacctl_paths -f; fi
        ;;
    'parquet convert')
        if [[ $cur == -* ]]; then _hacctl_words --type --parse --schema --infer --header --no-header --delimiter --null --byte-order --on-error --trim --decimal --thousands --dates --quote --escape --comment --codec --row-group-size --row-group-rows --block-size --devices --detach --priority --deadline --memory --determinism --trace --receipt "$global"; else _hacctl_paths -f; fi
        ;;
    'parquet inspect')
        if [[ $cur == -* ]]; then _hacctl_words "$global"; else _hacctl_paths -f; fi
        ;;
    'kernels build')
        if [[ $cur == -* ]]; then _hacctl_words -o --output --device "$global"; fi
        ;;
    'opsplit run')
        if [[ $cur == -* ]]; then _hacctl_words --input --placement --threshold --components --kernels -o --output --devices --detach --priority --deadline --memory --determinism --trace --receipt "$global"; else _hacctl_paths -f; fi
        ;;
    'opsplit check')
        if [[ $cur == -* ]]; then _hacctl_words "$global"; else _hacctl_paths -f; fi
        ;;
    'opsplit op')
        if [[ $cur == -* ]]; then _hacctl_words "$global"; elif ((after == 0)); then _hacctl_words list show add remove; else _hacctl_paths -f; fi
        ;;
    'opsplit subop')
        if [[ $cur == -* ]]; then _hacctl_words "$global"; elif ((after == 0)); then _hacctl_words list show add remove; else _hacctl_paths -f; fi
        ;;
    run)
        if [[ $cur == -* ]]; then _hacctl_words --receipt "$global"; else _hacctl_paths -f; fi
        ;;
    explain)
        if [[ $cur == -* ]]; then _hacctl_words --type --descending --argsort --raw --algorithm --scheme --fold --items --input-format --key --where --group-by --having --select --order-by --limit --offset --limit-by --distinct --engine --hot-keys --centroids --with --input --placement --threshold --components --kernels --parse --split-size --input-size --schema --infer --header --no-header --delimiter --null --byte-order --on-error --trim --decimal --thousands --dates --quote --escape --comment -o --output --output-format --codec --row-group-size --row-group-rows --block-size --devices --detach --priority --deadline --memory --determinism --trace --receipt --format --sample --hot-share --work-groups --work-items "$global"; elif ((after == 0)); then _hacctl_words query sort splice mapreduce parquet opsplit; else _hacctl_paths -f; [[ $prev == parquet ]] && _hacctl_words query convert; [[ $prev == opsplit ]] && _hacctl_words run; fi
        ;;
    simulate)
        if [[ $cur == -* ]]; then _hacctl_words --type --descending --argsort --raw --algorithm --scheme --fold --items --input-format --key --where --group-by --having --select --order-by --limit --offset --limit-by --distinct --engine --hot-keys --centroids --with --input --placement --threshold --components --kernels --parse --split-size --input-size --schema --infer --header --no-header --delimiter --null --byte-order --on-error --trim --decimal --thousands --dates --quote --escape --comment -o --output --output-format --codec --row-group-size --row-group-rows --block-size --devices --detach --priority --deadline --memory --determinism --trace --receipt --format --profiles --sample --hot-share --work-groups --work-items "$global"; elif ((after == 0)); then _hacctl_words query sort splice mapreduce parquet; else _hacctl_paths -f; [[ $prev == parquet ]] && _hacctl_words query convert; fi
        ;;
    jobs)
        if [[ $cur == -* ]]; then _hacctl_words --all "$global"; fi
        ;;
    show)
        if [[ $cur == -* ]]; then _hacctl_words --receipt --format "$global"; else _hacctl_words "$(_hacctl_names jobs)"; fi
        ;;
    why)
        if [[ $cur == -* ]]; then _hacctl_words "$global"; else _hacctl_words "$(_hacctl_names jobs)"; fi
        ;;
    wait)
        if [[ $cur == -* ]]; then _hacctl_words "$global"; else _hacctl_words "$(_hacctl_names jobs)"; fi
        ;;
    result)
        if [[ $cur == -* ]]; then _hacctl_words -o --output "$global"; else _hacctl_words "$(_hacctl_names jobs)"; fi
        ;;
    cancel)
        if [[ $cur == -* ]]; then _hacctl_words "$global"; else _hacctl_words "$(_hacctl_names jobs)"; fi
        ;;
    log)
        if [[ $cur == -* ]]; then _hacctl_words -f --follow "$global"; else _hacctl_words "$(_hacctl_names jobs)"; fi
        ;;
    trace)
        if [[ $cur == -* ]]; then _hacctl_words -o --output "$global"; else _hacctl_words "$(_hacctl_names jobs)"; fi
        ;;
    doctor)
        if [[ $cur == -* ]]; then _hacctl_words "$global"; fi
        ;;
    top)
        if [[ $cur == -* ]]; then _hacctl_words --once --interval "$global"; fi
        ;;
    metrics)
        if [[ $cur == -* ]]; then _hacctl_words "$global"; fi
        ;;
    reload)
        if [[ $cur == -* ]]; then _hacctl_words "$global"; fi
        ;;
    drain)
        if [[ $cur == -* ]]; then _hacctl_words "$global"; fi
        ;;
    version)
        if [[ $cur == -* ]]; then _hacctl_words "$global"; fi
        ;;
    completion)
        if [[ $cur == -* ]]; then _hacctl_words "$global"; else _hacctl_words bash fish zsh; fi
        ;;
    help)
        if [[ $cur == -* ]]; then _hacctl_words "$global"; elif [[ $prev == parquet ]]; then _hacctl_words query convert inspect; else _hacctl_words "$commands"; fi
        ;;
    esac
}

complete -F _hacctl hacctl
