#pragma once
// A validator for the part of JSON Schema 2020-12 that docs/result.schema.json uses. It refuses a keyword
// that it does not know, so that a schema can never say something that is silently not checked.

#include <nlohmann/json.hpp>

#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace rungs::test {

class JsonSchema {
  public:
    using Json = nlohmann::json;

    explicit JsonSchema(Json root) : root_(std::move(root)) {}

    /// Sentences `path: what is wrong`; empty when `value` is valid. @throws std::logic_error for
    /// an unknown keyword
    std::vector<std::string> errors(const Json& value) const {
        std::vector<std::string> found;
        check(root_, value, "$", found);
        return found;
    }

  private:
    static bool has_type(const std::string& type, const Json& value) {
        if (type == "object") return value.is_object();
        if (type == "array") return value.is_array();
        if (type == "string") return value.is_string();
        if (type == "boolean") return value.is_boolean();
        if (type == "null") return value.is_null();
        if (type == "number") return value.is_number();
        if (type == "integer") return value.is_number_integer();
        throw std::logic_error("unknown type in the schema: " + type);
    }

    void check(const Json& schema, const Json& value, const std::string& path,
               std::vector<std::string>& found) const {
        static const std::set<std::string> silent{"$schema", "$id", "title", "description", "$defs"};
        for (const auto& [keyword, rule] : schema.items()) {
            if (silent.count(keyword)) continue;
            if (keyword == "$ref") {
                const std::string target = rule.get<std::string>();
                check(root_.at(Json::json_pointer(target.substr(1))), value, path, found);
            } else if (keyword == "type") {
                const Json types = rule.is_array() ? rule : Json::array({rule});
                bool fits = false;
                for (const Json& type : types) fits = fits || has_type(type.get<std::string>(), value);
                if (!fits)
                    found.push_back(path + ": must be of type " + rule.dump() + ", is " + value.dump());
            } else if (keyword == "const") {
                if (value != rule)
                    found.push_back(path + ": must be " + rule.dump() + ", is " + value.dump());
            } else if (keyword == "enum") {
                bool listed = false;
                for (const Json& one : rule) listed = listed || one == value;
                if (!listed) found.push_back(path + ": " + value.dump() + " is none of " + rule.dump());
            } else if (keyword == "anyOf") {
                bool fits = false;
                std::string why;
                for (const Json& one : rule) {
                    std::vector<std::string> here;
                    check(one, value, path, here);
                    fits = fits || here.empty();
                    if (!here.empty()) why += "\n  or " + here.front();
                }
                if (!fits) found.push_back(path + ": fits no alternative" + why);
            } else if (keyword == "required") {
                for (const Json& key : rule) {
                    if (value.is_object() && !value.contains(key.get<std::string>())) {
                        found.push_back(path + ": lacks " + key.dump());
                    }
                }
            } else if (keyword == "properties") {
                if (!value.is_object()) continue;
                for (const auto& [key, rules] : rule.items()) {
                    if (value.contains(key)) check(rules, value.at(key), path + "." + key, found);
                }
            } else if (keyword == "additionalProperties") {
                if (rule != false) throw std::logic_error("additionalProperties other than false");
                if (!value.is_object()) continue;
                for (const auto& [key, item] : value.items()) {
                    if (!schema.at("properties").contains(key))
                        found.push_back(path + ": has the unknown key " + key);
                }
            } else if (keyword == "items") {
                if (!value.is_array()) continue;
                for (std::size_t i = 0; i < value.size(); ++i) {
                    check(rule, value[i], path + "[" + std::to_string(i) + "]", found);
                }
            } else if (keyword == "minItems") {
                if (value.is_array() && value.size() < rule.get<std::size_t>())
                    found.push_back(path + ": too few items");
            } else if (keyword == "maxItems") {
                if (value.is_array() && value.size() > rule.get<std::size_t>())
                    found.push_back(path + ": too many items");
            } else if (keyword == "minimum") {
                if (value.is_number() && !(value.get<double>() >= rule.get<double>())) {
                    found.push_back(path + ": " + value.dump() + " is below " + rule.dump());
                }
            } else if (keyword == "minLength") {
                if (value.is_string() && value.get<std::string>().size() < rule.get<std::size_t>()) {
                    found.push_back(path + ": too short");
                }
            } else if (keyword == "pattern") {
                if (value.is_string() &&
                    !std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>()))) {
                    found.push_back(path + ": " + value.dump() + " does not match " + rule.dump());
                }
            } else {
                throw std::logic_error("the validator does not know the keyword " + keyword);
            }
        }
    }

    Json root_;
};

}  // namespace rungs::test
