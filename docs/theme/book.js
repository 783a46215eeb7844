// What the book's pages do in addition to Doxygen's scripts. They can be read without it.
(function () {
    "use strict";
    const root = document.documentElement;
    const stored = () => { try { return localStorage.getItem("rungs-scheme") || "system"; } catch { return "system"; } };
    const schemes = {system: "◐", light: "☀", dark: "☾"};

    // Runs before the page is drawn. The theme is dark if the browser asks for it or the class says so.
    function paint(scheme) {
        root.classList.toggle("dark-mode", scheme === "dark");
        root.classList.toggle("light-mode", scheme === "light");
    }
    root.classList.add("scripts");
    paint(stored());

    function scheme_button() {
        const button = document.getElementById("book-scheme");
        if (!button) return;
        const show = () => {
            button.textContent = schemes[stored()];
            button.title = `Colours: ${stored()}`;
            button.setAttribute("aria-label", button.title);
        };
        button.addEventListener("click", () => {
            const names = Object.keys(schemes), next = names[(names.indexOf(stored()) + 1) % names.length];
            try { localStorage.setItem("rungs-scheme", next); } catch { return; }
            paint(next);
            show();
        });
        show();
    }

    function copy_buttons() {
        if (!navigator.clipboard) return;
        for (const code of document.querySelectorAll("div.fragment")) {
            const around = document.createElement("div"), button = document.createElement("button");
            around.className = "book-code";
            button.type = "button";
            button.setAttribute("aria-label", "Copy this code");
            button.dataset.word = "Copy";  // the style shows it: it is not part of the page's text
            code.replaceWith(around);
            around.append(code, button);
            button.addEventListener("click", () => {
                const copy = code.cloneNode(true);
                for (const other of copy.querySelectorAll(".lineno, .ttc")) other.remove();
                const lines = [...copy.querySelectorAll(".line")].map(line => line.textContent.replace(/\n$/, ""));
                navigator.clipboard.writeText(lines.join("\n") + "\n").then(() => {
                    button.dataset.word = "Copied";
                    setTimeout(() => { button.dataset.word = "Copy"; }, 1500);
                }, () => { button.dataset.word = "Not copied"; });
            });
        }
    }

    // The list of headings is open where it has a column of its own, and shows which of them is being read.
    function table_of_contents() {
        const fold = document.querySelector(".toc details"), window_ = document.getElementById("doc-content");
        if (!fold) return;
        const wide = matchMedia("(min-width: 1000px)");
        const open = () => { fold.open = wide.matches; };
        wide.addEventListener("change", open);
        open();
        const links = [...fold.querySelectorAll("a")];
        const headings = links.map(link => document.getElementById(decodeURIComponent(link.hash.slice(1))));
        const mark = () => {
            let at = 0;
            headings.forEach((heading, i) => { if (heading && heading.getBoundingClientRect().top < 120) at = i; });
            links.forEach((link, i) => {
                link.classList.toggle("active", i === at);
                if (i === at) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
            });
        };
        for (const scrolled of [window_, window]) if (scrolled) scrolled.addEventListener("scroll", mark, {passive: true});
        mark();
    }

    // Escape closes the meaning of a word until the pointer or the focus comes back.
    function meanings() {
        addEventListener("keydown", event => {
            if (event.key !== "Escape") return;
            for (const term of document.querySelectorAll(".term:is(:hover, :focus-within)")) term.classList.add("closed");
        });
        for (const left of ["mouseout", "focusout"]) {
            addEventListener(left, event => {
                const term = event.target.closest?.(".term");
                if (term && !term.contains(event.relatedTarget)) term.classList.remove("closed");
            });
        }
    }

    // The text of a closed fold would not be printed.
    function print_folds() {
        let opened = [];
        addEventListener("beforeprint", () => {
            opened = [...document.querySelectorAll("details:not([open])")];
            for (const fold of opened) fold.open = true;
        });
        addEventListener("afterprint", () => { for (const fold of opened) fold.open = false; });
    }

    document.addEventListener("DOMContentLoaded", () => {
        scheme_button();
        copy_buttons();
        table_of_contents();
        meanings();
        print_folds();
        bookSearch.start();
    });
})();
