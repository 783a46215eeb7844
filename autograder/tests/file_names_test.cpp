// class/file_names.hpp, and times in names of files.
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "class/assignment.hpp"
#include "class/file_names.hpp"
#include "class/repository.hpp"
#include "rungs/catch.hpp"

using namespace rungs::classroom;

TEST_CASE("names that platforms give are taken apart", "[class][intake]") {
    CHECK(without_count("03_shared_tree-1.cu") == "03_shared_tree.cu");
    CHECK(without_count("a-b-12.tar") == "a-b.tar");
    for (const char* same : {"", "-", ".", "-1", "-1.", "a.cu", "a-.cu", "a-x1.cu", "a-1", "a-1.", "a.b-1"})
        CHECK(without_count(same) == same);

    const auto moodle = moodle_name("Ada M. Lovelace_12345_assignsubmission_file_03_shared_tree.cu");
    REQUIRE(moodle);
    CHECK(moodle->who == "Ada M. Lovelace");
    CHECK(moodle->number == "12345");
    CHECK(moodle->file == "03_shared_tree.cu");
    CHECK_FALSE(moodle->typed);
    CHECK(moodle_name("a_1_assignsubmission_onlinetext.html")->typed);
    CHECK(moodle_name("a_b_1_assignsubmission_file_")->who == "a_b");
    CHECK(moodle_name("a_assignsubmission_file_1_assignsubmission_file")->who == "a_assignsubmission_file");
    for (const char* other :
         {"", "_assignsubmission_file_", "1_assignsubmission_file_", "_1_assignsubmission_file_",
          "a_x_assignsubmission_file_", "a_1_assignsubmission_", "a_1_assignsubmission_fil"})
        CHECK_FALSE(moodle_name(other));
    CHECK_FALSE(moodle_name("a_1_assignsubmission_file_\n.cu"));
}

TEST_CASE("names that Canvas gives are read in each way that fits", "[class][intake]") {
    struct Case {
        const char *name, *readings;
    };
    // A number may be the group's own, and that of a file's name the file's at Canvas.
    for (const Case& one : {
             Case{"lovelaceada_12345_67890_03_shared_tree-1.cu",
                  "lovelaceada 12345 03_shared_tree-1.cu, lovelaceada_12345 67890 shared_tree-1.cu"},
             {"lovelaceada_LATE_12345_67890_03_shared_tree.cu",
              "lovelaceada 12345 03_shared_tree.cu late, lovelaceada_LATE_12345 67890 shared_tree.cu"},
             {"LATE_lovelaceada_12345_67890_x.cu", "lovelaceada 12345 x.cu late"},
             {"LATE_lovelaceada_LATE_12345_67890_x.cu", "lovelaceada 12345 x.cu late"},
             {"LATE_1_2_x", "LATE 1 x"},
             {"team_a_1001_900001_06_padded.cu", "team_a 1001 06_padded.cu, team_a_1001 900001 padded.cu"},
             {"the_LATE_ones_1_2_x", "the_LATE_ones 1 x"},
             {"a__1_2_x", "a_ 1 x"},
             {"team_12_1001_900001_06_padded.cu", "team 12 900001_06_padded.cu, team_12 1001 06_padded.cu"},
             {"team_12_LATE_1001_900001_x.cu", "team_12 1001 x.cu late"},
             {"LATE_team_12_1001_900001_x.cu", "team 12 900001_x.cu late, LATE_team_12 1001 x.cu"},
             {"a_1_2_3_b", "a 1 3_b, a_1 2 b"},
             {"a_1_2_03_x.cu", "a 1 03_x.cu, a_1 2 x.cu"},
             {"a_1_x_2_3_4_y", "a_1_x 2 4_y"},
             {"anon_x7Kq_67890_03_shared_tree.cu", "anon_x7Kq anon_x7Kq 03_shared_tree.cu"},
             {"LATE_anon_x7Kq_67890_x.cu", "anon_x7Kq anon_x7Kq x.cu late"},
             {"anon_x7Kq_LATE_67890_x.cu", "anon_x7Kq anon_x7Kq x.cu late"},
             {"anon_x-7_1_2_x.cu", "anon_x-7 1 x.cu"},
         }) {
        std::vector<std::string> readings;
        for (const CanvasName& name : canvas_readings(one.name))
            readings.push_back(
                fmt::format("{} {} {}{}", name.who, name.number, name.file, name.late ? " late" : ""));
        CAPTURE(one.name);
        CHECK(fmt::format("{}", fmt::join(readings, ", ")) == one.readings);
    }
    for (const char* other :
         {"", "_", "a", "a_1_2", "a_1_2_", "_1_2_x", "a_x_2_y", "a_1_x_y", "a_LATE_1_x", "anon_x_1_",
          "anon__1_x", "LATE_", "03_shared_tree.cu", "a_1_2_x\n.cu", "a\r_1_2_x.cu"})
        CHECK(canvas_readings(other).empty());
}

