#!/bin/sh
# Times every reference rung in the cases of cases.txt, or counts in those of counted_cases.txt, and writes a table to
# standard output:
#
#     common/ladder/validation/validate.sh measure [CHAPTER]    times on this machine's GPU
#     common/ladder/validation/validate.sh model [CHAPTER]      times as modelled, on any machine
#     common/ladder/validation/validate.sh count                requests, sectors, wavefronts by ncu on this machine's GPU
#     common/ladder/validation/validate.sh predict [CHAPTER]    the same as check mode counts them, on any machine
#
# RUNGS_PRESET: the CMake preset whose build is used ("default").
set -eu

way=${1:-}
only=${2:-}
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd)
build=$root/build/${RUNGS_PRESET:-default}
here=$root/common/ladder/validation
machine=$root/common/simt/model/h200.toml
case $way in
    measure | count) backend=cuda ;;
    model | predict) backend=cpu ;;
    *) echo "usage: validate.sh measure|model|count|predict [CHAPTER]" >&2 && exit 2 ;;
esac
[ -f "$build/build.ninja" ] || { echo "validate.sh: $build is not configured: cmake --preset default" >&2 && exit 3; }

case $way in measure | model) cases=cases.txt ;; *) cases=counted_cases.txt ;; esac
raw=$(mktemp -d)
table=$raw/table
mkdir "$raw/ncu"
trap 'rm -rf "$raw"' EXIT
grep -v '^#' "$here/$cases" | while read -r chapter cases; do
    [ -z "$only" ] || [ "$only" = "$chapter" ] || continue
    ninja -C "$build" "$chapter.ladder.$backend" >&2
    ladder=$build/bin/$chapter.ladder.$backend
    # shellcheck disable=SC2086 # the cases are meant to split
    case $way in
        measure) "$ladder" $cases ;;
        model) "$ladder" "$machine" $cases ;;
        predict) "$ladder" "$machine" --count $cases ;;
        count)
            # A graph is counted as one launch: single nodes in its loops cannot be.
            ncu --graph-profiling graph --clock-control none --csv --page raw --print-units base \
                --metrics "$(grep l1tex "$root/common/simt/counters/tests/golden/metrics.txt" | paste -sd,)" "$ladder" --once $cases > "$raw/ncu/$chapter"
            ;;
    esac
done > "$table"
awk 'NR == 1 || !/^kernel,/' "$table"  # one heading for all chapters
if [ "$way" = count ]; then
    ninja -C "$build" rungs_validation >&2
    echo "# $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1 | sed 's/, /, driver /')"
    echo "# $(nvcc --version | sed -n 's/.*release \([^,]*\), V\(.*\)/nvcc \2/p'), ncu $(ncu --version | sed -n 's/^Version \([^ ]*\).*/\1/p')"
    "$build/bin/rungs_validation" "$root" --counts "$raw"/ncu/*
fi
