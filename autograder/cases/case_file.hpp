#pragma once
/// @file
/// A case in one file, whose first comment says what it is and what must come of it: a sentence, an empty
/// line of comment, and keys with values, in TOML. Behind an empty line follows what is handed in.

#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace rungs {

/// The keys of a case. Each is asked for by its type.
class CaseKeys {
  public:
    using Value = std::variant<bool, double, std::string, std::vector<std::string>>;

    /// @param toml   keys and values
    /// @param where  for messages. @throws std::runtime_error for what is no TOML, and for other types
    CaseKeys(const std::string& toml, std::string where);

    /// The value of a key, or what it is without one. @throws std::runtime_error if it has another type
    template <class T>
    T value(const std::string& key, T otherwise) {
        const auto found = values_.find(key);
        if (found == values_.end()) return otherwise;
        const T* const value = std::get_if<T>(&found->second);
        if (!value) fail("'" + key + "' has a value of another type");
        T taken = *value;
        values_.erase(found);
        return taken;
    }

    /// @throws std::runtime_error for a key that nobody has asked for
    void expect_no_more() const;

    /// @throws std::runtime_error, always: names the file
    [[noreturn]] void fail(const std::string& why) const;

  private:
    std::map<std::string, Value> values_;
    std::string where_;
};

struct CaseFile {
    std::string what;  ///< the sentence
    CaseKeys keys;
    std::string text;  ///< what follows, byte for byte
};

/// Reads a case whose comments begin with `//`, or with `#` in a file of TOML.
/// @throws std::runtime_error, with the file's name, if it cannot be read or has no such comment
CaseFile read_case_file(const std::filesystem::path& file);

}  // namespace rungs
