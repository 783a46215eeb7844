// rungs_package: makes the student edition, for ./rungs package.
#include <cstdio>
#include <cstdlib>

#include <CLI/CLI.hpp>

#include "judge/build/toolchain.hpp"
#include "package/package.hpp"

namespace {

namespace fs = std::filesystem;
using namespace rungs;

int run(int argc, char** argv) {
    CLI::App app("Makes the student edition: the workbook without solutions and what shows them",
                 "./rungs package");
    PackageOptions options;
    std::string root = ".", out;
    bool unchecked = false, no_gpu = false;
    app.add_option("--out", out, "The folder, or the .tar.gz file, that is to be made")
        ->required()
        ->type_name("PATH");
    app.add_option("--rungs", options.rungs, "The chapters and rungs to try, such as 01,02/03 [all]")
        ->delimiter(',')
        ->type_name("NAMES");
    app.add_flag("--unchecked", unchecked, "Do not build the package in a clean place and try it");
    app.add_flag("--no-gpu", no_gpu, "Without compiled references for a GPU, which take nvcc and minutes");
    app.add_option("--root", root, "The workbook")->type_name("DIR")->capture_default_str();
    app.footer(
        "Example: ./rungs package --out rungs-students.tar.gz\n"
        "It is made from the commit that is checked out. Students update with ./rungs update FILE.\n"
        "Exit status: 0 made and tried, 1 it would not be good, 2 wrong use, 3 could not make it.");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    options.root = fs::canonical(root);
    options.out = fs::absolute(out).lexically_normal();
    options.check = !unchecked;
    options.gpu = !no_gpu;
    options.version = RUNGS_VERSION;
    const char* const build = std::getenv("RUNGS_BUILD");
    options.toolchain =
        judge::read_toolchain(fs::path(build && *build ? build : RUNGS_BUILD) / "toolchain.json");
    options.say = [](const std::string& text) { std::printf("  %s\n", text.c_str()), std::fflush(stdout); };
    make_package(options);
    std::printf("%s is ready to be handed out\n", options.out.c_str());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const PackageError& error) {
        std::fprintf(stderr, "rungs: %s\n", error.what());
        return error.status();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rungs: %s\n", error.what());
        return 3;
    }
}
