#include "rungs/options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <stdexcept>
#include <type_traits>

namespace rungs {
namespace {

std::size_t parse_size(const std::string& text) {
    const bool power = text.rfind("2^", 0) == 0;
    const char* const end = text.data() + text.size();
    std::size_t value = 0;
    const auto read = std::from_chars(text.data() + (power ? 2 : 0), end, value);
    const bool whole = read.ec == std::errc() && read.ptr == end;
    if (!whole || (power ? value > 40 : value == 0 || value > std::size_t{1} << 40))
        throw CLI::ValidationError("a size is from 1 to 2^40, such as 2^20 or 1000000, not '" + text + "'");
    return power ? std::size_t{1} << value : value;
}

}  // namespace

struct CommandLine::Parser {
    CLI::App app;

    Parser(const std::string& name, const std::string& about) : app(about, name) {}
};

CommandLine::CommandLine(const std::string& name, const std::string& about)
    : parser_(std::make_unique<Parser>(name, about)) {}

CommandLine::~CommandLine() = default;

template <class T>
void CommandLine::add(const std::string& flag, T& value, std::type_identity_t<T> least,
                      std::type_identity_t<T> most, const std::string& help) {
    CLI::Range range(least, most);
    range.description("");  // it is printed when a value lies outside
    CLI::Option* const option = parser_->app.add_option(flag, value, help)->type_name("NUMBER");
    if constexpr (std::is_unsigned_v<T>) {
        option->check([](const std::string& text) {  // CLI11 takes -1 for the largest of all
            return text.rfind('-', 0) == 0 ? "must not be negative" : std::string();
        });
    }
    option->check(range);
    if (value != T{}) option->capture_default_str();
}
template void CommandLine::add(const std::string&, int&, int, int, const std::string&);
template void CommandLine::add(const std::string&, std::uint64_t&, std::uint64_t, std::uint64_t,
                               const std::string&);
template void CommandLine::add(const std::string&, float&, float, float, const std::string&);
template void CommandLine::add(const std::string&, double&, double, double, const std::string&);

void CommandLine::add(const std::string& flag, std::string& value, const std::string& help,
                      const std::string& type) {
    CLI::Option* const option = parser_->app.add_option(flag, value, help)->type_name(type);
    if (!value.empty()) option->capture_default_str();
}

void CommandLine::add(const std::string& flag, std::filesystem::path& value, const std::string& help) {
    parser_->app
        .add_option_function<std::string>(
            flag, [&value](const std::string& given) { value = given; }, help)
        ->type_name("FOLDER")
        ->default_str(value.string());
}

void CommandLine::add(const std::string& flag, std::vector<std::size_t>& sizes, const std::string& help) {
    const auto read = [&sizes](const std::string& list) {
        sizes.clear();
        for (std::size_t from = 0; from <= list.size();) {
            const std::size_t comma = std::min(list.find(',', from), list.size());
            sizes.push_back(parse_size(list.substr(from, comma - from)));
            from = comma + 1;
        }
    };
    parser_->app.add_option_function<std::string>(flag, read, help)->type_name("LIST");
}

void CommandLine::add(const std::string& flag, bool& value, const std::string& help) {
    parser_->app.add_flag(flag, value, help);
}

bool CommandLine::parse(int count, const char* const* words) {
    try {
        parser_->app.parse(count, words);
        return true;
    } catch (const CLI::CallForHelp&) {
        std::printf("%s", parser_->app.help().c_str());
        return false;
    } catch (const CLI::ParseError& error) {
        throw std::invalid_argument(parser_->app.get_name() + ": " + error.what() + "; --help tells more");
    }
}

}  // namespace rungs
