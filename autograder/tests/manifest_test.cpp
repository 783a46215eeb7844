// What a manifest may say about checks and modelled speed, and the messages about what is wrong in it.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "judge/judge.hpp"
#include "rungs/catch.hpp"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"
#include "rungs/temporary_folder.hpp"

using namespace rungs;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A chapter with one given rung and one exercise; `extra` is put before [rungs], `speed` in the exercise.
Manifest read(const std::string& extra, const std::string& speed = "") {
    const TemporaryFolder folder;
    folder.write("01_topic/topic.cuh", "");
    folder.write("01_topic/01_naive.cu", "");
    folder.write("01_topic/02_tree.cu", "");
    folder.write("01_topic/chapter.toml",
                 "title = \"Topic\"\nsummary = \"S\"\nnamespace = \"topic\"\ncontract = \"topic.cuh\"\n"
                 "[problems]\nsum = \"Sum\"\ndot = \"Dot\"\n"
                 "[[cases]]\nsizes = [1000, 1]\nkinds = [\"integers\", \"uniform\"]\nseeds = 2\n"
                 "[[cases]]\nproblems = [\"sum\"]\nsizes = [1000, 7]\nkinds = [\"nan\"]\n" +
                     extra +
                     "\n[rungs.01_naive]\nidea = \"i\"\nproblems = [\"sum\"]\n"
                     "[rungs.02_tree]\nidea = \"i\"\npoints = 10\nhints = [\"h\"]\n" +
                     speed);
    return read_manifest(folder.path() / "01_topic");
}

