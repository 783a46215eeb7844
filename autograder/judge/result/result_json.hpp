#pragma once
// A verdict as JSON, and back, by the lists of judge/result/fields.hpp.

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "judge/result/result.hpp"

namespace rungs::judge {

enum class Fields {
    open,  ///< those of the public JSON: all numbers are finite, all texts valid UTF-8
    all,   ///< and the judge's own, for other processes of this program; texts as they are
};

/// A field that cannot be read. what() begins with its key: "result.correctness.cases is not a whole number".
class FieldError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

nlohmann::ordered_json fields_json(const RungResult& result, Fields fields);
nlohmann::ordered_json fields_json(const Counters& counters, Fields fields);

/// Reads what fields_json() has written. Open fields may be those of another version: what is missing keeps
/// its default, and what is unknown is left alone. @throws FieldError
RungResult read_result(const nlohmann::ordered_json& json, Fields fields);

/// "0x0123456789abcdef"
std::string seed_text(std::uint64_t seed);

}  // namespace rungs::judge
