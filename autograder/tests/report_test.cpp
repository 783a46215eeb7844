// Reports: one record, shown as JSON and as a page.
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "class/times.hpp"
#include "json_schema.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "report_sample.hpp"
#include "rungs/catch.hpp"

using namespace rungs;
using namespace rungs::test;
using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;

namespace {

Json result_schema() {
    std::ifstream in(std::string(RUNGS_ROOT) + "/docs/result.schema.json");
    REQUIRE(in.good());
    return Json::parse(in);
}

/// An independent reading of UTF-8, by its definition rather than by the writer's code.
bool is_valid_utf8(const std::string& text) {
    // The library refuses to write what is not UTF-8.
    try {
        return !Json(text).dump().empty();
    } catch (const Json::exception&) {
        return false;
    }
}

std::size_t count_of(const std::string& text, const std::string& what) {
    std::size_t count = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
    return count;
}

}  // namespace

TEST_CASE("text from outside becomes valid UTF-8 without anything that steers", "[report][text]") {
    CHECK(clean_utf8("plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80") ==
          "plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    CHECK(clean_utf8(std::string_view("a\0b", 3)) ==
          "a\xef\xbf\xbd"
          "b");
    CHECK(clean_utf8("\x1b[31m") == "\xef\xbf\xbd[31m");
    CHECK(clean_utf8("a\r\nb\tc") == "a\nb\tc");
    SECTION("every ill-formed sequence is replaced, and nothing after it is lost") {
        CHECK(clean_utf8("\xff|") == "\xef\xbf\xbd|");
        CHECK(clean_utf8("\xc3|") == "\xef\xbf\xbd|");      // cut short
        CHECK(clean_utf8("\xe2\x82|") == "\xef\xbf\xbd|");  // cut short: one mark for the two bytes
        CHECK(clean_utf8("\xc0\xaf|") == "\xef\xbf\xbd\xef\xbf\xbd|");                  // overlong
        CHECK(clean_utf8("\xed\xa0\x80|") == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|");  // surrogate
        CHECK(clean_utf8("\xf4\x90\x80\x80|").back() == '|');                           // above U+10FFFF
        CHECK(clean_utf8("\xe2\x80\xae|") == "\xef\xbf\xbd|");  // right-to-left override
    }
    SECTION("what cannot be seen is replaced by what can") {
        for (const char* hidden :
             {"\u200B", "\u200D", "\u2060", "\uFEFF", "\u00AD", "\u061C", "\u2067", "\uFE0F", "\uFDD0",
              "\uFFFE", "\U0001FFFF", "\U000E0041", "\u0085", "\x7f", "\r"}) {
            CAPTURE(hidden);
            CHECK(clean_utf8(std::string("a") + hidden + "b") == "a\uFFFDb");
        }
        for (const char* shown : {"\u0105", "\u4E2D", "\uFFFD", "\U0001F600", "\uE000"})
            CHECK(clean_utf8(shown) == shown);
    }
    SECTION("a name is one word of a line") {
        CHECK(clean_name("a\n\n  b\t\u3000\u00A0c") == "a\uFFFD\uFFFD b\uFFFD c");
        CHECK(clean_name("J\u00FCrgen Zi\u0119ba/03.cu") == "J\u00FCrgen Zi\u0119ba/03.cu");
    }
    SECTION("all byte pairs give valid text") {
        for (int a = 0; a < 256; ++a) {
            for (int b = 0; b < 256; ++b) {
                const std::string text = clean_utf8(std::string{static_cast<char>(a), static_cast<char>(b)});
                if (!is_valid_utf8(text)) FAIL("bytes " << a << " " << b);
            }
        }
        SUCCEED();
    }
    CHECK(to_ascii("\xe2\x89\xa4 1 \xc2\xb7 \xe2\x80\x9cx\xe2\x80\x9d \xe4\xb8\xad") == "<= 1 - \"x\" ?");
}

TEST_CASE("HTML text cannot leave its place", "[report][text]") {
    CHECK(escape_html("<a href='x'>&\"</a>") == "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&lt;/a&gt;");
    const std::string shown = escape_html(hostile());
    CHECK(shown.find_first_of("<>\"'\x1b") == std::string::npos);
    CHECK(shown.find('\0') == std::string::npos);
    CHECK(is_valid_utf8(shown));
}

TEST_CASE("one line is cut between characters, never inside one", "[report][text]") {
    CHECK(first_line("short", 10) == "short");
    CHECK(first_line("exactly ten", 11) == "exactly ten");
    CHECK(first_line("two\nlines", 20) == "two");
    CHECK(first_line("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 5) == "\xc3\xa9\xc3\xa9...");
    CHECK(first_line("", 5).empty());
}

TEST_CASE("numbers for people have three digits and a unit", "[report][text]") {
    CHECK(bandwidth_text(4.02e12) == "4.02 TB/s");
    CHECK(bandwidth_text(870e9) == "870 GB/s");
    CHECK(bandwidth_text(999.9e9) == "1.00 TB/s");
    CHECK(flops_text(36.64e12) == "36.6 TFLOP/s");
    CHECK(seconds_text(12.34e-6) == "12.3 us");
    CHECK(seconds_text(0.0456) == "45.6 ms");
    CHECK(seconds_text(21.44) == "21.4 s");
    CHECK(seconds_text(0) == "0.00 ns");
    CHECK(bandwidth_text(std::numeric_limits<double>::infinity()) == "?");
}

TEST_CASE("a rung is as fast as what limits it lets it be", "[report]") {
    judge::Speed speed;
    speed.judged = true;
    speed.seconds = 1e-3;
    speed.bandwidth = 3.5e12;  // 3.5 GB that move once
    CHECK(rate_text(speed) == "3.50 TB/s");
    speed.roof = 4e12;
    speed.floor = 3.5e9 / speed.roof;
    speed.flops = 0.9e12;
    speed.fma_roof = 60e12;
    CHECK(speed.limit() == judge::Limit::memory);
    CHECK(rate_text(speed) == "3.50 TB/s (88 % of a copy)");
    SECTION("a pure read beats a copy by a little") {
        speed.bandwidth = 4.2e12, speed.floor = 4.2e9 / speed.roof;
        CHECK(rate_text(speed) == "4.20 TB/s (105 % of a copy)");
        speed.bandwidth = 8.4e12, speed.floor = 8.4e9 / speed.roof;
        CHECK(rate_text(speed) == "8.40 TB/s (faster than memory)");
    }
    SECTION("operations limit where there are more of them for a byte than the machine does") {
        speed.flops = 36.6e12;
        CHECK(speed.limit() == judge::Limit::memory);  // 10.5 a byte, and the machine does 15
        speed.bandwidth = 858e6, speed.floor = 858e3 / speed.roof;
        CHECK(speed.limit() == judge::Limit::arithmetic);
        CHECK(rate_text(speed) == "36.6 TFLOP/s (61 % of the FMA roof)");
        speed.flops = 66e12;
        CHECK(rate_text(speed) == "66.0 TFLOP/s (beyond the FMA roof: it does less than is counted)");
        speed.fma_roof = 0;
        CHECK(rate_text(speed) == "858 MB/s (0 % of a copy)");
    }
    SECTION("iterations may share a pass over memory") {
        speed.bandwidth = 16e12, speed.floor = 16e9 / 8 / speed.roof;
        CHECK(speed.limit() == judge::Limit::one_pass);
        CHECK(rate_text(speed) == "2.0x the one-pass floor (each iteration anew: 8.0x)");
        speed.floor /= 32;
        CHECK(rate_text(speed) == "64x the one-pass floor (each iteration anew: 256x)");
        speed.floor /= 8;
        CHECK(rate_text(speed) == "512x the one-pass floor (each iteration anew: over 1000x)");
    }
    Report report = sample_gpu_report();
    report.rungs[1].result.speed = speed;
    const Json json = to_json(report)["rungs"][1]["speed"];
    CHECK(json["limit"] == judge::name_of(speed.limit()));
    CHECK(json["flops"] == speed.flops);
    CHECK(JsonSchema(result_schema()).errors(to_json(report)).empty());
    CHECK_THAT(remark_of(report.rungs[1].result), ContainsSubstring(rate_text(speed)));
    CHECK_THAT(to_html(report), ContainsSubstring(rate_text(speed)));
}

TEST_CASE("a result keeps the times that a speed follows from, and not too many", "[report]") {
    std::vector<double> seconds;
    for (int i = 0; i < 300; ++i) seconds.push_back(1e-6 * (i + 0.12345678));
    Report report = sample_gpu_report();
    judge::RawTimes& times = report.rungs[1].result.speed.times;
    CHECK(times.rung.size() == 21);
    times.baseline_alone = judge::RawTimes::of(seconds);
    const Json json = to_json(report);
    CHECK(JsonSchema(result_schema()).errors(json).empty());
    const Json& told = json["rungs"][1]["speed"]["microseconds"];
    CHECK(told["rung"].size() == 21);
    CHECK(told["baseline_alone"].size() == judge::RawTimes::most);
    CHECK(told["baseline_alone"][7].get<double>() == 7.123);
    times.baseline_alone.push_back(1);
    CHECK(!JsonSchema(result_schema()).errors(to_json(report)).empty());

    times.baseline_alone = {5, 6};
    const std::vector<std::string> table = classroom::table_of_times(report.rungs[1].result);
    REQUIRE(table.size() == 7);
    CHECK_THAT(table[0], ContainsSubstring("21 pairs"));
    CHECK_THAT(table[4], ContainsSubstring("pair by pair") && ContainsSubstring("         8         8"));
    CHECK_THAT(table[5], ContainsSubstring("baseline, rung's process gone"));
    CHECK(table[6] == "GPU at 1755 to 1980 MHz, slowed down by power; the host's load up to 2.5");
    report.rungs[1].result.speed.conditions = {};
    CHECK(classroom::table_of_times(report.rungs[1].result).size() == 6);
    CHECK(classroom::table_of_times(sample_report().rungs[1].result).empty());
    times = {};
    CHECK(classroom::table_of_times(report.rungs[1].result).empty());
}

TEST_CASE("a baseline is not compared with itself", "[report]") {
    const Report report = sample_gpu_report();
    CHECK(remark_of(report.rungs[0].result) == "54 cases, 400 GB/s (10 % of a copy)");
    CHECK(
        remark_of(report.rungs[1].result) ==
        "ahead of the reference (1.05x), 54 cases, 1 remark, 8x over 01_atomic, 3.20 TB/s (76 % of a copy)");
    const std::string html = to_html(report);
    CHECK(html.find("1x over") == std::string::npos);
    CHECK(count_of(html, "over 01_atomic, 99 % interval") == 1);
    CHECK(count_of(html, "against reference") == 1);
}

TEST_CASE("a finding of every kind is a sentence", "[report]") {
    using simt::check::Kind;
    judge::QuotedFinding finding;
    finding.side.access = "read of 4 bytes";
    finding.array = "data";
    finding.element = 4;
    finding.index = 5;
    const auto sentence = [&](Kind kind) {
        finding.kind = simt::check::name_of(kind);
        judge::RungResult result;
        result.checks.findings = {finding};
        result.decide({.text = "a longer one", .source = judge::Source::findings});
        return remark_of(result);
    };
    // As many as there are kinds, in their order.
    const std::vector<std::string> placeless{
        "the program reads data[5], outside its array",
        "the program reads data[5] at an address that is not a multiple of the size",
        "the program reads through a null pointer",
        "the program reads memory of the host in a kernel",
        "the program reads device memory on the host: data[5]",
        "the program reads data[5], which has been freed",
        "the program reads a local variable of another thread",
        "the program reads data[5], which is constant memory",
        "the program frees what no allocation returned",
        "the program frees data a second time",
        "the program allocates data, which is never freed",
        "the kernel crashes",
        "an assertion fails",
        "time runs out",
        "a launch is refused",
        "the program shifts by more bits than the number has",
        "the program copies data the wrong way round",
        "the program makes a call that fails, and drops the error",
        "two writes of data[5] meet in no given order",
        "a read and a write of data[5] meet in no given order",
        "an atomic and a read of data[5] meet in no given order",
        "an atomic and a write of data[5] meet in no given order",
        "the program reads data[5], which nothing has written",
        "the program copies what nothing has written: data[5] and more",
        "threads of a block wait at different barriers",
        "some threads leave the kernel before the barrier: an early return?",
        "a mask does not name the lanes that make the call",
        "a lane reads from one that does not take part",
        "no thread can go on",
        "threads only poll, and nobody stores what they wait for",
        "the kernel fails"};
    REQUIRE(placeless.size() == simt::check::kind_words.size());
    for (std::size_t i = 0; i < placeless.size(); ++i) CHECK(sentence(static_cast<Kind>(i)) == placeless[i]);

    finding.side.place = {"03_shared_tree.cu", 24, 0, ""};
    CHECK(sentence(Kind::uninitialised) == "line 24 reads data[5], which nothing has written");
    CHECK(sentence(Kind::crash) == "the kernel crashes at line 24");
    CHECK(sentence(Kind::livelock) == "threads only poll at line 24, and nobody stores what they wait for");
    finding.has_other = true;
    finding.other.place = {"03_shared_tree.cu", 21, 0, ""};
    CHECK(sentence(Kind::read_write) ==
          "a read and a write of data[5] meet in no given order at lines 21 and 24");
    // A line of a given header is not one of the rung.
    finding.other.place = {"integrator.cuh", 19, 0, ""};
    CHECK(sentence(Kind::read_write) ==
          "a read and a write of data[5] meet in no given order at line 24 and integrator.cuh:19");
    std::swap(finding.side, finding.other);
    CHECK(sentence(Kind::uninitialised) == "integrator.cuh:19 accesses data[5], which nothing has written");
    std::swap(finding.side, finding.other);
    finding.other.place = {"03_shared_tree.cu", 21, 0, ""};
    finding.side.access = "write of 16 bytes";
    finding.array.clear();
    CHECK(sentence(Kind::out_of_bounds) == "line 24 writes memory, outside its array");
    finding.side.access = "atomic of 4 bytes";
    finding.array = "counts", finding.element = 0;
    CHECK(sentence(Kind::use_after_free) == "line 24 accesses counts, which has been freed");
    // What a worker claims need be no kind that we know.
    judge::RungResult odd;
    finding.kind = "{line}";
    odd.checks.findings = {finding};
    odd.decide({.text = "a longer one", .source = judge::Source::findings});
    CHECK(remark_of(odd) == "{line} at lines 21 and 24");
}

TEST_CASE("the JSON of every kind of verdict fits the schema", "[report][json]") {
    const JsonSchema schema(result_schema());
    for (const Report& report : {sample_report(), sample_gpu_report(), Report{}}) {
        Report named = report;
        if (named.what.empty())
            named.what = "nothing", named.started = "2026-01-31T12:00:00Z", named.machine.cores = 1;
        const Json json = Json::parse(json_text(named));  // parsing refuses NaN and broken UTF-8
        const auto errors = schema.errors(json);
        CAPTURE(errors);
        CHECK(errors.empty());
    }
}

TEST_CASE("the schema has every field of a result, and no other", "[report][json]") {
    const JsonSchema schema(result_schema());
    Report report = sample_gpu_report();
    // One has everything that there can be, the other one says why there is nothing.
    judge::RungResult& full = report.rungs[0].result;
    full = full_result();
    full.chapter = full.rung = "01_full";
    full.sandbox = "S1";
    full.speed.conditions.slowed_by = {"power"};
    for (judge::Tally* const tally : {&full.counters.rung, &*full.counters.reference})
        tally->launches[0].sites[0].space = simt::check::Space::global;  // others are of shared memory
    full.counters.rung.host.launches =
        full.counters.reference->host.launches + 1;  // about which there is advice
    report.rungs[1].result = {};
    report.rungs[1].result.chapter = report.rungs[1].result.rung = "01_empty";
    const Json json = Json::parse(json_text(report));
    const auto errors = schema.errors(json);
    CAPTURE(errors);
    CHECK(errors.empty());
    CHECK(JsonSchema::keys_of(json) == schema.keys());
}

TEST_CASE("what could not be read of a program is reported", "[report][json]") {
    Report report = sample_report();
    report.rungs[0].result.checks.done = true;
    report.rungs[0].result.checks.unread = "as its reader was ended by signal 11";
    const Json json = to_json(report);
    CHECK(JsonSchema(result_schema()).errors(json).empty());
    CHECK(json["rungs"][0]["checks"]["unread"] == report.rungs[0].result.checks.unread);
    CHECK_THAT(to_html(report), ContainsSubstring("could not be read, as its reader was ended by signal 11"));
}

TEST_CASE("the schema knows every verdict of the judge", "[report][json]") {
    std::set<std::string> known;
    const Json schema = result_schema();
    for (const Json& name : schema["$defs"]["rung"]["properties"]["verdict"]["enum"]) known.insert(name);
    std::set<std::string> judged;
    for (int i = 0; i <= static_cast<int>(judge::Verdict::not_run); ++i) {
        judged.insert(judge::name_of(static_cast<judge::Verdict>(i)));
    }
    CHECK(known == judged);
}

TEST_CASE("the validator finds what is wrong", "[report][json]") {
    const JsonSchema schema(result_schema());
    Json json = Json::parse(json_text(sample_report()));
    const auto breaks = [&](const char* pointer, const Json& value) {
        Json changed = json;
        changed[Json::json_pointer(pointer)] = value;
        CAPTURE(pointer);
        CHECK_FALSE(schema.errors(changed).empty());
    };
    breaks("/schema", "rungs.result/2");
    breaks("/backend", "gpu");
    breaks("/score", "ten");
    breaks("/score", -1);
    breaks("/seed", "42");
    breaks("/started", "yesterday");
    breaks("/more", 1);
    breaks("/rungs/0/verdict", "PASS");
    breaks("/rungs/0/correctness/cases", 1.5);
    breaks("/rungs/0/speed", nullptr);
    breaks("/rungs/2/correctness/first_mismatches/0/got", "NaN");
    json.erase("machine");
    CHECK_FALSE(schema.errors(json).empty());
    breaks("/rungs/0/seed", 42);
    json = Json::parse(json_text(sample_report()));
    json["rungs"][0].erase("seed");
    CHECK(schema.errors(json) == std::vector{std::string("$.rungs[0]: lacks \"seed\"")});
    CHECK_THROWS_AS(JsonSchema(Json{{"oneOf", Json::array()}}).errors(1), std::logic_error);
}

TEST_CASE("points are hundredths, and so is their sum", "[report][json]") {
    for (const auto& [points, text] :
         std::vector<std::pair<double, const char*>>{{13.333333333333334, "13.33"},
                                                     {1365.5, "1365.5"},
                                                     {12345.67, "12345.67"},
                                                     {10, "10"},
                                                     {-0.001, "0"}})
        CHECK(points_text(points) == text);
    Report report = sample_report();
    report.rungs.resize(3);
    const double points[] = {0.1, 0.2, 13.33};
    for (std::size_t i = 0; i < 3; ++i) {
        report.rungs[i].result.verdict = judge::Verdict::ok;
        report.rungs[i].result.points = points[i];
        report.rungs[i].result.max_points = 15.1;
    }
    REQUIRE(report.score());
    CHECK(Json(to_json(report)).at("score").dump() == "13.63");
    CHECK(Json(to_json(report)).at("max_score").dump() == "45.3");
    CHECK_THAT(to_html(report), ContainsSubstring("13.63 / 45.3"));
}

TEST_CASE("a schema that refers to what is not there is no schema", "[report][json]") {
    const Json other{{"$id", "other.json"},
                     {"$defs", {{"word", {{"$ref", "#/$defs/text"}}}, {"text", {{"type", "string"}}}}}};
    const auto of = [](const std::string& target) {
        return Json{{"properties", {{"a", {{"$ref", target}}}}}};
    };
    const JsonSchema schema(of("other.json#/$defs/word"), {other});
    CHECK(schema.errors({{"a", "x"}}).empty());
    CHECK(schema.errors({{"a", 1}}).size() == 1);
    for (const char* target : {"other.json#/$defs/number", "#/$defs/word", "another.json#/$defs/word"}) {
        CAPTURE(target);
        CHECK_THROWS_AS(JsonSchema(of(target), {other}), std::logic_error);
    }
    CHECK_THROWS_AS(JsonSchema(of("other.json#/$defs/word")), std::logic_error);
}

TEST_CASE("what was not judged is neither a zero nor a pass", "[report][json]") {
    const Report report = sample_report();
    const Json json = Json::parse(json_text(report));
    CHECK(json["rungs"][4]["points"].is_null());
    CHECK(json["rungs"][4]["status"] == "not_checked");
    CHECK(json["undecided"] == 1);
    CHECK(json["score"].is_null());
    CHECK(json["max_score"] == 50);
    CHECK(exit_status(report) == 3);

    Report rest = report;
    rest.rungs.pop_back();
    CHECK(exit_status(rest) == 1);
    CHECK(to_json(rest)["score"] == 10);
    CHECK_THAT(to_html(rest), ContainsSubstring("10 / 30"));
    rest.finished = false;
    CHECK(exit_status(rest) == 3);
    CHECK(to_json(rest)["score"].is_null());
    rest.finished = true;
    rest.rungs.resize(2);
    CHECK(exit_status(rest) == 0);
    rest.rungs.clear();
    CHECK(exit_status(rest) == 3);  // nothing was checked: no pass
    CHECK(to_json(rest)["score"].is_null());
}

TEST_CASE("NaN and infinity in a result are spelt out", "[report][json]") {
    const Json json = Json::parse(json_text(sample_report()));
    const Json& found = json["rungs"][2]["correctness"];
    CHECK(found["error"] == "nan");
    CHECK(found["first_mismatches"][0]["got"] == "nan");
    CHECK(found["first_mismatches"][0]["ulp"].is_null());
    CHECK(found["first_mismatches"][1]["got"] == "-inf");
    CHECK(found["first_mismatches"][1]["expected"] == "inf");
    CHECK(found["first_mismatches"][2]["ulp"] == 8388608);
}

TEST_CASE("rendering is a pure function of the record", "[report]") {
    CHECK(json_text(sample_report()) == json_text(sample_report()));
    CHECK(to_html(sample_report()) == to_html(sample_report()));
}

TEST_CASE("the page loads nothing, runs nothing and cannot be broken out of", "[report][html]") {
    for (const Report& report : {sample_report(), sample_gpu_report()}) {
        const std::string html = to_html(report);
        CHECK(html.find("http://") == std::string::npos);
        CHECK(html.find("https://") == std::string::npos);
        CHECK(html.find("<script") == std::string::npos);
        CHECK(html.find("src=") == std::string::npos);
        CHECK(html.find("<link") == std::string::npos);
        CHECK(html.find("url(") == std::string::npos);
        CHECK(html.find("@import") == std::string::npos);
        CHECK_THAT(html, ContainsSubstring("default-src 'none'"));
        CHECK(html.find('\0') == std::string::npos);
        CHECK(html.find('\x1b') == std::string::npos);
        CHECK(is_valid_utf8(html));
    }
    CHECK(to_html(sample_report()).find("]]>") == std::string::npos);
    CHECK_THAT(to_html(sample_report()), ContainsSubstring("05_&lt;b&gt;"));
}

TEST_CASE("the page is well formed and can be read without eyes", "[report][html]") {
    const std::string html = to_html(GENERATE(sample_report(), sample_gpu_report()));
    CHECK_THAT(html, ContainsSubstring("<html lang=\"en\">"));
    CHECK_THAT(html, ContainsSubstring("name=\"viewport\""));
    CHECK_THAT(html, ContainsSubstring("prefers-color-scheme:dark"));
    CHECK(count_of(html, "<h1>") == 1);
    for (const char* element :
         {"table", "thead",  "tbody",   "tfoot", "tr", "td", "th",   "details", "summary", "svg",
          "g",     "figure", "section", "dl",    "dt", "dd", "main", "header",  "footer",  "caption"}) {
        CAPTURE(element);
        const std::string open = std::string("<") + element, close = std::string("</") + element + ">";
        CHECK(count_of(html, open + ">") + count_of(html, open + " ") == count_of(html, close));
    }
    // Every header cell says what it heads, every picture what it shows, every scrolling box can be
    // reached by key.
    CHECK(count_of(html, "<th ") == count_of(html, "scope=\""));
    CHECK(count_of(html, "<th>") == 0);
    CHECK(count_of(html, "role=\"img\"") == count_of(html, "<desc "));
    CHECK(count_of(html, "class=\"scroll\"") == count_of(html, "tabindex=\"0\""));
}

TEST_CASE("the page shows every number of the record", "[report][html]") {
    const std::string html = to_html(sample_report());
    for (const char* text :
         {"\u2013 / 50", "stopped at the first failure, case 4 of 54", "stopped at 4 / 54", "COMPILE_ERROR",
          "NOT_RUN", "not graded", "sum of 257 floats, kind uniform", "never written", "8388608", "-inf",
          "0x000000000000002a", "CPU &lt;model&gt;", "no NVIDIA driver on this machine",
          "1 could not be graded", "12.5", "not answered", "How many?", "predict"}) {
        CHECK_THAT(html, ContainsSubstring(text));
    }
    const std::string gpu = to_html(sample_gpu_report());
    for (const char* text : {"3.20 TB/s", "8x", "7.92", "8.08", "NVIDIA H200", "judge&#39;s clock",
                             "99 % interval 1.04 to 1.06: ahead of the reference"}) {
        CHECK_THAT(gpu, ContainsSubstring(text));
    }
}

TEST_CASE("asking for a GPU always comes back with one or with a reason", "[report][machine]") {
    const Gpu gpu = find_gpu();
    CHECK(gpu.present == gpu.why_not.empty());
    const Machine machine = this_machine(false);
    CHECK(machine.cores >= 1);
    CHECK(machine.memory > 1e8);
    CHECK_FALSE(machine.system.empty());
    CHECK_FALSE(machine.processor.empty());
}

TEST_CASE("points that a right rung has not got are listed, with what they ask for", "[report]") {
    RungReport rung = sample_rung("09_warp_shuffle", judge::Verdict::ok, 12.5, 15);
    judge::RungResult& result = rung.result;
    CHECK(lost_text(result).empty());
    judge::Modelled& modelled = result.modelled;
    modelled.done = true;
    modelled.baseline = "04_interleaved";
    modelled.zero = 1.4, modelled.full = 2;
    modelled.speedup = 1.7;
    modelled.points = 2.5, modelled.max_points = 5;
    const std::string part =
        "2.5 of 5 points for speed are lost: modelled 1.70 times as fast as 04_interleaved, and all are "
        "earned from 2.00 times on";
    CHECK(lost_text(result) == part);
    CHECK_THAT(remark_of(result), ContainsSubstring(part));
    modelled.points = 0, modelled.speedup = 1.2;
    CHECK(lost_text(result) == "5 of 5 points for speed are lost: all are earned from 2.00 times on");
    result.counters.beyond = "at most 3 load sectors are allowed";
    CHECK(lost_text(result) ==
          "half of the points for the result are lost: at most 3 load sectors are allowed; 5 of 5 points for "
          "speed are lost with them");
    result.counters.beyond.clear();
    modelled.points = 5;
    CHECK(lost_text(result).empty());
    result.speed.judged = true;
    result.speed.baseline = "04_interleaved";
    result.speed.speedup = 1.5, result.speed.zero = 1, result.speed.full = 2;
    result.speed.points = 1, result.speed.max_points = 2;
    CHECK(lost_text(result) ==
          "1 of 2 points for speed are lost: 1.50 times as fast as 04_interleaved, and all are earned from "
          "2.00 times on");
    result.verdict = judge::Verdict::wrong;
    CHECK(lost_text(result).empty());
}

TEST_CASE("first mismatches say which element it is, and ULP only where there are any", "[report]") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    judge::Correctness found;
    found.first = {{7, 1.5, 2, 3}, {8, nan, 2, ulp_undefined}};
    MismatchTable table = mismatches_of(found);
    CHECK(table.heads == std::vector<std::string>{"index", "got", "expected", "ULP apart"});
    CHECK(table.rows[0] == std::vector<std::string>{"7", "1.5", "2", "3"});
    CHECK(table.rows[1] == std::vector<std::string>{"8", "nan", "2", "not comparable"});
    found.first = {{1001, 3, 4, ulp_undefined, "velocity[1]"}, {5, nan, 9, ulp_undefined, "grey[5].x", true}};
    table = mismatches_of(found);
    CHECK(table.heads == std::vector<std::string>{"element", "got", "expected"});
    CHECK(table.rows[0] == std::vector<std::string>{"velocity[1]", "3", "4"});
    CHECK(table.rows[1] == std::vector<std::string>{"grey[5].x", "not written", "9"});
    found.wrong = 2, found.of = 3000;
    CHECK(judge::wrong_in_words(found) == "2 of 3000 wrong, first at velocity[1]: got 3, expected 4");
    found.things = "norms";
    CHECK(judge::wrong_in_words(found) == "2 of 3000 norms wrong, first at velocity[1]: got 3, expected 4");
}

TEST_CASE("numbers that a race has left are not shown", "[report]") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    judge::RungResult result = sample_report().rungs[2].result;
    result.correctness.error = 2;
    result.correctness.first = {{0, 1, 1.5, 7}};
    CHECK(tells_by_numbers(result));
    CHECK_THAT(error_text(result), ContainsSubstring("2, allowed 1e-06"));
    CHECK(likely_text(result) == "never written");
    result.decide({.kind = judge::Verdict::race, .text = "a race", .source = judge::Source::findings});
    CHECK_FALSE(tells_by_numbers(result));
    CHECK(error_text(result).empty());
    CHECK(likely_text(result) == "never written");
    // Another finding explains why there are none; only a cause that explains all says more.
    result.checks.findings[0].tool = simt::check::Tool::initcheck;
    CHECK(tells_by_numbers(result));
    result.correctness.first = {{0, nan, 1.5, 7}};
    CHECK_FALSE(tells_by_numbers(result));
    CHECK(likely_text(result).empty());
    result.checks.findings[0].side.place.file = "iterate.cuh";  // given: what it reads the rung has to write
    CHECK(likely_text(result) == "never written");
    result.checks.findings[0].side.place.file = result.rung + ".cu";
    CHECK(likely_text(result).empty());
    result.correctness.certain = true;
    CHECK(likely_text(result) == "never written");
    // Of a call that failed, what cases before it were off by says nothing.
    judge::RungResult failed = sample_report().rungs[2].result;
    failed.correctness.error = 1e-8;
    CHECK(error_text(failed).empty());
    failed.correctness.failing_case.clear();
    CHECK_THAT(error_text(failed), ContainsSubstring("1e-08"));
}

TEST_CASE("the brief reason leaves out what is shown beside it", "[report]") {
    judge::RungResult result;
    CHECK(result.brief_reason().empty());
    result.rung = "03_shared_tree";
    result.correctness.failing_case = "sum of 257 floats";
    result.decide({.kind = judge::Verdict::wrong,
                   .text = "got 0, expected 3",
                   .which = "sum of 257 floats",
                   .likely = "never written"});
    CHECK(result.reason() == "sum of 257 floats: got 0, expected 3 (never written)");
    CHECK(result.brief_reason() == "got 0, expected 3");
    CHECK(remark_of(result) == "got 0, expected 3: never written");
    result.decide({.kind = judge::Verdict::runtime_error,
                   .text = "03_shared_tree.cu:31: crashed",
                   .which = "sum of 257 floats"});
    CHECK(result.brief_reason() == "03_shared_tree.cu:31: crashed");
    CHECK(result.causes.front().place.line == 31);
    // A case that is shown nowhere else stays.
    result.decide({.kind = judge::Verdict::timeout, .text = "did not return", .which = "in check mode, sum"});
    CHECK(result.brief_reason() == "in check mode, sum: did not return");
    CHECK(result.verdict == judge::Verdict::timeout);
    CHECK(result.causes.size() == 3);
}
