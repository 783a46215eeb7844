#include "judge/result/result_json.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "judge/result/clean_text.hpp"
#include "judge/result/fields.hpp"

namespace rungs::judge {
namespace {

using Json = nlohmann::ordered_json;

/// The last enumerator of those that JSON has by name; others are numbers in kept verdicts.
template <class Enum>
constexpr Enum last_of = Enum{};
template <>
constexpr Verdict last_of<Verdict> = Verdict::not_run;
template <>
constexpr Source last_of<Source> = Source::speed;
template <>
constexpr simt::check::Tool last_of<simt::check::Tool> = simt::check::Tool::synccheck;
template <>
constexpr simt::check::Severity last_of<simt::check::Severity> = simt::check::Severity::note;

/// Whether a field is there that another one, or a text, has to announce.
bool holds(bool flag) { return flag; }
bool holds(const std::string& text) { return !text.empty(); }

/// JSON has no NaN and no infinity; a reader that meets them must see them all the same.
Json number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

/// The form that writes.
class Writer {
  public:
    explicit Writer(Fields fields) : all_(fields == Fields::all) {}

    template <class T>
    Json object(const T& value) {
        static_assert(is_whole<T>(), "the list of this structure in fields.hpp lacks a field");
        return object_of([&] { list(*this, value); });
    }

    template <class T>
    void operator()(const char* name, const T& value) {
        put(name, [&] { return json_of(value); });
    }
    void either(const char* name, bool flag, const char* why_name, const std::string& why_not) {
        (*this)(name, flag);
        if (all_ || !flag) (*this)(why_name, why_not);
        ended_ = !all_ && !flag;
    }
    template <class T, class Nothing>
    void or_null(const char* name, const T& value, const Nothing& nothing) {
        put(name, [&] { return value == nothing ? Json(nullptr) : json_of(value); });
    }
    void or_none(const char* name, const std::string& text) {
        if (!text.empty()) (*this)(name, text);
    }
    template <class Flag, class T>
    void with(const Flag& flag, const char* name, const T& value) {
        put(name, [&] { return all_ || holds(flag) ? json_of(value) : Json(nullptr); });
    }
    template <class... T>
    void kept(const T&... values) {
        if (all_) put("own", [&] { return Json::array({json_of(values)...}); });
    }
    template <class... T>
    void lost(const T&...) {}
    template <class Part>
    void flat(const Part&) {}

  private:
    template <class Make>
    void put(const char* name, const Make& make) {
        if (!ended_) (*object_)[name] = make();
    }

    template <class List>
    Json object_of(const List& fill) {
        Json object = Json::object();
        Json* const outer = std::exchange(object_, &object);
        fill();
        object_ = outer;
        ended_ = false;
        return object;
    }

    template <class T>
    Json json_of(const T& value) {
        if constexpr (std::is_invocable_v<const T&>) {
            return object_of(value);
        } else if constexpr (is_hexadecimal<T>) {
            return seed_text(value.value);
        } else if constexpr (is_tuple<T>) {
            return std::apply([&](const auto&... each) { return Json::array({json_of(each)...}); }, value);
        } else if constexpr (is_optional<T>) {
            return value ? json_of(*value) : Json(nullptr);
        } else if constexpr (std::same_as<T, std::string>) {
            return all_ ? value : clean_utf8(value);
        } else if constexpr (std::same_as<T, float>) {
            // Microseconds, to the nanosecond: a clock tells no more.
            return number(std::round(1e3 * double{value}) / 1e3);
        } else if constexpr (std::floating_point<T>) {
            return number(value);
        } else if constexpr (std::integral<T>) {
            return value;
        } else if constexpr (std::is_enum_v<T>) {
            // Qualified, as files that are compiled together with this one have names of their own.
            if constexpr (requires { judge::name_of(value); }) {
                return judge::name_of(value);
            } else {
                return static_cast<unsigned>(value);
            }
        } else if constexpr (requires { value.z; }) {
            return Json::array({value.x, value.y, value.z});
        } else if constexpr (std::same_as<T, Profile>) {
            return profile_json(value);
        } else if constexpr (requires { value.begin(); }) {
            Json values = Json::array();
            for (const auto& one : value) values.push_back(json_of(one));
            return values;
        } else {
            return object(value);
        }
    }

