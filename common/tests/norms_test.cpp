// Distances, norms and sums at the edges: zeros, infinities, NaN, nothing, cancellation.

#include "rungs/norms.hpp"

#include <vector>

#include "rungs/catch.hpp"
#include "rungs/random.hpp"

using namespace rungs;

namespace {
constexpr float inf = std::numeric_limits<float>::infinity();
const float nan_f = std::numeric_limits<float>::quiet_NaN();
constexpr double inf_d = std::numeric_limits<double>::infinity();

std::span<const double> view(const std::vector<double>& v) { return v; }
}  // namespace

TEST_CASE("ULP distance counts representable numbers", "[common][norms]") {
    CHECK(ulp_distance(1.0f, 1.0f) == 0);
    CHECK(ulp_distance(1.0f, std::nextafter(1.0f, 2.0f)) == 1);
    CHECK(ulp_distance(1.0f, std::nextafter(1.0f, 0.0f)) == 1);
    CHECK(ulp_distance(1.0f, 2.0f) == 1u << 23);
    CHECK(ulp_distance(0.0f, -0.0f) == 0);
    const float least = std::numeric_limits<float>::denorm_min();
    CHECK(ulp_distance(least, -least) == 2);
    CHECK(ulp_distance(std::numeric_limits<float>::max(), inf) == 1);
    CHECK(ulp_distance(-inf, inf) == 2ull * 0x7f800000u);
    CHECK(ulp_distance(nan_f, nan_f) == 0);
    CHECK(ulp_distance(nan_f, 1.0f) == ulp_undefined);
    CHECK(ulp_distance(inf, nan_f) == ulp_undefined);
    CHECK(ulp_distance(1.0, std::nextafter(1.0, 2.0)) == 1);
    CHECK(ulp_distance(1.0, 2.0) == 1ull << 52);
    CHECK(ulp_distance(-1.0, 1.0) == 2 * 0x3ff0000000000000ull);
    CHECK(ulp_distance(-5, 7) == ulp_undefined);
    CHECK(ulp_distance(7, 7) == 0);
}

TEST_CASE("the compensated sum keeps what rounding drops", "[common][norms]") {
    CHECK(compensated_sum(view({1e100, 1, -1e100})) == 1);
    CHECK(compensated_sum(view({1, 1e100, 1, -1e100})) == 2);
    CHECK(compensated_sum(view({})) == 0);
    CHECK(compensated_sum(view({inf_d, 1})) == inf_d);
    CHECK(std::isnan(compensated_sum(view({inf_d, -inf_d}))));
    CHECK(std::isnan(compensated_sum(view({1, std::nan(""), 2}))));
    CHECK(compensated_sum(view({1e308, 1e308})) == inf_d);
    std::vector<double> tenths(1'000'000, 0.1);
    CHECK(compensated_sum(view(tenths)) == 100000.0);
}

TEST_CASE("the pairwise sum is near the compensated one", "[common][norms]") {
    const std::size_t n = GENERATE(0, 1, 127, 128, 129, 255, 257, 100'003);
    const std::vector<double> v = random_field<double>(n, 1, signed_uniform);
    CHECK(std::abs(pairwise_sum(view(v)) - compensated_sum(view(v))) < 1e-11);
}

TEST_CASE("norms and relative errors", "[common][norms]") {
    CHECK(max_norm(view({1, -3, 2})) == 3);
    CHECK(max_norm(view({})) == 0);
    CHECK(std::isnan(max_norm(view({1, std::nan(""), 5}))));
    CHECK(max_norm(view({1, -inf_d})) == inf_d);
    CHECK(l2_norm(view({3, -4})) == Catch::Approx(5));
    CHECK(l2_norm(view({3e200, 4e200})) == Catch::Approx(5e200));
    CHECK(l2_norm(view({3e-200, 4e-200})) == Catch::Approx(5e-200));
    CHECK(l2_norm(view({0, 0})) == 0);

    CHECK(relative_max_error(view({1, 2.5}), view({1, 2})) == 0.25);
    CHECK(relative_l2_error(view({3, 4, 1}), view({3, 4, 0})) == Catch::Approx(0.2));
    CHECK(relative_max_error(view({}), view({})) == 0);
    CHECK(relative_max_error(view({0}), view({0})) == 0);
    CHECK(relative_max_error(view({1}), view({0})) == inf_d);
    CHECK(relative_l2_error(view({1}), view({0})) == inf_d);
    CHECK(relative_max_error(view({inf_d}), view({inf_d})) == 0);
}

TEST_CASE("relative errors never hide a NaN or an infinity", "[common][norms]") {
    const double bad = GENERATE(as<double>{}, std::nan(""), inf_d, -inf_d);
    const std::vector<double> right = {1, 2, 3};
    std::vector<double> wrong = right;
    wrong[1] = bad;
    CHECK_FALSE(relative_max_error(view(wrong), view(right)) <= 1e30);
    CHECK_FALSE(relative_l2_error(view(wrong), view(right)) <= 1e30);
    CHECK_FALSE(relative_max_error(view(right), view(wrong)) <= 1e30);
    CHECK_FALSE(relative_l2_error(view(right), view(wrong)) <= 1e30);
    std::vector<double> both = wrong;
    both[2] = 4;  // an infinity that agrees must not make other errors vanish
    CHECK_FALSE(relative_max_error(view(both), view(wrong)) <= 1e-3);
    CHECK_FALSE(relative_l2_error(view(both), view(wrong)) <= 1e-3);
}

TEST_CASE("comparing different sizes is refused", "[common][norms]") {
    CHECK_THROWS_AS(relative_max_error(view({1}), view({1, 2})), std::length_error);
    CHECK_THROWS_AS(relative_l2_error(view({1}), view({})), std::length_error);
}
