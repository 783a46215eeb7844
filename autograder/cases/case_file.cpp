#include "cases/case_file.hpp"

#include <stdexcept>
#include <utility>

#include "rungs/atomic_file.hpp"
#include "rungs/toml.hpp"

namespace rungs {
namespace {

CaseKeys::Value value_of(const toml::node& node, const CaseKeys& keys, const std::string& key) {
    if (const auto* flag = node.as_boolean()) return flag->get();
    if (const auto* text = node.as_string()) return text->get();
    if (node.is_number()) return *node.value<double>();
    std::vector<std::string> texts;
    if (const auto* array = node.as_array()) {
        for (const toml::node& item : *array) {
            if (const auto* text = item.as_string()) texts.push_back(text->get());
        }
        if (texts.size() == array->size()) return texts;
    }
    keys.fail("'" + key + "' is no text, list of texts, number or truth value");
}

}  // namespace

CaseKeys::CaseKeys(const std::string& toml, std::string where) : where_(std::move(where)) {
    try {
        for (const auto& [key, node] : toml::parse(toml)) {
            const std::string name(key.str());
            values_.emplace(name, value_of(node, *this, name));
        }
    } catch (const toml::parse_error& error) {
        fail(std::string(error.description()));
    } catch (const std::logic_error& error) {  // rungs/toml.hpp
        fail(error.what());
    }
}

void CaseKeys::expect_no_more() const {
    if (!values_.empty()) fail("there is no key '" + values_.begin()->first + "'");
}

void CaseKeys::fail(const std::string& why) const { throw std::runtime_error(where_ + ": " + why); }

CaseFile read_case_file(const std::filesystem::path& file) {
    const std::string all = read_file(file);
    const std::string mark = file.extension() == ".toml" ? "#" : "//";
    std::string what, keys;
    bool in_keys = false;
    std::size_t begin = 0;
    for (std::size_t end; all.compare(begin, mark.size(), mark) == 0; begin = end + 1) {
        end = all.find('\n', begin);
        if (end == std::string::npos) break;
        const std::string line = all.substr(begin + mark.size(), end - begin - mark.size());
        if (in_keys) {
            keys += line + '\n';
        } else if (line.empty()) {
            in_keys = true;
        } else {
            what += what.empty() ? line.substr(1) : line;
        }
    }
    if (!in_keys || all.compare(begin, 1, "\n") != 0) {
        throw std::runtime_error(
            file.string() +
            ": its first comment is a sentence, an empty line and keys, and then an empty "
            "line follows");
    }
    return {what, CaseKeys(keys, file.string()), all.substr(begin + 1)};
}

}  // namespace rungs
