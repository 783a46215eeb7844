#!/bin/sh
# Measures the golden set with Nsight Compute on the GPU of this machine and writes the table to standard output:
#
#     cmake --preset default && ninja -C build/default simt_golden
#     ./measure.sh .../build/default/bin/simt_golden > measured.csv
#
# Needs ncu, and the right to read performance counters (root, or NVreg_RestrictProfilingToAdminUsers=0).
set -eu

[ $# -eq 1 ] || { echo "usage: measure.sh PROGRAM" >&2 && exit 2; }
program=$1
metrics=$(dirname "$0")/metrics.txt
raw=$(mktemp)
trap 'rm -f "$raw"' EXIT

# Clocks are left alone: counts do not depend on them.
ncu --clock-control none --csv --page raw --print-units base --metrics "$(paste -sd, "$metrics")" "$program" > "$raw" || {
    tail -n 3 "$raw" >&2
    exit 3
}
echo "# $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1 | sed 's/, /, driver /')"
echo "# $(nvcc --version | sed -n 's/.*release \([^,]*\), V\(.*\)/nvcc \2/p'), ncu $(ncu --version | sed -n 's/^Version \([^ ]*\).*/\1/p')"
"$program" --table "$metrics" "$raw"