    static Json profile_json(const Profile& profile) {
        Json out = Json::object();
        for (std::size_t i = 0; i < parts; ++i) {
            const auto part = static_cast<Part>(i);
            if (profile.seconds(part) > 0) out[judge::name_of(part)] = profile.seconds(part);
        }
        return out;
    }

    bool all_;
    bool ended_ = false;  ///< the object has no further fields
    Json* object_ = nullptr;
};

/// The form that reads. It knows where it is, for errors.
class Reader {
  public:
    Reader(const Json& in, Fields fields) : all_(fields == Fields::all), object_(&in) {}

    template <class T>
    void object(T& value) {
        object_by(*object_, [&] { list(*this, value); });
    }

    template <class T>
    void operator()(const char* name, T&& value) {
        if (const Json* const in = find(name)) at(name, [&] { read(*in, value); });
    }
    void either(const char* name, bool& flag, const char* why_name, std::string& why_not) {
        (*this)(name, flag);
        if (all_ || !flag) (*this)(why_name, why_not);
        ended_ = !all_ && !flag;
    }
    template <class T, class Nothing>
    void or_null(const char* name, T& value, const Nothing& nothing) {
        if (const Json* const in = find(name); in && in->is_null()) {
            value = nothing;
        } else {
            (*this)(name, value);
        }
    }
    void or_none(const char* name, std::string& text) {
        if (!ended_ && object_->contains(name)) (*this)(name, text);
    }
    template <class Flag, class T>
    void with(Flag& flag, const char* name, T&& value) {
        const Json* const in = find(name);
        if constexpr (std::same_as<Flag, bool>) {
            if (in && !all_) flag = !in->is_null();
        }
        if (in && !(in->is_null() && !all_)) (*this)(name, value);
    }
    template <class... T>
    void kept(T&... values) {
        if (all_) (*this)("own", std::tie(values...));
    }
    template <class... T>
    void lost(T&...) {}
    template <class Part>
    void flat(const Part&) {}

  private:
    /// A field of the object; null: there is none, or not any more.
    const Json* find(const char* name) {
        if (ended_) return nullptr;
        const auto found = object_->find(name);
        if (found != object_->end()) return &*found;
        if (all_) at(name, [&] { refuse("is missing"); });
        return nullptr;
    }

    template <class Read>
    void at(const std::string& step, const Read& read) {
        const std::size_t before = path_.size();
        path_ += (step.front() == '[' ? "" : ".") + step;
        read();
        path_.resize(before);
    }

    [[noreturn]] void refuse(const char* what) const { throw FieldError(path_ + " " + what); }
    void need(bool right, const char* what) const {
        if (!right) refuse(what);
    }

    template <class List>
    void object_by(const Json& in, const List& fill) {
        need(in.is_object(), "is not an object");
        const Json* const outer = std::exchange(object_, &in);
        fill();
        object_ = outer;
        ended_ = false;
    }

    /// The elements of a list, as many as there are in `values`.
    template <class... T>
    void read_each(const Json& in, T&... values) {
        need(in.is_array() && in.size() == sizeof...(T), "is not a list of that length");
        std::size_t i = 0;
        (at(fmt::format("[{}]", i), [&] { read(in[i++], values); }), ...);
    }

