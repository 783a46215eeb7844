#pragma once
// Every field of a verdict: its name in JSON and its member, once. Kept verdicts, the public JSON
// (docs/result.schema.json) and the reading of both follow from these lists, and so does whatever has to see
// each text of a result. Fields of the public JSON that follow from others are added by report/json.cpp.
//
// A list shows its fields to a form, in the order of the JSON:
//   form("name", value)              a field. A function in place of a value lists the fields of an object
//   form.either("done", done, "why_not", why_not)
//                                    two fields; the public JSON has the second one, and nothing else, only
//                                    where the first one is false
//   form.or_null("name", value, nothing)
//                                    null where the value is `nothing`
//   form.or_none("name", text)       left out where the text is empty
//   form.with(flag, "name", value)   null in the public JSON without `flag`: a bool, or a text that is empty
//   form.kept(values...)             the judge's own: kept, and not in the public JSON
//   form.lost(values...)             of no use once a rung has been judged: in neither
//   form.flat(part)                  the fields of this part stand among those of the whole
// A structure with a field that its list does not show does not compile.

#include <concepts>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <vector>

#include "judge/result/result.hpp"

namespace rungs::judge {

template <class T, class Struct>
concept Is = std::same_as<std::remove_const_t<T>, Struct>;

/// A number that JSON has as text: "0x000000000000002a".
template <class T>
struct Hexadecimal {
    T& value;
};
template <class T>
constexpr Hexadecimal<T> hexadecimal(T& value) {
    return {value};
}

// --- a verdict ------------------------------------------------------------------------------------------

template <class Form, Is<Mismatch> One>
constexpr void list(Form& form, One& one) {
    form("index", one.index);
    form("got", one.got);
    form("expected", one.expected);
    form.or_null("ulp", one.ulp, ulp_undefined);
    form.or_none("where", one.where);
    form.kept(one.unwritten);
}

template <class Form, Is<Cause> One>
constexpr void list(Form& form, One& one) {
    form("source", one.source);
    form("kind", one.kind);
    form("file", one.place.file);
    form("line", one.place.line);
    form("case", one.which);
    form("text", one.text);
    form("likely", one.likely);
    form.kept(one.limited, one.place.column, one.place.function, one.place.caller_file,
              one.place.caller_line);
    form.lost(one.place.path);
    form.flat(one.place);
}

template <class Form, Is<Correctness> One>
constexpr void list(Form& form, One& one) {
    form("cases", one.cases);
    form("passed", one.passed);
    form("failing_case", one.failing_case);
    form("smallest_case", one.smallest_case);
    form("error", one.error);
    form("tolerance", one.tolerance);
    form("measure", one.measure);
    form("wrong", one.wrong);
    form("of", one.of);
    form("first_mismatches", one.first);
    form("cause", one.cause);
    form.kept(one.things, one.unwritten, one.varies, one.certain);
}

template <class Form, Is<QuotedFinding> One>
constexpr void list(Form& form, One& one) {
    const auto side_of = [&form, &one](auto& side, auto& source) {
        return [&] {
            form("file", side.place.file);
            form("line", side.place.line);
            form("column", side.place.column);
            form("function", side.place.function);
            form("access", side.access);
            form("caller_file", side.place.caller_file);
            form("caller_line", side.place.caller_line);
            form("source", source);
            form.with(one.kernel, "thread", side.thread);
            form.with(one.kernel, "block", side.block);
            form.kept(side.kernel, side.operation, side.stream);
            form.lost(side.place.path);
            form.flat(side), form.flat(side.place);
        };
    };
    form("tool", one.tool);
    form("severity", one.severity);
    form("kind", one.kind);
    form("kernel", one.kernel);
    form("side", side_of(one.side, one.source));
    form.with(one.has_other, "other", side_of(one.other, one.other_source));
    form.with(one.array, "array", [&] {
        form("name", one.array);
        form("index", one.index);
        form("element_bytes", one.element);
        form("elements", one.extent);
    });
    form("message", one.message);
    form("advice", one.advice);
    form("count", one.count);
    form.kept(one.has_other);
    const simt::check::Finding& finding = one;
    form.flat(finding);
}

template <class Form, Is<ChecksResult> One>
constexpr void list(Form& form, One& one) {
    form.either("done", one.done, "why_not", one.why_not);
    form("tool", one.tool);
    form("cases", one.cases);
    form("of", one.of);
    form("orders", one.orders);
    form("found_in", one.found_in);
    form("findings", one.findings);
    form("unchecked", one.unchecked);
    form("seconds", one.seconds);
    form.or_none("unread", one.unread);
    form.lost(one.unchecked_by_cases, one.launched, one.blocks);
}

template <class Form, Is<Counters> One>
constexpr void list(Form& form, One& one) {
    form.either("done", one.done, "why_not", one.why_not);
    form("case", one.which);
    form("least_bytes", one.least_bytes);
    form.kept(one.rung, one.reference, one.beyond);
}

template <class Form, Is<Modelled> One>
constexpr void list(Form& form, One& one) {
    form.either("done", one.done, "why_not", one.why_not);
    form("machine", one.machine);
    form("case", one.which);
    form("baseline", one.baseline);
    form("speedup", one.speedup);
    form("of_reference", one.of_reference);
    form("seconds", one.seconds);
    form("baseline_seconds", one.baseline_seconds);
    form("reference_seconds", one.reference_seconds);
    form("limit", one.limit);
    form("beats_reference", one.beats_reference);
    form("elsewhere", one.elsewhere);
    form("worse", one.worse);
    form("points", one.points);
    form("max_points", one.max_points);
    form.kept(one.zero, one.full);
}

template <class Form, Is<Conditions> One>
constexpr void list(Form& form, One& one) {
    form("least_mhz", one.least_mhz);
    form("most_mhz", one.most_mhz);
    form("slowed_by", one.slowed_by);
    form("load", one.load);
}

template <class Form, Is<RawTimes> One>
constexpr void list(Form& form, One& one) {
    form("rung", one.rung);
    form("baseline", one.baseline);
    form("reference", one.reference);
    form("baseline_alone", one.baseline_alone);
    form("reference_alone", one.reference_alone);
}

template <class Form, Is<Speed> One>
constexpr void list(Form& form, One& one) {
    form.either("judged", one.judged, "why_not", one.why_not);
    form("baseline", one.baseline);
    form("speedup", one.speedup);
    form("interval", std::tie(one.low, one.high));
    form("of_reference", one.of_reference);
    form("of_reference_interval", std::tie(one.of_reference_low, one.of_reference_high));
    form("beats_reference", one.beats_reference);
    form("pairs", one.pairs);
    form("decided", one.decided);
    form("seconds", one.seconds);
    form("baseline_seconds", one.baseline_seconds);
    form("reference_seconds", one.reference_seconds);
    form("bandwidth", one.bandwidth);
    form.or_null("roof", one.roof, 0.0);
    form.or_null("floor", one.floor, 0.0);
    form("flops", one.flops);
    form.or_null("fma_roof", one.fma_roof, 0.0);
    form("trust", one.trust);
    form("conditions", one.conditions);
    form("microseconds", one.times);
    form.kept(one.needs_gpu, one.points, one.max_points, one.zero, one.full);
}

template <class Form, Is<Prediction> One>
constexpr void list(Form& form, One& one) {
    form("name", one.name);
    form("ask", one.ask);
    form("answer", one.answer);
    form("right", one.right);
}

template <class Form, Is<RungResult> One>
constexpr void list(Form& form, One& one) {
    form("chapter", one.chapter);
    form("rung", one.rung);
    form("given", one.given);
    form("seed", hexadecimal(one.seed));
    form.or_null("sandbox", one.sandbox, "");
    form("verdict", one.verdict);
    // Points of a rung that could not be judged are not zero: they are not known.
    form.with(one.judged, "points", one.points);
    form("max_points", one.max_points);
    form("causes", one.causes);
    form("correctness", one.correctness);
    form("checks", one.checks);
    form("counters", one.counters);
    form("modelled", one.modelled);
    form("speed", one.speed);
    form("predictions", one.predictions);
    form("compile", [&] {
        form("seconds", one.build_seconds);
        form("cached", one.cached);
        form("diagnostics", one.diagnostics);
    });
    form("seconds", one.seconds);
    form("profile", one.profile);
    form.kept(one.judged);
}

// --- what was counted, which the public JSON sums up -----------------------------------------------------

template <class Form, Is<simt::check::Place> One>
constexpr void list(Form& form, One& one) {
    form.kept(one.file, one.line, one.column, one.function, one.caller_file, one.caller_line);
    form.lost(one.path);
}

template <class Form, Is<simt::check::SiteCounters> One>
constexpr void list(Form& form, One& one) {
    form.kept(one.requests, one.lanes, one.sectors, one.lines, one.ideal_sectors, one.wavefronts,
              one.ideal_wavefronts, one.requested_bytes, one.useful_bytes, one.addresses, one.serial_steps,
              one.place, one.array, one.space, one.access, one.width);
    const simt::check::MemoryCounters& sums = one;
    form.flat(sums);
}

template <class Form, Is<simt::check::ArrayCounters> One>
constexpr void list(Form& form, One& one) {
    form.kept(one.array, one.space, one.on_host, one.bytes, one.read_sectors, one.written_sectors,
              one.touched_sectors);
}

template <class Form, Is<simt::check::Arithmetic> One>
constexpr void list(Form& form, One& one) {
    form.kept(one.floats, one.doubles, one.fusable, one.special, one.divisions, one.wide_divisions,
              one.integers, one.branches);
}

template <class Form, Is<simt::check::LaunchCounters> One>
constexpr void list(Form& form, One& one) {
    form.kept(one.kernel, one.grid, one.block, one.static_shared, one.dynamic_shared, one.blocks, one.warps,
              one.threads, one.cooperative, one.barriers, one.max_barriers, one.grid_barriers, one.warp_syncs,
              one.shuffles, one.votes, one.basic_blocks, one.active_lanes, one.max_warp_basic_blocks,
              one.max_warp_requests, one.arithmetic, one.sites, one.arrays, one.exact);
}

template <class Form, Is<simt::check::HostCounters> One>
constexpr void list(Form& form, One& one) {
    form.kept(one.launches, one.copies, one.copied_bytes, one.bytes_to_host, one.fills, one.filled_bytes,
              one.waits);
}

template <class Form, Is<simt::model::LaunchProfile> One>
constexpr void list(Form& form, One& one) {
    form.kept(one.kernel, one.blocks, one.threads, one.shared_bytes, one.grid_barriers, one.instructions,
              one.doubles, one.special, one.requests, one.lines, one.wavefronts, one.shuffles, one.barriers,
              one.sectors, one.block_sectors, one.written_sectors, one.dram_read_sectors,
              one.dram_write_sectors, one.atomics, one.atomics_same, one.load_rounds, one.l2_rounds,
              one.dram_rounds, one.shared_rounds, one.sync_rounds, one.block_barriers,
              one.block_instructions);
}

template <class Form, Is<simt::model::CallProfile> One>
constexpr void list(Form& form, One& one) {
    form.kept(one.launches, one.fills, one.filled_bytes, one.copies, one.copied_bytes, one.waits);
}

template <class Form, Is<TraceStep> One>
constexpr void list(Form& form, One& one) {
    form.kept(one.place, one.array, one.space, one.access, one.width, one.phase, one.lanes, one.offsets);
}

template <class Form, Is<WarpTrace> One>
constexpr void list(Form& form, One& one) {
    form.kept(one.kernel, one.block, one.warp, one.cut, one.steps, one.requests);
}

template <class Form, Is<Tally> One>
constexpr void list(Form& form, One& one) {
    form.kept(one.launches, one.host, one.profile, one.trace, one.allocations);
}

// --- whether nothing is forgotten ------------------------------------------------------------------------

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
inline constexpr bool is_hexadecimal = false;
template <class T>
inline constexpr bool is_hexadecimal<Hexadecimal<T>> = true;

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;

/// Initialises any member of a structure. An optional one takes its value's.
struct Anything {
    template <class T, class = std::enable_if_t<!is_optional<T>>>
    operator T() const;
};

/// How many members a structure without constructors has, a base being one of them.
template <class Struct, class... Some>
constexpr std::size_t members() {
    if constexpr (requires { Struct{Some{}..., Anything{}}; }) {
        return members<Struct, Some..., Anything>();
    } else {
        return sizeof...(Some);
    }
}

/// The form that counts how many members a list lacks.
class Lacking {
  public:
    explicit constexpr Lacking(std::size_t members) : count_(static_cast<int>(members)) {}

