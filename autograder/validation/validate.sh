#!/bin/sh
# Times every reference rung in the cases of cases.txt, and writes a table to standard output:
#
#     autograder/validation/validate.sh measure [CHAPTER]    on this machine's GPU
#     autograder/validation/validate.sh model [CHAPTER]      as modelled, on any machine
#
# RUNGS_PRESET: the CMake preset whose build is used ("default").
set -eu

way=${1:-}
only=${2:-}
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
build=$root/build/${RUNGS_PRESET:-default}
case $way in
    measure) backend=cuda machine= ;;
    model) backend=cpu machine=$root/common/simt/model/h200.toml ;;
    *) echo "usage: validate.sh measure|model [CHAPTER]" >&2 && exit 2 ;;
esac
[ -f "$build/build.ninja" ] || { echo "validate.sh: $build is not configured: cmake --preset default" >&2 && exit 3; }

grep -v '^#' "$root/autograder/validation/cases.txt" | while read -r chapter cases; do
    [ -z "$only" ] || [ "$only" = "$chapter" ] || continue
    ninja -C "$build" "$chapter.ladder.$backend" >&2
    # shellcheck disable=SC2086 # the cases are meant to split, and the machine may be empty
    "$build/bin/$chapter.ladder.$backend" $machine $cases
done
