#pragma once
// A validator for the part of JSON Schema 2020-12 that the schemas in docs/ use. It refuses a keyword that it
// does not know, and a reference to what is not there, so that a schema can never say something that is
// silently not checked.

#include <nlohmann/json.hpp>

#include <algorithm>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace rungs::test {

class JsonSchema {
  public:
    using Json = nlohmann::json;

    /// `others` are the schemas that `root` refers to, by their "$id". @throws std::logic_error for a
    /// reference to none of them, or to nothing in it
    explicit JsonSchema(Json root, std::vector<Json> others = {}) {
        documents_.push_back(std::move(root));
        for (Json& other : others) documents_.push_back(std::move(other));
        for (const Json& document : documents_) check_references(document, document);
    }

    /// Sentences `path: what is wrong`; empty when `value` is valid. @throws std::logic_error for
    /// an unknown keyword
    std::vector<std::string> errors(const Json& value) const {
        std::vector<std::string> found;
        check({documents_[0], documents_[0]}, value, "$", found);
        return found;
    }

    /// Every key that a value may have: "$.rungs[].causes[].file".
    std::set<std::string> keys() const {
        std::set<std::string> found;
        add_keys({documents_[0], documents_[0]}, "$", found);
        return found;
    }

    /// Every key that `value` has, in the same words.
    static std::set<std::string> keys_of(const Json& value, const std::string& path = "$") {
        std::set<std::string> found;
        if (!value.is_structured()) return found;
        for (const auto& [key, item] : value.items()) {
            const std::string inner = path + (value.is_array() ? "[]" : "." + key);
            if (value.is_object()) found.insert(inner);
            found.merge(keys_of(item, inner));
        }
        return found;
    }

  private:
    /// A part of a schema, and the document whose "#" its references mean.
    struct Part {
        const Json& document;
        const Json& rules;
    };

    /// "#/$defs/x" in the document itself, or "other.json#/$defs/x".
    Part referred(const std::string& target, const Json& document) const {
        const std::size_t hash = std::min(target.find('#'), target.size());
        const std::string id = target.substr(0, hash);
        const Json* found = id.empty() ? &document : nullptr;
        for (const Json& one : documents_) {
            if (!id.empty() && one.is_object() && one.value("$id", "") == id) found = &one;
        }
        const Json::json_pointer place(target.substr(std::min(hash + 1, target.size())));
        if (!found || !found->contains(place))
            throw std::logic_error("the schema refers to what is not there: " + target);
        return {*found, found->at(place)};
    }

    void check_references(const Json& rules, const Json& document) const {
        if (rules.is_object() && rules.contains("$ref") && rules.at("$ref").is_string())
            referred(rules.at("$ref").get<std::string>(), document);
        if (!rules.is_structured()) return;
        for (const Json& part : rules) check_references(part, document);
    }

    void add_keys(const Part& part, const std::string& path, std::set<std::string>& found) const {
        for (const auto& [keyword, rule] : part.rules.items()) {
            if (keyword == "$ref") add_keys(referred(rule.get<std::string>(), part.document), path, found);
            if (keyword == "items") add_keys({part.document, rule}, path + "[]", found);
            if (keyword == "anyOf") {
                for (const Json& one : rule) add_keys({part.document, one}, path, found);
            }
            if (keyword != "properties") continue;
            for (const auto& [key, rules] : rule.items()) {
                found.insert(path + "." + key);
                add_keys({part.document, rules}, path + "." + key, found);
            }
        }
    }

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

    void check(const Part& part, const Json& value, const std::string& path,
               std::vector<std::string>& found) const {
        const Json& schema = part.rules;
        const auto inside = [&](const Json& rules) { return Part{part.document, rules}; };
        if (schema == false) found.push_back(path + ": must not be there");
        if (schema.is_boolean()) return;
        static const std::set<std::string> silent{"$schema", "$id", "title", "description", "$defs"};
        for (const auto& [keyword, rule] : schema.items()) {
            if (silent.count(keyword)) continue;
            if (keyword == "$ref") {
                check(referred(rule.get<std::string>(), part.document), value, path, found);
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
                    check(inside(one), value, path, here);
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
                    if (value.contains(key)) check(inside(rules), value.at(key), path + "." + key, found);
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
                    check(inside(rule), value[i], path + "[" + std::to_string(i) + "]", found);
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

    std::vector<Json> documents_;  ///< the first one is what a value is held against
};

}  // namespace rungs::test
