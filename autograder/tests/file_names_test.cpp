// class/file_names.hpp, and times as they stand in names of files.
#include <string>

#include "class/assignment.hpp"
#include "class/file_names.hpp"
#include "class/repository.hpp"
#include "rungs/catch.hpp"

using namespace rungs::classroom;

TEST_CASE("names that platforms give are taken apart", "[class][intake]") {
    const auto canvas = canvas_name("lovelaceada_LATE_12345_67890_03_shared_tree-1.cu");
    REQUIRE(canvas);
    CHECK(canvas->who == "lovelaceada");
    CHECK(canvas->late);
    CHECK(canvas->number == "12345");
    CHECK(canvas->file == "03_shared_tree-1.cu");
    CHECK_FALSE(canvas_name("a_1_2_x")->late);
    for (const char* other : {"", "_", "a", "a_1_2", "a_1_2_", "_1_2_x", "a_x_2_y", "a_1_x_y", "a_LATE_1_x",
                              "a__1_2_x", "03_shared_tree.cu"})
        CHECK_FALSE(canvas_name(other));

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

    CHECK(begins_like_a_rung("03_"));
    for (const char* other : {"", "0", "03", "3_x", "x3_", "03x"}) CHECK_FALSE(begins_like_a_rung(other));
}

TEST_CASE("names of any length are taken apart without stack", "[class][intake]") {
    for (const std::string start :
         {"", "a_", "a_1_", "a_1_2_", "a_1_assignsubmission_", "a_1_assignsubmission_file_",
          "2026-01-31T12:00:", "2026-01-31T12:00:00.", "https://"}) {
        for (const char* letter : {"a", "_", "1", "_1", "-1.", "@", "://", ":", "_assignsubmission_", "+"}) {
            std::string name = start;
            while (name.size() < 1'000'000) name += letter;
            canvas_name(name);
            moodle_name(name);
            without_count(name);
            is_number(name);
            CHECK_FALSE(parse_time(name));
            CHECK(without_login(name).size() <= name.size());
        }
    }
}

TEST_CASE("a login in a URL is told nobody", "[class][intake]") {
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
