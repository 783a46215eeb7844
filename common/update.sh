#!/bin/sh
# ./rungs update: a student edition of the workbook becomes a newer one, and what the student wrote stays.
#   sh common/update.sh ROOT FILE|FOLDER
# What was handed out is known by its sum in edition/files.sha256. A file is put in its place by a rename, and the list
# comes last: after an update that was cut short, the same once more goes on.
set -eu

stop() { # stop STATUS MESSAGE...
    status=$1
    shift
    printf '%s\n' "rungs: $*" >&2
    exit "$status"
}

usage() {
    cat <<'HELP'
usage: ./rungs update FILE|FOLDER

Makes this workbook the newer edition that your instructor hands out: an archive (rungs-students.tar.gz) or its folder.
  a rung that you have not begun       becomes the new starter
  a rung that you have                 stays as it is; a new starter is put beside it, as NAME.new
  another file that you have changed   is kept beside the new one, as NAME.bak-DATE
  what is no longer part of it         goes; if it was yours, it is moved to kept/
Progress and what is built stay. Exit status: 0 done, 2 wrong use, 3 could not.
HELP
}

root=$1
shift
case ${1:-} in -h | --help) usage && exit 0 ;; esac
[ $# -eq 1 ] || { usage >&2 && stop 2 "update takes one archive or folder"; }
given=$1
list=edition/files.sha256

[ -f "$root/$list" ] || stop 2 "$root is not a student edition, which has a folder edition/; a clone is updated by git pull"
[ -e "$given" ] || stop 2 "there is no $given"

work=$root/build/update
rm -rf "$work"
mkdir -p "$work" || stop 3 "cannot write in $root/build; is the disk full, or the folder read-only?"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
if command -v flock >/dev/null; then
    exec 9>"$root/build/.update.lock"
    flock -n 9 || stop 3 "another ./rungs update is at work here"
fi

if [ -d "$given" ]; then
    new=$given
else
    tar -xzf "$given" -C "$work" || stop 3 "$given could not be unpacked; nothing was changed. Is it whole, and is the disk full?"
    new=$work
fi
[ -f "$new/$list" ] || new=$new/rungs
[ -f "$new/$list" ] || stop 2 "$given is not a student edition: it has no $list"
new=$(CDPATH='' cd -- "$new" && pwd -P)
[ "$new" != "$(CDPATH='' cd -- "$root" && pwd -P)" ] || stop 2 "$given is this workbook itself"
(cd "$new" && sha256sum --quiet -c "$list") >&2 || stop 3 "$given is damaged; nothing was changed. Fetch it once more"

# --- the plan -----------------------------------------------------------------------------------------

# The sums of what is here, of all files that either edition has.
sed 's/^[0-9a-f]*  //' "$root/$list" "$new/$list" | sort -u | while IFS= read -r path; do
    [ ! -f "$root/$path" ] || printf '%s\0' "$path"
done >"$work/here"
(cd "$root" && xargs -0 -r sha256sum -- <"$work/here") >"$work/sums"

# One line for each file that something is done with: what, and its path.
awk '
    { sum = $1; path = substr($0, 67) }
    FILENAME == ARGV[1] { old[path] = sum; next }
    FILENAME == ARGV[2] { here[path] = sum; next }
    { new[path] = sum }
    path ~ /^edition\/starters\// { rung["chapters/" substr(path, 18)] = 1 }
    END {
        for (path in new) {
            if (!(path in here)) print "put", path
            else if (here[path] == new[path]) continue
            else if (here[path] == old[path]) print "put", path
            else if (!(path in rung)) print "replace", path
            else print (old[path] == new[path] ? "leave" : "beside"), path
        }
        for (path in old) {
            if (path in new || !(path in here)) continue
            print (here[path] == old[path] ? "remove" : "keep"), path
        }
    }
' "$root/$list" "$work/sums" "$new/$list" | sort >"$work/plan"

# --- what it says -------------------------------------------------------------------------------------

full() { stop 3 "could not write $1; what is yours is untouched. Make room, and run it once more"; }

put() { # put FROM TO: whole or not at all; written now, so that it is built again
    mkdir -p "$(dirname -- "$2")" || full "$2"
    if cp -- "$1" "$2.part" && mv -f -- "$2.part" "$2"; then return; fi
    rm -f -- "$2.part"
    full "$2"
}

keep() { # keep FILE: moves it to a name below kept/ that is not taken
    to=kept/${1#chapters/}
    while [ -e "$root/$to" ]; do to=$to.1; done
    { mkdir -p "$(dirname -- "$root/$to")" && mv -- "$root/$1" "$root/$to"; } || full "$root/$to"
}

stamp=$(date +%Y%m%d-%H%M%S)
changed=0
while read -r what path; do
    case $what in
        put) put "$new/$path" "$root/$path" ;;
        replace)
            put "$root/$path" "$root/$path.bak-$stamp"
            put "$new/$path" "$root/$path"
            echo "$path was changed here; yours is kept in $path.bak-$stamp"
            ;;
        beside)
            put "$new/$path" "$root/$path.new"
            echo "$path is yours and stays; its new starter is $path.new"
            ;;
        remove) rm -f -- "$root/$path" ;;
        keep)
            keep "$path"
            echo "$path is no longer part of the workbook; yours is kept in $to"
            ;;
        leave) continue ;;
    esac
    changed=$((changed + 1))
done <"$work/plan"

# A chapter that is gone must leave no folder; what else a student has put there is theirs.
for folder in "$root"/chapters/[0-9][0-9]_*/; do
    [ ! -f "$folder/chapter.toml" ] || continue
    folder=${folder%/}
    find "$folder" -type f >"$work/left"
    while IFS= read -r file; do
        file=${file#"$root"/}
        keep "$file"
        echo "$file is kept in $to"
    done <"$work/left"
    rm -rf -- "$folder"
done

sync
put "$new/$list" "$root/$list"
sed -n 's/^commit /now at commit /p' "$root/edition/about.txt"
echo "$changed files were brought up to date; your rungs and your progress are as they were"