    template <class T>
    void read(const Json& in, T& value) {
        if constexpr (std::is_invocable_v<T&>) {
            object_by(in, value);
        } else if constexpr (is_hexadecimal<T>) {
            value.value = seed_in(in);
        } else if constexpr (is_tuple<T>) {
            std::apply([&](auto&... each) { read_each(in, each...); }, value);
        } else if constexpr (is_optional<T>) {
            value.reset();
            if (!in.is_null()) read(in, value.emplace());
        } else if constexpr (std::same_as<T, std::string>) {
            need(in.is_string(), "is not a text");
            value = in.get<std::string>();
        } else if constexpr (std::same_as<T, bool>) {
            need(in.is_boolean(), "is not true or false");
            value = in.get<bool>();
        } else if constexpr (std::floating_point<T>) {
            value = static_cast<T>(number_in(in));
        } else if constexpr (std::integral<T>) {
            value = whole_in<T>(in);
        } else if constexpr (std::is_enum_v<T>) {
            if constexpr (requires { judge::name_of(value); }) {
                value = named_in<T>(in);
            } else {
                value = static_cast<T>(whole_in<std::uint8_t>(in));
            }
        } else if constexpr (requires { value.z; }) {
            read_each(in, value.x, value.y, value.z);
        } else if constexpr (std::same_as<T, Profile>) {
            value = profile_in(in);
        } else if constexpr (requires { value.begin(); }) {
            read_list(in, value);
        } else {
            object_by(in, [&] { list(*this, value); });
        }
    }

    template <class T>
    void read_list(const Json& in, T& values) {
        need(in.is_array(), "is not a list");
        if constexpr (requires { values.emplace_back(); }) {
            values.clear();
            values.resize(in.size());
        }
        need(in.size() == values.size(), "is not a list of that length");
        for (std::size_t i = 0; i < values.size(); ++i)
            at(fmt::format("[{}]", i), [&] { read(in[i], values[i]); });
    }

    double number_in(const Json& in) const {
        if (in.is_number()) return in.get<double>();
        if (in == "nan") return std::numeric_limits<double>::quiet_NaN();
        if (in == "inf") return std::numeric_limits<double>::infinity();
        if (in == "-inf") return -std::numeric_limits<double>::infinity();
        refuse("is not a number");
    }

    template <class T>
    T whole_in(const Json& in) const {
        need(in.is_number_integer(), "is not a whole number");
        const bool fits = in.is_number_unsigned() ? std::in_range<T>(in.get<std::uint64_t>())
                                                  : std::in_range<T>(in.get<std::int64_t>());
        need(fits, "is too large or too small");
        return in.get<T>();
    }

    template <class T>
    T named_in(const Json& in) const {
        need(in.is_string(), "is not a text");
        for (int i = 0; i <= static_cast<int>(last_of<T>); ++i) {
            if (in == judge::name_of(static_cast<T>(i))) return static_cast<T>(i);
        }
        refuse("is none of the words that it may be");
    }

    std::uint64_t seed_in(const Json& in) const {
        need(in.is_string(), "is not a text");
        const std::string text = in.get<std::string>();
        std::uint64_t seed = 0;
        const char* const end = text.data() + text.size();
        const bool prefix = text.compare(0, 2, "0x") == 0;
        const auto [rest, error] = std::from_chars(text.data() + (prefix ? 2 : 0), end, seed, 16);
        need(prefix && error == std::errc() && rest == end, "is not a seed");
        return seed;
    }

    Profile profile_in(const Json& in) {
        need(in.is_object(), "is not an object");
        Profile profile;
        for (std::size_t i = 0; i < parts; ++i) {
            const auto part = static_cast<Part>(i);
            if (const auto seconds = in.find(judge::name_of(part)); seconds != in.end())
                at(judge::name_of(part), [&] { profile.add(part, number_in(*seconds)); });
        }
        return profile;
    }

    bool all_;
    bool ended_ = false;  ///< the object has no further fields
    const Json* object_;
    std::string path_ = "result";
};

}  // namespace

Json fields_json(const RungResult& result, Fields fields) { return Writer(fields).object(result); }

Json fields_json(const Counters& counters, Fields fields) { return Writer(fields).object(counters); }

RungResult read_result(const Json& in, Fields fields) {
    RungResult result;
    Reader(in, fields).object(result);
    return result;
}

std::string seed_text(std::uint64_t seed) { return fmt::format("{:#018x}", seed); }

}  // namespace rungs::judge
