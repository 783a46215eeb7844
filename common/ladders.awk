# list, next and hint, for the launcher before the first build, when nobody has checked anything yet. Prints what the
# program prints then, without colours; a test compares the two.
#
#     awk -v verb=list|next|hint -v rung=01/03 -v all=1 -f ladders.awk chapters/*/chapter.toml
#
# Reads of a manifest the title and, of each rung, idea, kind, minutes, difficulty, points, speed and hints. Ends with 4
# where it is asked for a rung it does not know: what is near it, the program can say.

BEGIN {  # 01/03, reduction/03_shared_tree, or the path of a file
    sub(/.*chapters\//, "", rung)
    sub(/\.(cu|toml)$/, "", rung)
    split(rung, asked, "/")
}

function text(line) {  # the string that a line of TOML holds
    sub(/^[^"]*"/, "", line)
    sub(/",? *(#.*)?$/, "", line)
    gsub(/\\"/, "\"", line)
    gsub(/\\\\/, "\\", line)
    return line
}

function number(line) {
    sub(/^[^=]*= */, "", line)
    return line + 0
}

function wrap(line,    words, count, i, current) {  # as wide as a page of the program, two blanks in front
    count = split(line, words, " ")
    current = words[1]
    for (i = 2; i <= count; ++i) {
        if (length(current) + 1 + length(words[i]) > 98) {
            print "  " current
            current = words[i]
        } else {
            current = current " " words[i]
        }
    }
    print "  " current
}

function cut(line, room) {
    return length(line) <= room ? line : substr(line, 1, room - 3) "..."
}

function finish_chapter(    i, r) {
    if (verb != "list" || !first) return
    for (i = first; i <= rungs; ++i) width = length(name[i]) > width ? length(name[i]) : width
    for (i = first; i <= rungs; ++i) all_points += most(i)
    print substr(chapter, 1, 2) " " title "  0 of " all_points " points"
    for (i = first; i <= rungs; ++i)
        printf "  %s %-" width "s  %9s  %s%s\n", open, name[i],
               most(i) ? "- / " most(i) : kind[i] ? "" : "given",
               kind[i] ? sprintf("%-7s %6s  %-3s  ", kind[i], minutes[i] ? minutes[i] " min" : "",
                                 difficulty[i] ? difficulty[i] "/5" : "") : "",
               cut(idea[i], 120 - 18 - width - (kind[i] ? 21 : 0))
    print ""
    width = all_points = 0
}

function most(i) { return points[i] + (modelled[i] ? speed[i] : 0) }

FNR == 1 {
    finish_chapter()
    first = in_rung = 0
    chapter = FILENAME
    sub(/\/[^\/]*$/, "", chapter)
    sub(/.*\//, "", chapter)
}

/^title *=/ { title = text($0) }
/^\[/ { in_rung = 0 }
/^\[rungs\.[^.\]]*\]/ {
    ++rungs
    in_rung = 1
    if (!first) first = rungs
    name[rungs] = $0
    sub(/^\[rungs\./, "", name[rungs])
    sub(/\].*/, "", name[rungs])
    of[rungs] = chapter
}
in_rung && /^idea *=/ { idea[rungs] = text($0) }
in_rung && /^kind *=/ { kind[rungs] = text($0) }
in_rung && /^minutes *=/ { minutes[rungs] = number($0) }
in_rung && /^difficulty *=/ { difficulty[rungs] = number($0) }
in_rung && /^points *=/ { points[rungs] = number($0) }
in_rung && /^speed *=/ {
    modelled[rungs] = /modelled/
    sub(/.*points *= */, "")
    speed[rungs] = $0 + 0
}
in_rung && /^\]/ { in_hints = 0 }
in_hints && /^ *"/ { hint[rungs, ++hints[rungs]] = text($0) }
in_rung && /^hints *=/ {
    in_hints = !/\]/
    if (!in_hints) hint[rungs, ++hints[rungs]] = text($0)
}

# Whether `word` means a chapter or a rung: 03_shared_tree, shared_tree or 03.
function means(word, whole) { return word == whole || word == substr(whole, 4) || word == substr(whole, 1, 2) }

function lesson(i) { return "chapters/" of[i] "/README.md, section \"" substr(name[i], 1, 2) " " substr(name[i], 4) "\"" }

function show_next(i,    file, line, at, short) {
    short = substr(of[i], 1, 2) "/" substr(name[i], 1, 2)
    file = "chapters/" of[i] "/" name[i] (kind[i] == "predict" ? ".toml" : ".cu")
    while ((getline line < (root "/" file)) > 0) {
        ++at
        if (line ~ (kind[i] == "predict" ? "= \"[?]\"" : "TODO")) break
    }
    print name[i] "  " points[i] " points" (speed[i] ? " and " speed[i] " for speed" : "")
    wrap(idea[i])
    if (kind[i]) print "  kind    " kind[i] (minutes[i] ? ", about " minutes[i] " minutes" : "") \
                       (difficulty[i] ? ", difficulty " difficulty[i] " of 5" : "")
    if (kind[i] == "predict") print "  answer  ./rungs predict " short
    print "  edit    " file ":" at
    print "  read    " lesson(i)
    print "  check   ./rungs check " short "   or on every save: ./rungs watch " short
    print "  stuck?  ./rungs hint " short
}

function show_hints(i,    k, short) {
    short = substr(of[i], 1, 2) "/" substr(name[i], 1, 2)
    print name[i]
    wrap(idea[i])
    if (!hints[i]) {
        print "  This rung is given: there is nothing to write. It is explained in " lesson(i)
        return
    }
    for (k = 1; k <= (all ? hints[i] : 1); ++k) {
        print "hint " k " of " hints[i]
        wrap(hint[i, k])
    }
    if (k <= hints[i]) print "all hints: ./rungs hint " short " --all"
    else print "no more hints; the lesson is " lesson(i)
}

END {
    finish_chapter()
    if (verb == "list") {
        print done " passed   " failed " not passed   " open " to do   next: ./rungs next"
        exit 0
    }
    for (i = 1; i <= rungs; ++i) {
        if (verb == "next" ? points[i] : means(asked[1], of[i]) && means(asked[2], name[i])) {
            if (verb == "next") show_next(i)
            else show_hints(i)
            exit 0
        }
    }
    exit 4
}
