// rungs_new: the skeleton of a rung or of a chapter, for ./rungs new.
#include <cstdio>

#include <CLI/CLI.hpp>

#include "new/new.hpp"

namespace {

namespace fs = std::filesystem;
using namespace rungs;

int run(int argc, char** argv) {
    CLI::App app("Writes the skeleton of a rung, or of a chapter", "./rungs new");
    NewRung asked;
    std::string root = ".";
    app.add_option("name", asked.name,
                   "A rung of a chapter, such as 01/12_two_level, or a chapter, such as 08_scan")
        ->required()
        ->type_name("NAME");
    app.add_option("--kind", asked.kind, "Of the rung: given, fill, write, repair, predict or summit")
        ->type_name("KIND");
    app.add_option("--problems", asked.problems, "The problems that the rung solves, such as sum,dot [all]")
        ->delimiter(',')
        ->type_name("NAMES");
    app.add_option("--root", root, "The workbook")->type_name("DIR")->capture_default_str();
    app.footer(
        "Example: ./rungs new 01/12_two_level --kind write\n"
        "What is left to write is marked WRITE:, and the gates name it. No file is overwritten.\n"
        "Exit status: 0 written, 2 wrong use, 3 could not write it.");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    const bool is_rung = asked.name.find('/') != std::string::npos;
    if (is_rung && asked.kind.empty())
        throw NewError("a rung needs --kind: given, fill, write, repair, predict or summit");
    if (!is_rung && (app.count("--kind") || app.count("--problems")))
        throw NewError("--kind and --problems are of a rung, such as 01/12_two_level; '" + asked.name +
                       "' names none");
    const fs::path folder = fs::canonical(root);
    const Written written = is_rung ? write_new_rung(folder, asked) : write_new_chapter(folder, asked.name);
    std::printf("written:\n");
    for (const std::string& file : written.files) std::printf("  %s\n", file.c_str());
    std::printf("next:\n");
    for (const std::string& step : written.next) std::printf("  %s\n", step.c_str());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const NewError& error) {
        std::fprintf(stderr, "rungs: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rungs: %s\n", error.what());
        return 3;
    }
}