    template <class T>
    constexpr void operator()(const char*, const T& value) {
        if constexpr (std::is_invocable_v<T>) {
            value();
        } else if constexpr (is_tuple<T>) {
            count_ -= static_cast<int>(std::tuple_size_v<T>);
        } else {
            --count_;
        }
    }
    template <class Flag, class T>
    constexpr void either(const char*, Flag&, const char*, T&) {
        count_ -= 2;
    }
    template <class T, class U>
    constexpr void or_null(const char*, T&, const U&) {
        --count_;
    }
    template <class T>
    constexpr void or_none(const char*, T&) {
        --count_;
    }
    template <class Flag, class T>
    constexpr void with(Flag&, const char* name, const T& value) {
        (*this)(name, value);
    }
    template <class... T>
    constexpr void kept(T&...) {
        count_ -= static_cast<int>(sizeof...(T));
    }
    template <class... T>
    constexpr void lost(T&...) {
        count_ -= static_cast<int>(sizeof...(T));
    }
    template <class Part>
    constexpr void flat(const Part&) {
        count_ += static_cast<int>(members<Part>()) - 1;
    }

    constexpr int count() const { return count_; }

  private:
    int count_;
};

/// Declared to name its members, and never defined.
template <class T>
extern T unmade;

template <class T>
constexpr bool is_whole() {
    Lacking lacking(members<T>());
    list(lacking, unmade<T>);
    return lacking.count() == 0;
}

// --- each value ------------------------------------------------------------------------------------------

/// The form that shows each value of a result to `use`, a list before what is in it.
template <class Use>
class EachValue {
  public:
    explicit EachValue(const Use& use) : use_(use) {}

