#include "judge/result/report_json.hpp"

#include <cstddef>
#include <stdexcept>

namespace rungs::judge {
namespace {

using nlohmann::json;

constexpr std::size_t most_depth = 16;
/// Of memory, by the estimates below. Counters of 10000 places take half of it.
constexpr std::size_t most_bytes = 64U << 20;
/// What one takes beside its text: in a list that may have room for twice as many; on the heap; in a tree.
constexpr std::size_t value_bytes = 2 * sizeof(json), heap_bytes = 64, node_bytes = 128;

/// Adds up what the values of a text will take.
struct Weigher {
    std::size_t bytes = 0, depth = 0;

    bool add(std::size_t more) {
        if ((bytes += more) > most_bytes) refuse_report("too much of it");
        return true;
    }
    bool begin() {
        if (++depth > most_depth) refuse_report("too deep");
        return add(value_bytes + heap_bytes);
    }
    bool end() {
        --depth;
        return true;
    }

    bool null() { return add(value_bytes); }
    bool boolean(bool) { return add(value_bytes); }
    bool number_integer(json::number_integer_t) { return add(value_bytes); }
    bool number_unsigned(json::number_unsigned_t) { return add(value_bytes); }
    bool number_float(json::number_float_t, const std::string&) { return add(value_bytes); }
    bool string(const std::string& text) { return add(value_bytes + heap_bytes + text.size()); }
    bool binary(json::binary_t&) { return add(value_bytes); }
    bool key(const std::string& text) { return add(node_bytes + text.size()); }
    bool start_object(std::size_t) { return begin(); }
    bool end_object() { return end(); }
    bool start_array(std::size_t) { return begin(); }
    bool end_array() { return end(); }
    template <class Error>
    bool parse_error(std::size_t, const std::string&, const Error& error) {
        throw error;
    }
};

}  // namespace

void refuse_report(const std::string& what) {
    throw std::runtime_error("a report that makes no sense: " + what);
}

json parse_report(const std::string& text) {
    try {
        Weigher weigher;
        json::sax_parse(text, &weigher);
        json report = json::parse(text);
        if (report.is_null()) refuse_report("nothing in it");
        return report;
    } catch (const json::exception& error) {
        refuse_report(one_line(error.what()));
    }
}

}  // namespace rungs::judge
