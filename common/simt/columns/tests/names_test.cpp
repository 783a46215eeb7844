#include "simt/inspect/names.h"
#include "testing/catch.h"

TEST_CASE("names lose their types and parameters", "[simt][names]") {
    using simt::short_name;
    CHECK(short_name("tile") == "tile");
    CHECK(short_name("tile(float const*, int)") == "tile");
    CHECK(short_name("void tile<float>(float*, int)") == "tile<float>");
    CHECK(short_name("void tree<reduction::Products>(T1, float *)") == "tree<reduction::Products>");
    CHECK(short_name("void sweep<(bool)1, 16>(float4 (&)[16], int)") == "sweep<(bool)1, 16>");
    CHECK(short_name("float4 (anonymous namespace)::four<unsigned int>(unsigned int, void (*)(int))") ==
          "(anonymous namespace)::four<unsigned int>");
    CHECK(short_name("(anonymous namespace)::tile") == "(anonymous namespace)::tile");
    CHECK(short_name("<unnamed>::rung_ends()") == "<unnamed>::rung_ends");
    CHECK(short_name("").empty());
    CHECK(short_name("((<").size() <= 3);  // what is no name does no harm
}

TEST_CASE("the backend's own sources are told from their tests and from what calls them", "[simt][names]") {
    using simt::is_own_source;
    CHECK(is_own_source("/home/a/lib/simt/runtime/warp.cpp:3"));
    CHECK(is_own_source("/home/a/lib/simt/include/simt/warp.h:3"));
    CHECK(is_own_source("/usr/include/c++/12/vector"));
    CHECK_FALSE(is_own_source("/home/a/lib/simt/check/tests/corpus/heap.cu:3"));
    CHECK_FALSE(is_own_source("/home/a/simt/chapters/01_reduction/01_atomic.cu:3"));
    CHECK_FALSE(is_own_source("??:0"));
}
