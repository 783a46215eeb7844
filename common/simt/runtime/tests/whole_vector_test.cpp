// The form that vector types take in a check build: a copy is one access of the vector's width. The header is
// included into a namespace of its own, because one program must not mix the two forms of one type.
#define RUNGS_SIMT_WHOLE_VECTORS 1
namespace whole {
#include "simt/types.h"
}  // namespace whole
#undef RUNGS_SIMT_WHOLE_VECTORS

#include "testing/catch.h"

TEST_CASE("whole vectors have the layout and the uses of plain ones", "[simt][types]") {
    using whole::double2, whole::double4, whole::float4, whole::uchar4;
    static_assert(sizeof(float4) == 16 && alignof(float4) == 16, "layout");
    static_assert(sizeof(uchar4) == 4 && alignof(uchar4) == 4, "layout");
    static_assert(sizeof(double4) == 32 && alignof(double4) == 16, "layout");
    static_assert(whole::make_float2(1, 2).y == 2, "constant expressions");
    float4 v{1, 2, 3, 4};
    float4 copy = v, assigned{};
    assigned = copy;
    CHECK(assigned.x == 1);
    CHECK(assigned.w == 4);
    union {
        double2 vector;
        double numbers[2];
    } u;
    u.vector = double2{5, 6};
    CHECK(u.numbers[1] == 6);
    float4 many[3] = {{1, 2, 3, 4}, {5, 6, 7, 8}, v};
    many[0] = many[1];
    CHECK(many[0].z == 7);
    double4 wide{1, 2, 3, 4};
    const double4 wide_copy = wide;
    CHECK(wide_copy.w == 4);
    CHECK(uchar4(whole::make_uchar4(1, 2, 3, 250)).w == 250);
}