TEST_CASE("names of rungs, copies and downloads are told from others", "[class][intake]") {
    struct Form {
        std::function<bool(const char*)> is;
        std::vector<const char*> those, others;
    };
    const std::vector<Form> forms{
        {begins_like_a_rung, {"03_", "03_shared_tree.cu"}, {"", "0", "03", "3_x", "x3_", "03x"}},
        {is_rung_file,
         {"03_shared_tree.cu", "07_x.toml", "03__.cu"},
         {"", "03_.cu", "03_X.cu", "3_x.cu", "03_x.cpp", "03_x.cu.cu", "03_x", "03_.toml", "03_a b.cu"}},
        {is_put_beside,
         {"03_x.cu.bak-1", "07_x.toml.bak-", "03_x.cu.new", ".cu.new"},
         {"", "03_x.cu", "03_x.bak-1", "03_x.cu.bak", "03_x.cu.new.cu", "03_x.cuh.new", "bak-.cu"}},
        {is_gradescope_submission,
         {"submission_1", "submission_123456789012345678901"},
         {"", "submission_", "submission_1x", "submission_1/", "xsubmission_1", "submission_-1"}},
        {is_gradescope_export,
         {"assignment_1_export", "assignment_123_export"},
         {"", "assignment__export", "assignment_1_export2", "assignment_1", "assignment_a_export"}},
        {is_gradescope_download,
         {"assignment_1_export", "assignment_1_export (1)", "assignment_1_export-2"},
         {"", "assignment_1_exports", "assignment_1_export_2", "assignment_1_export2", "assignment__export"}},
        {is_canvas_download,
         {"submissions", "submissions (1)", "submissions-2"},
         {"", "submission", "submissions_1", "submissions2", "my submissions"}},
        {is_moodle_download,
         {"CS-Hw-123", "-1", "Hw-1 (2)", "Hw-1(23)", "a b-5555"},
         {"", "1", "Hw123", "Hw-", "Hw-x1", "Hw-1 ()", "Hw-1 (x)", "Hw-1  (1)", "Hw- (1)", "(1)"}}};
    for (const Form& form : forms) {
        for (const char* name : form.those) CHECK(form.is(name));
        for (const char* name : form.others) CHECK_FALSE(form.is(name));
    }

    for (const char* again : {"hw.tar-1.gz", "hw.tar(1).gz", "hw.tar (1234).gz"})
        CHECK(without_copy_number(again) == "hw.tar.gz");
    CHECK(without_copy_number("HW.TAR-2.XZ") == "HW.TAR.XZ");
    for (const char* same : {"", ".", "hw.tar.gz", "hw.tar-12345.gz", "hw.tar-.gz", "hw.tar().gz",
                             "hw.tar  (1).gz", "hw-1.gz", "hw.tar-1.", "hw.tar-1", "hw.tar-1.g z", "-1.gz"})
        CHECK(without_copy_number(same) == same);

    for (const char* copy : {"hw", "hw1", "hw(1)", "hw (1)", "hw-2", "hw_2", "hw.1234", "hw - Copy",
                             "hw-copy", "hw_COPY", "hw(1", "hw 1)"})
        CHECK(is_copy_of(copy, "hw"));
    for (const char* other : {"", "h", "xhw", "hw ", "hw()", "hw--1", "hw12345", "hwcopy", "hw copy 2", "hwx",
                              "hw (1) x", "hw - copyx"})
        CHECK_FALSE(is_copy_of(other, "hw"));
}

TEST_CASE("names of any length are taken apart without stack", "[class][intake]") {
    for (const std::string start :
         {"", "a_", "a_1_", "a_1_2_", "a_1_assignsubmission_", "a_1_assignsubmission_file_", "LATE_",
          "LATE_anon_", "03_", "assignment_1_export", "submissions", "hw (1)",
          "2026-01-31T12:00:", "2026-01-31T12:00:00.", "https://"}) {
        for (const char* letter : {"a", "_", "1", "_1", "-1.", "@", "://", ":", "_assignsubmission_",
                                   "_1_assignsubmission_", "+", "LATE_", ".cu.bak", ".tar-1", "(1)"}) {
            std::string name = start;
            while (name.size() < 100'000) name += letter;
            for (const std::string& one : {name, name + "_1_2_x", name + "_1_assignsubmission_file",
                                           name + ".tar-1.gz", name + " (1)", name + ".cu.new"}) {
                canvas_readings(one);
                moodle_name(one);
                without_count(one);
                without_copy_number(one);
                is_copy_of(one, start);
                for (const auto is :
                     {is_number, begins_like_a_rung, is_rung_file, is_put_beside, is_gradescope_submission,
                      is_gradescope_export, is_gradescope_download, is_canvas_download, is_moodle_download})
                    is(one);
            }
            CHECK(moodle_name("a_1_assignsubmission_file_" + name));
            if (name.find_first_of("1_") == std::string::npos)
                CHECK(canvas_readings(name + "_1_2_x").front().who == name);
            CHECK_FALSE(parse_time(name));
            CHECK(without_login(name).size() <= name.size());
        }
    }
}

TEST_CASE("a login in a URL is never shown", "[class][intake]") {
    CHECK(without_login("https://ada:secret@example.org/x") == "https://example.org/x");
    CHECK(without_login("'https://a@b/' and ssh://c@d") == "'https://b/' and ssh://d");
    for (const char* same : {"", "https://example.org/a@b", "https://a b@c", "://", "https://", "a@b"})
        CHECK(without_login(same) == same);
}

TEST_CASE("times are read as before", "[class][intake]") {
    const Time noon = *parse_time("2026-01-31T12:00:00Z");
    for (const char* same : {"2026-01-31 12:00Z", "2026-01-31T12:00:00.123 UTC", "2026-01-31T13:00+01:00",
                             "2026-01-31T11:00:00-0100", "2026-01-31 12:00:00 +00:00"})
        CHECK(parse_time(same) == noon);
    CHECK(time_text(noon) == "2026-01-31T12:00:00Z");
    for (const char* other :
         {"", "2026", "2026-01-31", "2026-01-31T12:00", "2026-01-31T12:00:00", "2026-02-30T12:00Z",
          "2026-01-31T25:00Z", "2026-01-31T12:00:Z", "2026-01-31T12:00:00.Z", "2026-01-31T12:00+1",
          "2026-01-31T12:00Zx", "x2026-01-31T12:00Z", "2026-13-01T12:00Z"})
        CHECK_FALSE(parse_time(other));
}
