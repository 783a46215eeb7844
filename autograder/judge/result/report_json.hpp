#pragma once
// Reads what a worker reports as JSON, which may be anything.

#include <algorithm>
#include <initializer_list>
#include <string>

#include <nlohmann/json.hpp>

#include "judge/build/diagnostics.hpp"

namespace rungs::judge {

/// Parses the text of a report (WorkerProcess::report). A few bytes of JSON can take hundreds in memory: what
/// would take more than a report of this size needs is refused.
/// @throws std::runtime_error for what is no JSON, for a null and for too much of it
nlohmann::json parse_report(const std::string& text);

/// "a report that makes no sense: ..." @throws std::runtime_error
[[noreturn]] void refuse_report(const std::string& what);

/// The enumerator whose name stands under `key`; `names`: of all, in their order.
/// @throws std::runtime_error, nlohmann::json::exception
template <class Enum>
Enum one_of(const nlohmann::json& object, const char* key, std::initializer_list<const char*> names) {
    const std::string value = object.at(key).get<std::string>();
    const auto found = std::find(names.begin(), names.end(), value);
    if (found == names.end()) refuse_report(std::string(key) + " '" + one_line(value, 40) + "'");
    return static_cast<Enum>(found - names.begin());
}

}  // namespace rungs::judge
