// Which names of ours a rung may ask for.

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "judge/build/object_gate.hpp"
#include "judge/build/public_names.hpp"
#include "rungs/catch.hpp"

using namespace rungs::judge;
using Strings = std::vector<std::string>;

namespace {

/// The number of the line of `text` that has `words`.
std::size_t line_with(const std::string& text, const std::string& words) {
    const std::size_t at = text.find(words);
    REQUIRE(at != std::string::npos);
    return 1 + static_cast<std::size_t>(
                   std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

}  // namespace

TEST_CASE("the compiler is asked which names of ours the public headers declare", "[judge][gate]") {
    const NameQuestion question(
        {"cuda_runtime.h", "rungs/scratch.cuh"},
        parse_symbols(
            "lib.a[worker.o]:\n_ZN5rungs8protocol12begin_checksEmd T 0 9\n_ZNK4simt5Fiber4stepEv W 0 9\n"
            "_ZN5rungs9CudaErrorC1Ev T 0 9\n_ZTIN5rungs9CudaErrorE V 0 9\nblockDim B 0 9\nsimt_free T 0 9\n"
            "_ZNSt6vectorIN5rungs4CallEE4growEv W 0 9\n_ZdlPv T 0 9\nlocal t 0 9\n"));
    const std::string& text = question.text();
    CHECK(text.rfind("#include <cuda_runtime.h>\n#include <rungs/scratch.cuh>\n", 0) == 0);
    CHECK(text.find("local") == std::string::npos);
    CHECK(text.find("vector") == std::string::npos);
    const auto error = [&](const std::string& words) {
        return fmt::format("./names.cu:{}:7: error: no\n", line_with(text, words));
    };
    // What nobody can ask for by a declaration is nobody's.
    CHECK(question.undeclared("", "names.cu") == Strings{"_ZdlPv"});
    CHECK(question.undeclared(error("using ::rungs::protocol::begin_checks;"), "names.cu") ==
          Strings{"_ZdlPv"});  // it may be a member
    CHECK(question.undeclared(error("{ using ::rungs::protocol::begin_checks; }\n") +
                                  error(": ::rungs::protocol { using ::rungs::protocol::begin_checks; };"),
                              "names.cu") == Strings{"_ZN5rungs8protocol12begin_checksEmd", "_ZdlPv"});
    CHECK(question.undeclared(error("static_assert(sizeof(::rungs::CudaError)"), "names.cu") ==
          Strings{"_ZN5rungs9CudaErrorC1Ev", "_ZdlPv"});
    // Check mode's name for a function of the C library.
    CHECK(question.undeclared(error("{ using ::simt_free; }"), "names.cu") == Strings{"_ZdlPv"});
    CHECK(question.undeclared(error("{ using ::simt_free; }") + error("{ using ::free; }"), "names.cu") ==
          Strings{"simt_free", "_ZdlPv"});
    // A compiler that has not read all headers knows nothing.
    CHECK_THROWS_AS(
        question.undeclared("names.cu:1:10: fatal error: cuda_runtime.h: No such file\n", "names.cu"),
        std::runtime_error);
    CHECK_THROWS_AS(question.undeclared("/include/simt/api.h:9:1: error: expected ';'\n", "names.cu"),
                    std::runtime_error);
}

TEST_CASE("a rung may not ask for what is the grader's own", "[judge][gate]") {
    const Strings wanted{"_ZN9reduction3sumEPKf"};
    const auto why = [&](const std::string& line) {
        return objection(
            parse_symbols("_ZN9reduction3sumEPKf T 0 20\n" + line), wanted, {},
            {"_ZN5rungs8protocol12begin_checksEmd", "__tsan_read4", "__tsan_ignore_thread_begin"});
    };
    for (const char* type : {"U", "w", "v"})
        CHECK(why(std::string("_ZN5rungs8protocol12begin_checksEmd ") + type + "\n")
                  .find("uses 'rungs::protocol::begin_checks(unsigned long, double)', which belongs "
                        "to the grader") != std::string::npos);
    CHECK(why("__tsan_read4 U\n") == "");  // the compiler's call
    CHECK(why("__tsan_ignore_thread_begin U\n").find("belongs to the grader") != std::string::npos);
    CHECK(why("cudaMalloc U\nprintf U\n_ZSt4sortv U\n") == "");
}
