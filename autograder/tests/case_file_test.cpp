// A case in one file: its first comment, and what is wrong with others.
#include "cases/case_file.hpp"

#include <stdexcept>

#include "rungs/catch.hpp"
#include "rungs/temporary_folder.hpp"

using Catch::Matchers::ContainsSubstring;
using namespace rungs;

namespace {

CaseFile read(const std::string& text, const std::string& name = "1_case.cu") {
    const TemporaryFolder folder;
    return read_case_file(folder.write(name, text));
}

std::string refused(const std::string& text) {
    try {
        CaseFile file = read(text);
        file.keys.value("number", 1.0);
        file.keys.expect_no_more();
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a case's first comment is a sentence and keys, and the rest is handed in byte for byte",
          "[cases]") {
    CaseFile file = read(
        "// Does this,\n// and that.\n//\n//     texts = [\"a\",\n//         \"b c\"]\n//     flag = true\n"
        "//     number = 3\n//     text = 'x'\n\n// Not a key = 1.\nint i;");
    CHECK(file.what == "Does this, and that.");
    CHECK(file.keys.value("texts", std::vector<std::string>()) == std::vector<std::string>{"a", "b c"});
    CHECK(file.keys.value("flag", false));
    CHECK(file.keys.value("number", 0.5) == 3);
    CHECK(file.keys.value("text", std::string()) == "x");
    CHECK(file.keys.value("other", std::string("y")) == "y");
    CHECK_NOTHROW(file.keys.expect_no_more());
    CHECK(file.text == "// Not a key = 1.\nint i;");

    CaseFile toml = read("# Answers.\n#\n#     flag = true\n\n\x1b[2J = \xff", "1_case.toml");
    CHECK(toml.what == "Answers.");
    CHECK(toml.keys.value("flag", false));
    CHECK(toml.text == "\x1b[2J = \xff");
    CHECK(read("// No key.\n//\n\n").text.empty());
}

TEST_CASE("a case that cannot be understood is refused with its file's name", "[cases]") {
    CHECK(refused("// Good.\n//\n//     number = 2\n\n").empty());
    for (const char* text : {"", "int i;\n", "// No keys.\n\nint i;\n", "// No end.\n//\n//     number = 2\n",
                             "// Code follows.\n//\n//     number = 2\nint i;\n", "\n// Late.\n//\n\n"}) {
        CAPTURE(text);
        CHECK_THAT(refused(text), ContainsSubstring("1_case.cu") && ContainsSubstring("first comment"));
    }
    CHECK_THAT(refused("// A.\n//\n//     nubmer = 2\n\n"),
               ContainsSubstring("1_case.cu: there is no key 'nubmer'"));
    CHECK_THAT(refused("// A.\n//\n//     number = \"2\"\n\n"),
               ContainsSubstring("'number' has a value of another type"));
    CHECK_THAT(refused("// A.\n//\n//     number = [1, 2]\n\n"), ContainsSubstring("'number' is no text"));
    CHECK_THAT(refused("// A.\n//\n//     number = \n\n"), ContainsSubstring("1_case.cu: "));
    CHECK_THAT(refused("// A.\n//\n//     number = 1\n//     number = 2\n\n"),
               ContainsSubstring("1_case.cu: "));
    CHECK_THROWS_WITH(read_case_file("/nowhere/1_case.cu"), ContainsSubstring("/nowhere/1_case.cu"));
}
