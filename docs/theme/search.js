// Full-text search over the book. The index is search_index.js, which book.py writes: a list of pages, each of them
// [address, title, weight, sections], a section [anchor, title, text]. find() is also run by book.py, in an interpreter
// that knows ECMAScript 5 and nothing of a browser.
var bookSearch = {
    index: null,

    // What a query asks for: the beginnings of words, without the endings that make "diverges" and "divergence" differ.
    words: function (query) {
        return query.toLowerCase().split(/[^a-z0-9_\u00b5-\uffff]+/).filter(Boolean).map(function (word) {
            var stem = word.replace(/(ence|ing|e[sd])s?$/, "");
            return stem.length > 4 ? stem : word.length > 3 ? word.replace(/s$/, "") : word;
        });
    },

    // Where `word` begins a word of `text`, from `from` on; -1: nowhere.
    at: function (text, word, from) {
        for (var i = text.indexOf(word, from); i >= 0; i = text.indexOf(word, i + 1)) {
            if (i === 0 || !/[a-z0-9]/.test(text.charAt(i - 1))) return i;
        }
        return -1;
    },

    count: function (text, word, most) {
        var n = 0;
        for (var i = bookSearch.at(text, word, 0); i >= 0 && n < most; i = bookSearch.at(text, word, i + 1)) ++n;
        return n;
    },

    // The best sections with all words of the query: {page, address, title, excerpt}.
    find: function (index, query, most) {
        var words = bookSearch.words(query), phrase = words.join(" "), found = [];
        if (phrase.length < 2) return [];
        index.forEach(function (page) {
            var of = page[1].toLowerCase();
            page[3].forEach(function (section) {
                var title = section[1].toLowerCase().replace(/_/g, " ") + " " + section[1].toLowerCase();
                var text = section[3] || (section[3] = section[2].toLowerCase()), score = 0;
                for (var w = 0; w < words.length; ++w) {
                    var inTitle = bookSearch.at(title, words[w], 0) >= 0, n = bookSearch.count(text, words[w], 6);
                    if (!inTitle && !n && bookSearch.at(of, words[w], 0) < 0) return;
                    score += (inTitle ? 12 : 0) + n + (bookSearch.at(of, words[w], 0) >= 0 ? 3 : 0);
                }
                if (words.length > 1) {
                    score += (bookSearch.at(title, phrase, 0) >= 0 ? 12 : 0) + 4 * bookSearch.count(text, phrase, 4);
                }
                found.push({page: page[1], address: page[0] + (section[0] ? "#" + section[0] : ""), title: section[1],
                            score: score * page[2], section: section, order: found.length});
            });
        });
        found.sort(function (a, b) { return b.score - a.score || a.order - b.order; });
        return found.slice(0, most).map(function (hit) {
            return {page: hit.page, address: hit.address, title: hit.title,
                    excerpt: bookSearch.excerpt(hit.section[2], hit.section[3], words, phrase)};
        });
    },

    // Some text around the first place of the words, cut between words.
    excerpt: function (text, lower, words, phrase) {
        var at = bookSearch.at(lower, phrase, 0);
        for (var w = 0; at < 0 && w < words.length; ++w) at = bookSearch.at(lower, words[w], 0);
        var from = at > 70 ? text.indexOf(" ", at - 70) + 1 : 0, to = text.length;
        if (at >= 0 && from > at) from = at;
        if (to > from + 200) to = text.lastIndexOf(" ", from + 200);
        if (to <= from) to = from + 200;
        return (from > 0 ? "… " : "") + text.slice(from, to) + (to < text.length ? " …" : "");
    },

    // Text with the words in <mark>.
    marked: function (text, words) {
        var line = document.createElement("span"), lower = text.toLowerCase(), done = 0;
        while (done < text.length) {
            var next = text.length, length = 0;
            words.forEach(function (word) {
                var i = bookSearch.at(lower, word, done);
                if (i >= 0 && i < next) { next = i; length = word.length; }
            });
            line.append(text.slice(done, next));
            if (length) {
                var mark = document.createElement("mark");
                mark.textContent = text.slice(next, next + length);
                line.append(mark);
            }
            done = next + length;
        }
        return line;
    },

    start: function () {
        var field = document.getElementById("book-search"), list = document.getElementById("book-results");
        if (!field) return;
        var show = function () {
            var words = bookSearch.words(field.value), hits = bookSearch.find(bookSearch.index || [], field.value, 30);
            list.textContent = "";
            list.hidden = !field.value.trim();
            if (!hits.length) list.append(bookSearch.index ? "Nothing found." : "Loading ...");
            hits.forEach(function (hit) {
                var link = document.createElement("a");
                var title = document.createElement("b"), page = document.createElement("i");
                link.href = hit.address;
                title.append(bookSearch.marked(hit.title, words));
                if (hit.title !== hit.page) page.textContent = hit.page;
                link.append(title, " ", page, bookSearch.marked(hit.excerpt, words));
                list.append(link);
            });
        };
        var load = function () {  // once, when somebody searches
            if (document.getElementById("book-index")) return;
            var script = document.createElement("script");
            script.id = "book-index";
            script.src = "search_index.js";
            script.onload = show;
            document.head.append(script);
        };
        field.addEventListener("focus", load);
        field.addEventListener("input", function () { load(); show(); });
        document.addEventListener("keydown", function (event) {
            var links = [].slice.call(list.querySelectorAll("a")), at = links.indexOf(document.activeElement);
            if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) field.focus();
            else if (event.key === "Escape" && !list.hidden) { list.hidden = true; field.focus(); }
            else if (event.key === "Enter" && document.activeElement === field && links.length) links[0].click();
            else if (event.key === "ArrowDown" && !list.hidden && links[at + 1]) links[at + 1].focus();
            else if (event.key === "ArrowUp" && at >= 0) (links[at - 1] || field).focus();
            else return;
            event.preventDefault();
        });
        document.addEventListener("click", function (event) {
            if (!list.contains(event.target) && event.target !== field) list.hidden = true;
            else if (event.target.closest("a")) list.hidden = true;
        });
    }
};
