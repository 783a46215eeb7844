#include "report/page.hpp"

#include <fmt/format.h>

#include "report/text.hpp"

namespace rungs {
namespace {

// Colours come in pairs with at least 4.5:1 contrast for text on both backgrounds; no meaning rests
// on colour alone.
constexpr const char* style = R"css(
:root{color-scheme:light dark;--paper:#fbfaf6;--card:#ffffff;--ink:#1d2126;--soft:#5a626c;--line:#e3dfd5;--track:#ece8dd;
--pass:#15703f;--pass-fill:#2b9a61;--fail:#b3261e;--fail-fill:#d9534a;--look:#85560a;--look-fill:#c98a1b;
--none:#5a626c;--none-fill:#a9a69c;--accent:#1f5fa8;--rail:#8a7a5f;--shadow:0 1px 2px #0000000f,0 6px 24px #0000000d}
@media (prefers-color-scheme:dark){:root{--paper:#111418;--card:#191d23;--ink:#e9e6df;--soft:#a2a9b3;--line:#2c323b;
--track:#262c34;--pass:#6bd69b;--pass-fill:#3fae76;--fail:#ff948a;--fail-fill:#e0675d;--look:#efbd62;--look-fill:#d39c38;
--none:#a2a9b3;--none-fill:#5c6570;--accent:#83b9f5;--rail:#a8977a;--shadow:none}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",Arial,sans-serif;overflow-wrap:break-word}
main,header,footer{max-width:60rem;margin:0 auto;padding:0 1.25rem}
code,pre,.mono{font-family:ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.92em}
header{padding-top:2.75rem;padding-bottom:.5rem}
.mark{display:flex;align-items:center;gap:.6rem;color:var(--soft);font-weight:600;letter-spacing:.01em}
.mark svg{width:1.35rem;height:1.6rem;stroke:var(--rail)}
h1{font-size:clamp(1.9rem,5.5vw,2.9rem);line-height:1.12;letter-spacing:-.022em;margin:.7rem 0 .35rem}
h2{font-size:1.2rem;letter-spacing:-.01em;margin:2.6rem 0 .9rem}
h3{font-size:1rem;margin:1.4rem 0 .3rem}
.lede{color:var(--soft);margin:0;max-width:46rem}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;margin:1.6rem 0 0;padding:0}
.facts div{background:var(--card);border:1px solid var(--line);border-radius:.8rem;padding:.75rem 1rem .8rem;
box-shadow:var(--shadow)}
.facts dt{color:var(--soft);font-size:.82rem}
.facts dd{margin:0;font-size:1.5rem;font-weight:650;letter-spacing:-.015em;line-height:1.25}
.facts small{font-size:.82rem;font-weight:400;color:var(--soft);letter-spacing:0;display:block;line-height:1.4}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:.9rem;padding:1rem 1.1rem .8rem;
box-shadow:var(--shadow)}
figure svg{display:block;width:100%;height:auto}
figcaption{color:var(--soft);font-size:.86rem;margin-top:.5rem}
.narrow{display:none!important}
@media (max-width:40rem){.wide{display:none!important}.narrow{display:block!important}header{padding-top:1.75rem}
figure{padding:.8rem .7rem}main,header,footer{padding-left:.9rem;padding-right:.9rem}
.facts{grid-template-columns:1fr 1fr}.facts dd{font-size:1.25rem}}
@media (max-width:40rem){.more{display:none}.verdicts th,.verdicts td{padding:.55rem .6rem}
.verdicts caption{padding:.75rem .6rem .15rem}}
svg text{fill:var(--ink);font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
svg .name{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-weight:650}
svg .dim{fill:var(--soft)}
svg .track{fill:var(--track)}svg .rail{stroke:var(--rail);stroke-linecap:round}
.pass .fill{fill:var(--pass-fill)}.fail .fill{fill:var(--fail-fill)}.look .fill{fill:var(--look-fill)}
.none .fill{fill:var(--none-fill)}
.pass .word{fill:var(--pass)}.fail .word{fill:var(--fail)}.look .word{fill:var(--look)}.none .word{fill:var(--none)}
.step{stroke-width:9;stroke-linecap:round}
.pass .step{stroke:var(--pass-fill)}
.fail .step{stroke:var(--fail-fill);stroke-dasharray:24 14;stroke-linecap:butt}
.look .step{stroke:var(--look-fill);stroke-dasharray:10 12.5;stroke-linecap:butt}
.none .step{stroke:var(--none-fill);stroke-dasharray:0 25}
.scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:.9rem;box-shadow:var(--shadow)}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--soft);font-size:.86rem;padding:.75rem 1rem .15rem}
th,td{text-align:left;padding:.55rem 1rem;border-bottom:1px solid var(--line);vertical-align:top}
thead th{color:var(--soft);font-weight:500;font-size:.86rem;white-space:nowrap}
tbody th{font-weight:600;white-space:nowrap}
tbody tr:last-child>*{border-bottom:0}
tfoot th,tfoot td{border-bottom:0;border-top:2px solid var(--line);font-weight:650}
.number{text-align:right;white-space:nowrap}
.chip{font-weight:650;white-space:nowrap;font-size:.92em}
.chip.pass{color:var(--pass)}.chip.fail{color:var(--fail)}.chip.look{color:var(--look)}.chip.none{color:var(--none)}
.dim{color:var(--soft)}.remark{min-width:9rem}.verdicts th,.verdicts td{padding:.55rem .85rem}
.verdicts small{display:block;color:var(--soft);font-size:.8rem}
details{background:var(--card);border:1px solid var(--line);border-radius:.8rem;margin:.6rem 0;box-shadow:var(--shadow)}
summary{cursor:pointer;padding:.7rem 1rem;display:flex;flex-wrap:wrap;gap:.15rem .9rem;align-items:baseline;
border-radius:.8rem}
summary:focus-visible,a:focus-visible,.scroll:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
summary::before{content:"\25B8";color:var(--soft);transition:transform .12s}
details[open]>summary::before{transform:rotate(90deg)}
summary b{font-weight:650}
.inside{padding:.1rem 1rem 1rem;border-top:1px solid var(--line)}
.inside table{font-size:.94rem}.inside .scroll{box-shadow:none;margin:.6rem 0}
.inside th,.inside td{padding:.35rem .8rem}
dl.rows{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.3rem 1.2rem;margin:.8rem 0}
dl.rows dt{color:var(--soft)}dl.rows dd{margin:0}
@media (max-width:40rem){dl.rows{grid-template-columns:minmax(0,1fr);gap:0}dl.rows dd{margin-bottom:.55rem}}
pre{background:var(--paper);border:1px solid var(--line);border-radius:.6rem;padding:.7rem .9rem;overflow-x:auto;
white-space:pre-wrap;margin:.5rem 0;line-height:1.45}
.inside figure{margin:.7rem 0;box-shadow:none}.finding{border-left:4px solid var(--line);padding:.1rem 0 .1rem .9rem;margin:.8rem 0}
.finding.fail{border-color:var(--fail-fill)}.finding.look{border-color:var(--look-fill)}
.finding p{margin:.35rem 0}.finding.fail b{color:var(--fail)}.finding.look b{color:var(--look)}
.panel{background:var(--card);border:1px solid var(--line);border-radius:.9rem;padding:.35rem 1.1rem;box-shadow:var(--shadow)}
.share{display:inline-block;width:5.5rem;height:.5rem;margin-right:.6rem;vertical-align:baseline}
svg .bar{fill:var(--accent)}.wrap{white-space:normal!important;overflow-wrap:anywhere;min-width:9rem}
.reason{min-width:15rem}a{color:var(--accent)}
th small,td small{display:block;color:var(--soft);font-size:.8rem;font-weight:400}
@media (max-width:40rem){.scroll th,.scroll td{padding:.5rem .55rem}.scroll tbody th{white-space:normal}
.scroll caption{padding:.75rem .55rem .15rem}}
footer{color:var(--soft);font-size:.86rem;padding-top:2.2rem;padding-bottom:3rem}
@media print{:root{color-scheme:light}body{background:#fff}details{break-inside:avoid}}
@media (prefers-reduced-motion:reduce){*{transition:none!important}}
)css";

}  // namespace

std::string page_head(const std::string& title, const std::string& version) {
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n"
           // Nothing is loaded and nothing is run, whatever a submission smuggles into a message.
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
           "'unsafe-inline'\">\n"
           "<meta name=\"generator\" content=\"rungs " +
           escape_html(version) + "\">\n<title>" + escape_html(title) + " \u00b7 Rungs</title>\n<style>" +
           style +
           "</style>\n</head>\n<body>\n"
           "<header><div class=\"mark\"><svg viewBox=\"0 0 22 26\" fill=\"none\" stroke-width=\"2.6\" "
           "stroke-linecap=\"round\" aria-hidden=\"true\"><path d=\"M5 25 7 1M17 25 15 1M6.2 6h9.4M5.8 "
           "13h10.4M5.3 20h11.4\"/></svg>Rungs</div>";
}

std::string page_foot(const std::string& version) {
    return "</main>\n<footer>Written by rungs " + escape_html(version) +
           ". This page is complete in itself: it loads nothing and runs "
           "nothing.</footer>\n</body>\n</html>\n";
}

void row(std::string& html, const char* term, const std::string& value) {
    if (value.empty()) return;
    html += fmt::format("<dt>{}</dt><dd>{}</dd>", term, escape_html(value));
}

std::string table(const char* label, const std::string& caption, const std::vector<Column>& columns,
                  const std::vector<std::vector<std::string>>& rows) {
    std::string html = fmt::format(
        R"(<div class="scroll" tabindex="0" role="group" aria-label="{}"><table><caption>{}</caption>)",
        label, caption);
    html += "<thead><tr>";
    for (const auto& [heading, kind] : columns)
        html += fmt::format(R"(<th scope="col" class="{}">{}</th>)", kind, heading);
    html += "</tr></thead><tbody>";
    for (const std::vector<std::string>& cells : rows) {
        html += "<tr>";
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const char* const tag = i == 0 ? "th" : "td";
            html += fmt::format(R"(<{} {}class="{}">{}</{}>)", tag, i == 0 ? R"(scope="row" )" : "",
                                columns[i].kind, cells[i], tag);
        }
        html += "</tr>";
    }
    return html + "</tbody></table></div>";
}

}  // namespace rungs
