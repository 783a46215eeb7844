#!/bin/sh
# How long the loops of the workbook take here, as a table. Nothing else should run meanwhile.
#   autograder/budgets.sh [cpu|cuda] [NN[/MM]...]   after a build by ./rungs; without names: every rung
# An edited rung is its reference solution with one more line of comment, handed in as a submission.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
program=$root/build/${RUNGS_PRESET:-default}/bin/rungs
backend=${1:-cpu}
case $backend in cpu | cuda) ;; *) echo "budgets: the backend is cpu or cuda, not '$backend'" >&2 && exit 2 ;; esac
[ $# -eq 0 ] || shift
[ -x "$program" ] || { echo "budgets: $program is missing; build first: ./rungs list" >&2 && exit 3; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
now() { date +%s.%N; }
since() { echo "$1 $(now)" | awk '{ printf "%.2f", $2 - $1 }'; }

judged() { # judged NN/MM OPTION...: prints the seconds until the verdict, which must be OK
    start=$(now)
    "$program" check --backend "$backend" "$@" >"$work/log" 2>&1 ||
        { cat "$work/log" >&2 && echo "budgets: $1 does not pass" >&2 && exit 1; }
    since "$start"
}

printf '%s cores, %s, %s\n\n' "$(nproc)" "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(date -u +%Y-%m-%d)"
printf '| rung | edited | asked again |\n|:--|--:|--:|\n'
for solution in "$root"/solutions/[0-9][0-9]_*/*.cu; do
    chapter=$(basename "$(dirname "$solution")")
    rung=$(basename "$solution" .cu)
    name=${chapter%%_*}/${rung%%_*}
    if [ $# -gt 0 ]; then
        case " $* " in *" $name "* | *" ${chapter%%_*} "*) ;; *) continue ;; esac
    fi
    mkdir -p "$work/$chapter"
    cp "$solution" "$work/$chapter/"
    # What is built once, for all edits to come, is not the edit's.
    judged "$name" --submission "$work" >/dev/null
    printf '\n// edited %s\n' "$(now)" >>"$work/$chapter/$rung.cu"
    edited=$(judged "$name" --submission "$work")
    judged "$name" --solution >/dev/null # what is handed in is judged each time; one's own rungs are not
    again=$(judged "$name" --solution)
    printf '| %s | %s | %s |\n' "$name" "$edited" "$again"
    echo "$edited $again" >>"$work/all"
    rm -r "${work:?}/$chapter"
done
[ -f "$work/all" ] || { echo "budgets: no rung is called that" >&2 && exit 2; }
for column in 1 2; do
    sort -n -k$column,$column "$work/all" | awk -v column=$column '{ all[NR] = $column }
        END { printf "%s: median %.2f s, slowest %.2f s\n", column == 1 ? "\nedited" : "asked again",
              all[int((NR + 1) / 2)], all[NR] }'
done
if [ $# -eq 0 ]; then
    start=$(now)
    "$program" demo --backend "$backend" --out "$work/demo" >"$work/log" 2>&1 ||
        { tail -n 5 "$work/log" >&2 && echo "budgets: demo does not pass" >&2 && exit 1; }
    printf 'demo, with what it has built before: %s s\n' "$(since "$start")"
fi