    template <class T>
    void operator()(const char*, T&& value) {
        show(value);
    }
    template <class T>
    void either(const char*, bool& done, const char*, T& why_not) {
        show(done);
        show(why_not);
    }
    template <class T, class U>
    void or_null(const char*, T& value, const U&) {
        show(value);
    }
    template <class T>
    void or_none(const char*, T& value) {
        show(value);
    }
    template <class Flag, class T>
    void with(Flag&, const char*, T&& value) {
        show(value);
    }
    template <class... T>
    void kept(T&... values) {
        (show(values), ...);
    }
    template <class... T>
    void lost(T&...) {}
    template <class Part>
    void flat(const Part&) {}

  private:
    template <class T>
    void show(T& value) {
        if constexpr (std::is_invocable_v<T&>) {
            value();
        } else if constexpr (is_hexadecimal<T>) {
            use_(value.value);
        } else if constexpr (is_tuple<T>) {
            std::apply([&](auto&... each) { (show(each), ...); }, value);
        } else {
            use_(value);
            show_inside(value);
        }
    }

    template <class T>
    void show_inside(T& value) {
        if constexpr (is_optional<T>) {
            if (value) show(*value);
        } else if constexpr (requires { list(*this, value); }) {
            list(*this, value);
        } else if constexpr (requires { value.begin(); } && !std::is_same_v<T, std::string>) {
            for (auto& one : value) show(one);
        }
    }

    const Use& use_;
};

/// Calls `use` with each value that is in a result, `lost` ones excepted: its structures, lists and texts.
template <class Use>
void each_value(RungResult& result, const Use& use) {
    EachValue<Use> form(use);
    list(form, result);
}

}  // namespace rungs::judge