std::string refusal(const std::string& extra, const std::string& speed = "") {
    try {
        read(extra, speed);
    } catch (const ManifestError& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("without [check] every size is looked at once, with its first kind", "[manifest]") {
    const Manifest manifest = read("");
    CHECK(manifest.check.required);
    CHECK(manifest.check.orders == 3);
    CHECK(manifest.check.work == 2e5);
    CHECK(read("[check]\nwork = 3e6\n").check.work == 3e6);
    std::string cases;
    for (const Case& which : manifest.check_cases_of(manifest.rungs[1], 1)) {
        cases += which.problem + " " + std::to_string(which.sizes[0]) + " " + which.kind + "; ";
    }
    CHECK(cases == "sum 1000 integers; sum 1 integers; dot 1000 integers; dot 1 integers; sum 7 nan; ");
}

TEST_CASE("no seed that is shown leads to another, or to the key", "[manifest]") {
    // What a reader of one seed could undo: splitmix64's finaliser.
    const auto undone = [](std::uint64_t value) {
        value = (value ^ (value >> 31) ^ (value >> 62)) * 0x319642b2d24d8ec3ULL;
        value = (value ^ (value >> 27) ^ (value >> 54)) * 0x96de1b173f119089ULL;
        return value ^ (value >> 30) ^ (value >> 60);
    };
    const std::uint64_t key = 0x243f6a8885a308d3;
    const Manifest manifest = read("");
    const auto cases = manifest.cases_of(manifest.rungs[1], Backend::cpu, key);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        CHECK(undone(cases[i].seed) - 0x9e3779b97f4a7c15ULL * (i + 1) != key);
        for (std::size_t j = 0; j < i; ++j) CHECK(cases[i].seed != cases[j].seed);
    }
    CHECK(seed_of(key, Purpose::counts, 0) != seed_of(key, Purpose::cases, 0));
    CHECK(seed_of(key, Purpose::counts, 0) != seed_of(key + 1, Purpose::counts, 0));
}

TEST_CASE("a group of cases may be checked as a whole, whatever its size", "[manifest]") {
    const std::string group =
        "[[cases]]\nproblems = [\"sum\"]\nsizes = [70001]\nkinds = [\"ones\", \"nan\"]\n";
    const Manifest manifest = read(group + "checked = true\n");
    const auto cases = manifest.large_check_cases_of(manifest.rungs[1], 1);
    REQUIRE(cases.size() == 2);
    CHECK(cases[0].kind == "ones");
    CHECK(cases[1].sizes == std::vector<long long>{70001});
    // They are the same inputs that run mode sees.
    const auto all = manifest.cases_of(manifest.rungs[1], Backend::cpu, 1);
    CHECK(cases[1].seed == all.back().seed);
    const Manifest without = read(group + "checked = false\n");
    CHECK(without.large_check_cases_of(without.rungs[1], 1).empty());
    const auto none = [&](const std::vector<Case>& some) {
        return std::none_of(some.begin(), some.end(),
                            [](const Case& which) { return which.sizes[0] == 70001; });
    };
    CHECK(none(without.check_cases_of(without.rungs[1], 1)));
    CHECK_FALSE(none(read(group).check_cases_of(without.rungs[1], 1)));
    const Manifest some = read(group + "checked = [\"" + manifest.rungs[1].name + "\"]\n");
    CHECK(some.large_check_cases_of(some.rungs[1], 1) == cases);
    CHECK(some.large_check_cases_of(some.rungs[0], 1).empty());
    CHECK_FALSE(none(some.check_cases_of(some.rungs[0], 1)));  // as in a group that says nothing
    CHECK_THAT(refusal(group + "checked = 1\n"), ContainsSubstring("true, false or a list"));
    CHECK_THAT(refusal(group + "checked = [1]\n"), ContainsSubstring("'checked'"));
    CHECK_THAT(refusal(group + "checked = [\"99_none\"]\n"), ContainsSubstring("no rung '99_none'"));
    CHECK_THAT(refusal("[[cases]]\nproblems = [\"dot\"]\nsizes = [7]\nkinds = [\"ones\"]\n"
                       "checked = [\"01_naive\"]\n"),
               ContainsSubstring("'01_naive' solves none of the group's problems"));
    CHECK_THAT(refusal(group + "backend = \"cuda\"\nchecked = [\"01_serial\"]\n"),
               ContainsSubstring("'checked'"));
    CHECK_THAT(refusal(group + "checked = 2026-11-20T:00\n"),
               ContainsSubstring("a date with a T and no time"));
    CHECK_THAT(refusal(group + "backend = \"cuda\"\nchecked = true\n"), ContainsSubstring("'checked'"));
}

TEST_CASE("[check] names cases, orders, and whether findings cost points", "[manifest]") {
    const Manifest manifest =
        read("[check]\nsizes = [5, 33]\nkinds = [\"uniform\"]\norders = 7\nrequired = false\n");
    CHECK_FALSE(manifest.check.required);
    CHECK(manifest.check.orders == 7);
    const auto cases = manifest.check_cases_of(manifest.rungs[1], 1);
    REQUIRE(cases.size() == 4);
    CHECK(cases[3].problem == "dot");
    CHECK(cases[3].sizes == std::vector<long long>{33});
    CHECK(cases[3].kind == "uniform");
    // Another key gives other inputs.
    CHECK(cases[0].seed == manifest.check_cases_of(manifest.rungs[1], 1)[0].seed);
    CHECK(cases[0].seed != manifest.check_cases_of(manifest.rungs[1], 2)[0].seed);

    CHECK(manifest.large_check_cases_of(manifest.rungs[1], 1).empty());

    CHECK_THAT(refusal("[check]\nsizes = [5]\n"), ContainsSubstring("needs the key 'kinds'"));
    CHECK_THAT(refusal("[check]\nkinds = [\"uniform\"]\n"), ContainsSubstring("needs 'sizes'"));
    CHECK_THAT(refusal("[check]\norders = 0\n"), ContainsSubstring("'orders'"));
    CHECK_THAT(refusal("[check]\nwork = 0\n"), ContainsSubstring("'work' must be a number of at least 1"));
    CHECK_THAT(refusal("[check]\nsizes = [5]\nkinds = [\"uniform\"]\nwork = 9\n"),
               ContainsSubstring("either"));
    CHECK_THAT(refusal("[check]\nrequired = 1\n"), ContainsSubstring("true or false"));
    CHECK_THAT(refusal("[check]\nclean = true\n"), ContainsSubstring("clean"));
}

TEST_CASE("modelled speed has a case and thresholds of its own", "[manifest]") {
    const std::string model = "[[modelled]]\nproblem = \"sum\"\nsizes = [65536]\nkind = \"uniform\"\n";
    const std::string speed = "speed = { points = 5, baseline = \"01_naive\", zero = 1.5, full = 2.5";
    const Manifest manifest = read(model, speed + ", modelled = { zero = 1.4, full = 2.2 } }\n");
    REQUIRE(manifest.modelled.size() == 1);
    CHECK(manifest.modelled[0].problem == "sum");
    CHECK(manifest.modelled[0].sizes == std::vector<long long>{65536});
    REQUIRE(manifest.rungs[1].speed);
    REQUIRE(manifest.rungs[1].speed->modelled);
    CHECK(manifest.rungs[1].speed->modelled->zero == 1.4);
    CHECK(manifest.rungs[1].speed->modelled->full == 2.2);
    CHECK_FALSE(read(model, speed + " }\n").rungs[1].speed->modelled);

    CHECK_THAT(refusal("", speed + ", modelled = { zero = 1.4, full = 2.2 } }\n"),
               ContainsSubstring("none of [[modelled]] is a problem of this rung"));
    CHECK_THAT(refusal(model, speed + ", modelled = { zero = 2.4, full = 2.2 } }\n"),
               ContainsSubstring("'full' must be greater"));
    CHECK_THAT(refusal(model, speed + ", modelled = { zero = 0.9, full = 2.2 } }\n"),
               ContainsSubstring("'zero' must be a number of at least 1"));
    CHECK_THAT(refusal(model, speed + ", modelled = 2 }\n"), ContainsSubstring("must be a table"));
    CHECK_THAT(refusal(model + "calls = 3\n"), ContainsSubstring("calls"));
    CHECK_THAT(refusal("[[modelled]]\nproblem = \"max\"\nsizes = [1]\nkind = \"u\"\n"),
               ContainsSubstring("not one of the chapter's [problems]"));
}

TEST_CASE("a rung is not measured against one that cannot solve the case", "[manifest]") {
    const std::string speed = "speed = { points = 5, baseline = \"01_naive\", zero = 1.5, full = 2.5 }\n";
    const auto timed = [](const std::string& problem) {
        return "[[timed]]\nproblem = \"" + problem + "\"\nsizes = [65536]\nkind = \"uniform\"\n";
    };
    const Manifest manifest = read(timed("sum"), speed);
    CHECK(manifest.rungs[0].solves("sum"));
    CHECK_FALSE(manifest.rungs[0].solves("dot"));
    CHECK_THAT(refusal(timed("dot"), speed),
               ContainsSubstring("'01_naive', which the speed of '02_tree' refers to, does not solve 'dot'"));
    CHECK(read(timed("dot")).rungs[1].solves("dot"));
    CHECK_THAT(refusal("[timed]\nproblem = \"sum\"\nsizes = [65536]\nkind = \"uniform\"\n"),
               ContainsSubstring("[[timed]]"));
}

TEST_CASE("a rung is timed on the first case that is one of its problems", "[manifest]") {
    const auto timed = [](const std::string& problem, int size) {
        return "[[timed]]\nproblem = \"" + problem + "\"\nsizes = [" + std::to_string(size) +
               "]\nkind = \"uniform\"\n";
    };
    const std::string speed = "speed = { points = 5, baseline = \"01_naive\", zero = 1.5, full = 2.5 }\n";
    const Manifest manifest = read(timed("dot", 64) + timed("sum", 32) + timed("sum", 16), "");
    const auto* first = Manifest::case_for(manifest.rungs[0], manifest.timed);
    const auto* second = Manifest::case_for(manifest.rungs[1], manifest.timed);
    REQUIRE(first);
    REQUIRE(second);
    CHECK(first->sizes == std::vector<long long>{32});
    CHECK(second->sizes == std::vector<long long>{64});
    CHECK(Manifest::case_for(manifest.rungs[0], manifest.modelled) == nullptr);
    CHECK_NOTHROW(read(timed("sum", 32) + timed("dot", 64), speed));
    CHECK_THAT(refusal(timed("dot", 64) + timed("sum", 32), speed),
               ContainsSubstring("does not solve 'dot'"));
    CHECK_THAT(refusal("", "speed = { points = 1.333, baseline = \"01_naive\", zero = 1.5, full = 2.5 }\n"),
               ContainsSubstring("'points' has at most two decimals"));
    CHECK_THAT(refusal("", "speed = { points = 5, baseline = \"02_tree\", zero = 1.5, full = 2.5 }\n"),
               ContainsSubstring("must name another rung"));
}

TEST_CASE("what is timed differs from input to input by its arrays alone", "[manifest]") {
    // One request carries the numbers of all calls of a case.
    for (const Manifest& manifest : read_manifests(std::filesystem::path(RUNGS_ROOT) / "chapters")) {
        const std::unique_ptr<Exam> exam = judge::exam_of(manifest);
        for (const auto* cases : {&manifest.timed, &manifest.modelled}) {
            for (const TimedCase& timed : *cases) {
                CAPTURE(manifest.chapter, timed.problem, timed.sizes, timed.kind);
                const Task one = exam->make({timed.problem, timed.sizes, timed.kind, 1});
                const Task other = exam->make({timed.problem, timed.sizes, timed.kind, 2});
                const bool same_numbers = one.numbers == other.numbers;
                const bool same_arrays =
                    std::equal(one.inputs.begin(), one.inputs.end(), other.inputs.begin(), other.inputs.end(),
                               [](const Array& a, const Array& b) { return a.bytes == b.bytes; });
                CHECK(same_numbers);
                CHECK_FALSE(same_arrays);
            }
        }
    }
}

TEST_CASE("a summit's scale ends at the reference", "[manifest]") {
    const std::string kinds = "kind = \"summit\"\n";
    const std::string modelled = "[[modelled]]\nproblem = \"sum\"\nsizes = [7]\nkind = \"nan\"\n";
    // The given rung has no kind in read(): a chapter says all or none, so that is reported once
    // the speed is read.
    const auto summit = [&](const std::string& speed) {
        return refusal(modelled, kinds + "speed = { " + speed + " }\n");
    };
    CHECK_THAT(summit("points = 5, baseline = \"01_naive\", modelled = true"),
               ContainsSubstring("'01_naive' has to as well"));
    CHECK_THAT(summit("points = 5, baseline = \"01_naive\", zero = 1.5"),
               ContainsSubstring("unknown key 'zero'"));
    CHECK_THAT(summit("points = 5, baseline = \"01_naive\", modelled = 2"),
               ContainsSubstring("true or false"));
}

TEST_CASE("a rung may be held to report what fails, and to repeat its bits", "[manifest]") {
    CHECK_FALSE(read("").rungs[1].checks_launches);
    const Manifest read_back = read("", "checks_launches = true\nrepeatable = true\n");
    CHECK(read_back.rungs[1].checks_launches);
    CHECK(read_back.rungs[1].repeatable);
    CHECK_THAT(refusal("", "checks_launches = 1\n"), ContainsSubstring("must be true or false"));
}

TEST_CASE("limits are counters, as multiples of the reference's", "[manifest]") {
    const Manifest read_back = read("", "limits = { load_sectors = 1.5, wavefronts = 2 }\n");
    REQUIRE(read_back.rungs[1].limits.size() == 2);
    CHECK(read_back.rungs[1].limits[0].counter == "load_sectors");
    CHECK(read_back.rungs[1].limits[0].times == 1.5);
    CHECK_THAT(refusal("", "limits = { lines = 2 }\n"), ContainsSubstring("'lines' is not a counter"));
    CHECK_THAT(refusal("", "limits = { modelled_speedup = 2 }\n"), ContainsSubstring("not a counter"));
    CHECK_THAT(refusal("", "limits = { load_sectors = 0.5 }\n"), ContainsSubstring("at least 1"));
}

TEST_CASE("kinds, minutes and difficulty", "[manifest]") {
    const Manifest silent = read("");
    CHECK_FALSE(silent.kinds);
    CHECK(silent.rungs[0].kind == Kind::given);
    CHECK(silent.rungs[1].kind == Kind::fill);
    CHECK_THAT(refusal("", "kind = \"write\"\n"),
               ContainsSubstring("chapter.toml:17:") && ContainsSubstring("'01_naive' has to as well"));
    CHECK_THAT(refusal("", "kind = \"given\"\n"), ContainsSubstring("a rung with 'points' is not given"));
    CHECK_THAT(refusal("", "kind = \"copy\"\n"),
               ContainsSubstring("given, fill, write, repair, predict, summit"));
    CHECK_THAT(refusal("", "minutes = 0\n"), ContainsSubstring("'minutes'"));
    CHECK_THAT(refusal("", "difficulty = 6\n"), ContainsSubstring("from 1 to 5"));
}
