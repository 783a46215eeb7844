#include "rungs/options.hpp"

#include <stdexcept>

#include "rungs/catch.hpp"

using Sizes = std::vector<std::size_t>;

/// What `--sizes words` means where nothing else is known.
static Sizes sizes_of(const char* words) {
    Sizes sizes{7};
    rungs::CommandLine line("bench", "a benchmark");
    line.add("--sizes", sizes, "which sizes");
    const char* const all[] = {"bench", "--sizes", words};
    line.parse(3, all);
    return sizes;
}

TEST_CASE("sizes are numbers or powers of two, with commas between them", "[options]") {
    CHECK(sizes_of("1000000") == Sizes{1000000});
    CHECK(sizes_of("2^20,1000,2^0") == Sizes{1 << 20, 1000, 1});
    CHECK(sizes_of("2^40") == Sizes{std::size_t{1} << 40});
    for (const char* wrong : {"0", "2^41", "1099511627777", "2^", "-5", "1e6", "10,ten", "3,"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(sizes_of(wrong), std::invalid_argument);
    }
}

TEST_CASE("sizes that nobody asks for stay as they are", "[options]") {
    Sizes sizes{7};
    rungs::CommandLine line("bench", "a benchmark");
    line.add("--sizes", sizes, "which sizes");
    const char* const none[] = {"bench"};
    REQUIRE(line.parse(1, none));
    CHECK(sizes == Sizes{7});
}
