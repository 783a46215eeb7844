// What is known of a rung, written and read back.

#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "judge/result/clean_text.hpp"
#include "judge/result/kept.hpp"
#include "judge/result/result_json.hpp"
#include "report_sample.hpp"
#include "rungs/catch.hpp"

namespace rungs::judge {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using Json = nlohmann::ordered_json;

/// Each value of a result in words, without the code that writes it as JSON.
std::vector<std::string> values_of(RungResult result) {
    std::vector<std::string> words;
    each_value(result, [&](const auto& value) {
        using T = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::string>) {
            words.push_back(value);
        } else if constexpr (std::is_enum_v<T>) {
            words.push_back(fmt::format("enumerator {}", static_cast<int>(value)));
        } else if constexpr (std::is_arithmetic_v<T>) {
            words.push_back(fmt::format("{}", value));
        } else if constexpr (requires { value.x; }) {
            words.push_back(fmt::format("({}, {}, {})", value.x, value.y, value.z));
        } else if constexpr (std::is_same_v<T, Profile>) {
            for (std::size_t i = 0; i < parts; ++i)
                words.push_back(fmt::format("{}", value.seconds(static_cast<Part>(i))));
        } else if constexpr (is_optional<T>) {
            words.push_back(value ? "there" : "not there");
        } else if constexpr (requires { value.size(); }) {
            words.push_back(fmt::format("{} values", value.size()));
        }
    });
    return words;
}

/// Calls `use` with each field of `json`, in all its depth: the field, and its key as errors have it.
template <class Use>
void each_field(Json& json, const std::string& key, const Use& use) {
    if (!json.is_structured()) return;
    for (auto& [name, value] : json.items()) {
        const std::string inner = key + (json.is_array() ? "[" + name + "]" : "." + name);
        use(value, inner);
        each_field(value, inner, use);
    }
}

TEST_CASE("a result with every field set comes back from what is kept", "[judge][result]") {
    const RungResult full = test::full_result();
    const std::vector<std::string> values = values_of(full);
    CHECK(values.size() > 500);
    CHECK(values_of(result_of(bytes_of(full))) == values);
    CHECK(values_of(result_of(bytes_of({}))) == values_of({}));
}

TEST_CASE("the public JSON of a result is read back", "[judge][result]") {
    std::vector<RungResult> results{test::full_result(), {}};
    for (const Report& report : {test::sample_report(), test::sample_gpu_report()}) {
        for (const RungReport& rung : report.rungs) results.push_back(rung.result);
    }
    for (const RungResult& result : results) {
        const Json json = fields_json(result, Fields::open);
        const RungResult read = read_result(Json::parse(json.dump()), Fields::open);
        CHECK(fields_json(read, Fields::open) == json);
        CHECK(read.reason() == clean_utf8(result.reason()));
        CHECK(read.judged == result.judged);
    }
    // What a reader adds is no hindrance.
    RungReport rung;
    rung.result = test::full_result();
    CHECK(fields_json(read_result(to_json(rung), Fields::open), Fields::open) ==
          fields_json(rung.result, Fields::open));
}

TEST_CASE("what another version has written is read as far as it goes", "[judge][result]") {
    Json json = fields_json(test::full_result(), Fields::open);
    const RungResult none = read_result(Json::object(), Fields::open);
    CHECK(values_of(none) == values_of({}));
    SECTION("a field that is missing has its default") {
        each_field(json, "", [&](const Json&, const std::string& key) {
            if (key.back() == ']') return;
            Json older = json;
            Json::json_pointer place;
            std::string path;
            for (const char c : key) path += c == '.' || c == '[' ? '/' : c;
            std::erase(path, ']');
            place = Json::json_pointer(path);
            older.at(place.parent_pointer()).erase(place.back());
            CAPTURE(key);
            CHECK(fields_json(read_result(older, Fields::open), Fields::open) != json);
        });
        json.erase("speed");
        json["correctness"].erase("first_mismatches");
        const RungResult older = read_result(json, Fields::open);
        CHECK_FALSE(older.speed.judged);
        CHECK(older.correctness.first.empty());
        CHECK(older.correctness.measure == test::full_result().correctness.measure);
    }
    SECTION("a field that is not known is left alone") {
        json["later"] = 1;
        json["checks"]["later"] = {1, 2};
        CHECK(values_of(read_result(json, Fields::open)).size() > 100);
    }
    SECTION("a field of another type is named") {
        each_field(json, "result", [&](Json& value, const std::string& key) {
            const Json before = std::exchange(value, value.is_array() ? Json(0.5) : Json::array());
            CAPTURE(key);
            CHECK_THROWS_WITH(read_result(json, Fields::open), StartsWith(key + " is not "));
            value = before;
        });
    }
    SECTION("so is a value that none of the type's is") {
        const auto refused = [&](const char* place, const Json& value, const std::string& message) {
            Json changed = json;
            changed[Json::json_pointer(place)] = value;
            CHECK_THROWS_WITH(read_result(changed, Fields::open), ContainsSubstring(message));
        };
        refused("/verdict", "FINE", "result.verdict is none of the words that it may be");
        refused("/correctness/cases", 1e3, "result.correctness.cases is not a whole number");
        refused("/causes/0/line", -1, "result.causes[0].line is too large or too small");
        refused("/correctness/error", "much", "result.correctness.error is not a number");
        refused("/speed/interval", {1.0}, "result.speed.interval is not a list of that length");
        refused("/seed", "42", "result.seed is not a seed");
        CHECK_THROWS_WITH(read_result(1, Fields::open), "result is not an object");
    }
    SECTION("what is kept has every field") {
        Json kept = fields_json(test::full_result(), Fields::all);
        CHECK_NOTHROW(read_result(kept, Fields::all));
        kept["modelled"].erase("own");
        CHECK_THROWS_WITH(read_result(kept, Fields::all), "result.modelled.own is missing");
    }
}

}  // namespace
}  // namespace rungs::judge
