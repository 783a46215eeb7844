// simt_lanes_fuzz: loops over lanes against a stack for every lane.
//
// A generator writes kernels that have one result in whatever order lanes run: an element of shared memory is
// written by its own lane, and read by others only after a barrier. The translator gets them with --loops and
// without. The first program runs twice, by loops and, as it is able to, by stacks; all three have to leave
// the same in memory. What differs is printed.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

// ---- Kernels ----------------------------------------------------------------------------------------------

/// What all kernels may use. `bump` changes its argument, `place` and `LANE` depend on the lane.
const char* const prelude = R"(#include "cu2cpp/lanes/tests/fuzz/driver.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#pragma GCC diagnostic ignored "-Wshadow"
#define LANE (threadIdx.x + 3u)
#define HALF(x) ((x) / 2u)
namespace {
struct Pair {
    unsigned a, b;
};
struct Counter {
    unsigned value;
    __device__ Counter(unsigned v = 7) : value(v) {}
    __device__ Counter(const Counter& other) : value(other.value) {}
    __device__ Counter& operator=(const Counter& other) { value = other.value; return *this; }
};
__device__ unsigned mix(unsigned a, unsigned b) { return (a ^ (b * 40503u)) + (a >> 3); }
__device__ unsigned place() { return threadIdx.x * 5u + threadIdx.y; }
__device__ void bump(unsigned& x, unsigned by) { x += by; }
__device__ unsigned sum_to(unsigned n) {
    unsigned sum = 0;
    for (unsigned i = 0; i < n; ++i) sum += i ^ n;
    return sum;
}
)";

struct Shape {
    unsigned grid_x, grid_y, x, y, z;
    [[nodiscard]] unsigned lanes() const { return x * y * z; }
};

struct Variable {
    std::string name;
    std::string value;     ///< an expression; "": it has none yet
    std::string target;    ///< what can be assigned to; "": nothing
    bool uniform = false;  ///< as this program knows: the same for all lanes
    unsigned loops = 0;    ///< around its declaration
};

/// A shared array since the last barrier.
struct Shared {
    bool written = false;  ///< by some lane: others may not read
    bool read = false;     ///< by another lane than the element's: it may not write
};

class Generator {
  public:
    Generator(std::uint64_t seed, int number) : random_(seed * 1000003 + static_cast<unsigned>(number)) {
        shape_ = one_of<Shape>({{2, 1, 32, 1, 1},
                                {1, 1, 64, 1, 1},
                                {2, 2, 16, 2, 1},
                                {1, 1, 33, 1, 1},
                                {3, 1, 8, 3, 2},
                                {1, 1, 4, 4, 4},
                                {2, 1, 7, 1, 1},
                                {1, 2, 96, 1, 1}});
        may_shuffle_ = shape_.lanes() % 32 == 0;
        may_leave_ = chance(30);
        by_template_ = chance(20);
        if (may_leave_) may_shuffle_ = false;
        kernel_name = "k" + std::to_string(number);
        text = by_template_ ? "template <unsigned N>\n" : "";
        text += "__global__ void " + kernel_name + "(fuzz::Memory m, unsigned n, unsigned p) {\n";
        kernel();
        text += "}\n";
        const std::string blocks =
            "dim3(" + std::to_string(shape_.grid_x) + ", " + std::to_string(shape_.grid_y) + ")";
        const std::string threads = "dim3(" + std::to_string(shape_.x) + ", " + std::to_string(shape_.y) +
                                    ", " + std::to_string(shape_.z) + ")";
        text += "void run_" + kernel_name + "(const fuzz::Case& c, fuzz::Memory m) { " + kernel_name +
                (by_template_ ? "<3>" : "") + "<<<c.grid, c.block>>>(m, c.n, c.n + 2); }\n";
        for (const unsigned n : {0u, 3u, 6u})
            rows += "    {" + std::to_string(number) + ", " + blocks + ", " + threads + ", " +
                    std::to_string(n) + ", run_" + kernel_name + "},\n";
    }

    std::string kernel_name;
    std::string text;  ///< of the kernel and its launch
    std::string rows;  ///< of the table of launches

  private:
    unsigned between(unsigned low, unsigned high) {
        return std::uniform_int_distribution<unsigned>(low, high)(random_);
    }
    bool chance(unsigned percent) { return between(1, 100) <= percent; }
    template <class T>
    T one_of(std::initializer_list<T> list) {
        return list.begin()[between(0, static_cast<unsigned>(list.size()) - 1)];
    }
    static std::string number(unsigned n) { return std::to_string(n) + "u"; }

    // ---- Names ----

    void line(const std::string& what) { text += std::string(4 * scopes_.size(), ' ') + what + "\n"; }
    void open(const std::string& head) {
        line(head + " {");
        scopes_.emplace_back();
    }
    void close(const std::string& tail = "") {
        scopes_.pop_back();
        line("}" + tail);
    }
    std::string fresh() {
        // A name of an outer scope now and then, which it hides.
        if (scopes_.size() > 1 && chance(12)) {
            const auto& outer = scopes_[between(0, static_cast<unsigned>(scopes_.size()) - 2)];
            if (!outer.empty()) {
                const std::string name = outer[between(0, static_cast<unsigned>(outer.size()) - 1)].name;
                const bool here = std::any_of(scopes_.back().begin(), scopes_.back().end(),
                                              [&](const Variable& v) { return v.name == name; });
                if (!here && name != "t" && name != "m" && name != "own" && name != "n") return name;
            }
        }
        return "v" + std::to_string(names_++);
    }
    /// From here on the name hides what had it, and has no value yet.
    Variable& hide(const std::string& name) {
        scopes_.back().push_back({name, "", "", false, loops_});
        return scopes_.back().back();
    }
    void declare(const std::string& name, bool uniform, bool constant) {
        Variable& v = hide(name);
        v.value = name;
        if (!constant) v.target = name;
        v.uniform = uniform;
    }
    /// The variables that can be named here.
    std::vector<Variable*> visible(bool uniform_only, bool changeable = false) {
        std::vector<Variable*> all;
        std::set<std::string> seen;
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
            for (auto v = scope->rbegin(); v != scope->rend(); ++v)
                if (seen.insert(v->name).second && !v->value.empty() && (v->uniform || !uniform_only) &&
                    !(changeable && v->target.empty()))
                    all.push_back(&*v);
        return all;
    }
    Variable* some(const std::vector<Variable*>& list) {
        return list.empty() ? nullptr : list[between(0, static_cast<unsigned>(list.size()) - 1)];
    }

    // ---- Expressions ----

    /// Mostly no name alone: the translator takes one for a reference that the function may change.
    std::string argument(const std::string& value) { return chance(95) ? value + " + 1u" : value; }

    std::string uniform(unsigned depth = 0) {
        const unsigned way = between(0, depth > 2 ? 5 : 11);
        Variable* v = some(visible(true));
        switch (way) {
            case 0:
                return number(between(0, 9));
            case 1:
                return one_of<const char*>({"n", "n", "blockIdx.x", "gridDim.x", "blockDim.x", "blockIdx.y"});
            case 2:
            case 3:
            case 4:
                return v ? v->value : "n";
            case 5:
                return by_template_ ? "N" : "m.in[" + number(between(0, 63)) + "]";
            case 6:
                return "HALF(" + argument(uniform(depth + 1)) + ")";
            case 7:
                return one_of<std::string>({"mix(", "min(", "max("}) + argument(uniform(depth + 1)) + ", " +
                       argument(uniform(depth + 1)) + ")";
            case 8:
                return "(" + uniform(depth + 1) + " > 2u ? " + uniform(depth + 1) + " : " +
                       uniform(depth + 1) + ")";
            case 9: {
                Shared* s = readable();
                return s ? read(*s, number(between(0, shape_.lanes() - 1))) : "n";
            }
            default:
                return "(" + uniform(depth + 1) +
                       one_of<const char*>({" + ", " * ", " ^ ", " - ", " % 7u + ", " / 3u + "}) +
                       uniform(depth + 1) + ")";
        }
    }
    std::string lane(unsigned depth = 0) {
        const unsigned way = between(0, depth > 2 ? 5 : 13);
        Variable* v = some(visible(false));
        switch (way) {
            case 0:
                return one_of<const char*>({"threadIdx.x", "t", "t", "place()", "threadIdx.y"});
            case 1:
                return uniform(depth + 1);
            case 2:
            case 3:
            case 4:
                return v ? v->value : "t";
            case 5:
                return "s" + number(between(0, 1)).substr(0, 1) + "[t]";
            case 6:
                return "m.in[(" + lane(depth + 1) + ") % 64u]";
            case 7: {
                Shared* s = readable();
                return s ? read(*s, "(" + lane(depth + 1) + ") % " + number(shape_.lanes())) : "t";
            }
            case 8:
                return one_of<std::string>({"mix(", "min(", "max("}) + argument(lane(depth + 1)) + ", " +
                       argument(lane(depth + 1)) + ")";
            case 9:
                return "(" + divergent() + " ? " + lane(depth + 1) + " : " + lane(depth + 1) + ")";
            case 10:
                return "sum_to(" + lane(depth + 1) + " % 5u)";
            default:
                return "(" + lane(depth + 1) +
                       one_of<const char*>({" + ", " * ", " ^ ", " - ", " | ", " << 2u ^ ", " >> 3u ^ "}) +
                       lane(depth + 1) + ")";
        }
    }
    std::string divergent() {
        switch (between(0, 4)) {
            case 0:
                return "t < " + number(between(1, shape_.lanes()));
            case 1:
                return "t == " + number(between(0, shape_.lanes() - 1));
            case 2:
                return "(t + " + lane(3) + ") % 3u == 1u";
            case 3:
                return "t % 2u == 0u && " + lane(3) + " > 1u";
            default:
                return lane(2) + " % 4u < 2u";
        }
    }
    std::string uniform_condition() {
        return uniform(1) + one_of<const char*>({" % 2u == 0u", " % 3u != 1u", " < 4u", " >= n"});
    }

    // ---- Shared memory ----

    Shared* readable() {
        Shared* s = &shared_[between(0, 1)];
        return s->written ? nullptr : s;
    }
    std::string read(Shared& s, const std::string& index) {
        s.read = true;
        return (&s == &shared_[0] ? "s0[" : "s1[") + index + "]";
    }
    void barrier() {
        switch (between(0, 6)) {
            case 0:
                line("block.sync();");
                break;
            case 1:
                line("cg::sync(block);");
                break;
            default:
                line("__syncthreads();");
        }
        shared_ = {};
    }
    void spoil() {
        for (Shared& s : shared_) s.read = s.written = true;
    }

    // ---- Statements that a lane runs by itself ----

    void alone(unsigned depth) {
        const unsigned way = between(0, depth > 2 || ++statements_ > 30 ? 6 : 15);
        switch (way) {
            case 0:
            case 1:
                return assign();
            case 2:
                return store();
            case 3:
                return line("m.out[own] += " + lane() + ";");
            case 4:
                return line("atomicAdd(&m.sums[" + lane(2) + " % 8u], " + lane(2) + ");");
            case 5:
                return declaration();
            case 6:
                return assign();
            case 7:
            case 8: {
                open("if (" + divergent() + ")");
                some_alone(depth + 1);
                if (chance(40)) {
                    close(" else {");
                    scopes_.emplace_back();
                    some_alone(depth + 1);
                }
                return close();
            }
            case 9:
            case 10: {
                const std::string i = fresh();
                open("for (unsigned " + i + " = 0; " + i + " < " + lane(2) + " % 4u; ++" + i + ")");
                declare(i, false, true);
                const bool before = std::exchange(leavable_, true);
                some_alone(depth + 1);
                leavable_ = before;
                return close();
            }
            case 11: {
                const std::string i = "c" + std::to_string(names_++);
                open("");
                line("unsigned " + i + " = " + lane(2) + " % 5u;");
                declare(i, false, true);
                open(chance(50) ? "while (" + i + "-- > 1u)" : "do");
                const bool is_do = text.substr(text.size() - 5).find("do {") != std::string::npos;
                const bool before = std::exchange(leavable_, true);
                some_alone(depth + 1);
                leavable_ = before;
                close(is_do ? " while (" + i + "-- > 2u && " + i + " < 9u);" : "");
                return close();
            }
            case 12: {
                open("switch (" + lane(2) + " % 3u)");
                for (const char* label : {"case 0: {", "case 2: {", "default: {"}) {
                    line(label);
                    scopes_.emplace_back();
                    const bool before = std::exchange(leavable_, false);
                    some_alone(depth + 1);
                    leavable_ = before;
                    close(chance(70) ? " break;" : " [[fallthrough]];");
                }
                line("case 1: break;");
                return close();
            }
            case 13:
                if (leavable_)
                    return line("if (" + divergent() + ") " + one_of<const char*>({"break;", "continue;"}));
                return assign();
            case 14:
                if (may_leave_ && chance(50)) return line("if (" + divergent() + ") return;");
                return trap();
            default:
                return trap();
        }
    }
    void some_alone(unsigned depth) {
        for (unsigned i = between(1, 3); i-- > 0;) alone(depth);
    }

    void store() {
        Shared& s = shared_[between(0, 1)];
        if (s.read) return assign();
        s.written = true;
        line((&s == &shared_[0] ? "s0[t]" : "s1[t]") + one_of<std::string>({" = ", " += ", " ^= "}) + lane() +
             ";");
    }

    /// A change of a variable that lanes have their own of.
    void assign() {
        std::vector<Variable*> list = visible(false, true);
        std::erase_if(list, [](const Variable* v) { return v->uniform; });
        Variable* v = some(list);
        if (!v) return line("m.out[own] ^= " + lane() + ";");
        switch (between(0, 4)) {
            case 0:
                return line("++" + v->target + ";");
            case 1:
                return line("bump(" + v->target + ", " + lane(2) + ");");
            default:
                return line(v->target + one_of<const char*>({" = ", " += ", " ^= ", " *= "}) + lane() + ";");
        }
    }

    /// Makes a variable, which until then was one for all lanes, differ between them.
    void trap() {
        std::vector<Variable*> list = visible(true, true);
        std::erase_if(list, [&](const Variable* v) { return v->loops != loops_ || !v->uniform; });
        Variable* v = some(list);
        if (!v) return assign();
        const std::string by = lane(1);
        v->uniform = false;
        const std::string& u = v->name;
        const std::string p = "q" + std::to_string(names_++);
        switch (between(0, 13)) {
            case 0:
                return line("if (" + divergent() + ") " + u + " = " + by + ";");
            case 1:
                return line("bump(" + u + ", " + by + ");");
            case 2:
                return line("{ unsigned* " + p + " = &" + u + "; *" + p + " += " + by + "; }");
            case 3:
                return line("{ unsigned& " + p + " = " + u + "; " + p + " ^= " + by + "; }");
            case 4:
                line("m.out[own] += " + u + "++;");
                return line(u + " += " + by + ";");
            case 5:
                return line("m.out[own] += (" + u + " = " + u + " + " + by + ");");
            case 6:
                return line("for (" + u + " = 0; " + u + " < " + by + " % 4u; ++" + u +
                            ") m.out[own] += " + u + ";");
            case 7:
                return line(u + " += t;");
            case 8:
                return line(u + (chance(20) ? " = LANE;" : " = t;"));
            case 9:
                return line(u + " -= place();");
            case 10:
                return line("if (" + divergent() + ") ++" + u + "; else " + u + " *= 3u;");
            case 11:
                return line("m.out[own] += (bump(" + u + ", " + by + "), " + u + ");");
            case 12:
                return line("m.out[own] = 1u, " + u + " = " + by + ";");
            default:
                return line("*&" + u + " = " + by + ";");
        }
    }

    /// A variable that is one for all lanes.
    void uniform_declaration() {
        const std::string name = fresh();
        hide(name);
        const bool constant = chance(30);
        line((constant ? "const unsigned " : "unsigned ") + name + " = " + uniform() + ";");
        declare(name, true, constant);
    }

    /// A variable of any type that lanes have their own of.
    void declaration() {
        const std::string name = fresh();
        hide(name);
        const std::string value = lane();
        std::string seen = name, target;
        switch (between(0, 11)) {
            case 0: {
                const std::string other = "w" + std::to_string(names_++);
                line("unsigned " + name + " = " + value + ", " + other + " = " + uniform(2) + ";");
                declare(other, false, false);
                target = name;
                break;
            }
            case 1:
                line("unsigned " + name + "[3] = {" + value + ", " + lane(2) + ", 5u};");
                seen = name + "[t % 3u]";
                target = name + "[" + lane(2) + " % 3u]";
                break;
            case 2:
                line("Pair " + name + "{" + value + ", t};");
                seen = "(" + name + ".a * 3u + " + name + ".b)";
                target = name + ".a";
                break;
            case 3:
                line("Counter " + name + "(" + value + ");");
                line(name + ".value *= 3u;");
                seen = target = name + ".value";
                break;
            case 4:
                line("float " + name + " = static_cast<float>((" + value + ") % 1000u) * 0.75f;");
                line("if (" + divergent() + ") " + name + " = " + name + " * 1.5f + 2.0f;");
                seen = "static_cast<unsigned>(" + name + ")";
                break;
            case 5:
                line("unsigned " + name + ";");
                line(name + " = " + value + ";");
                target = name;
                break;
            case 6:
                line("const unsigned " + name + " = " + value + ";");
                break;
            case 7:
                line("unsigned long long " + name + " = " + value + ";");
                line(name + " *= 1000003u;");
                seen = "static_cast<unsigned>(" + name + " >> 5)";
                break;
            case 8:
                line("unsigned& " + name + " = m.out[own];");
                target = name;
                break;
            case 9:
                line("unsigned* " + name + " = m.out + own;");
                seen = target = "(*" + name + ")";
                break;
            default:
                line("unsigned " + name + " = " + value + ";");
                target = name;
        }
        Variable& v = hide(name);
        v.value = seen;
        v.target = target;
    }

    // ---- Statements that all lanes run together ----

    void together(unsigned depth) {
        const unsigned way = between(0, depth > 2 || ++statements_ > 30 ? 9 : 16);
        switch (way) {
            case 0:
            case 1:
            case 2:
                return barrier();
            case 3:
            case 4:
                return uniform_declaration();
            case 5:
                return change();
            case 6:
                return shuffle();
            case 7:
                if (chance(30)) return line("__syncwarp();");
                return alone(1);
            case 8:
            case 9:
                return alone(0);
            case 10:
            case 11:
                return branch(depth);
            case 12:
            case 13:
                return counted_loop(depth);
            case 14:
                return loop(depth);
            case 15: {
                open("");
                if (chance(95)) barrier();
                some_together(depth + 1);
                return close();
            }
            default:
                if (depth > 0 && chance(20)) return line("if (" + uniform_condition() + ") return;");
                return alone(0);
        }
    }
    void some_together(unsigned depth) {
        for (unsigned i = between(2, 4); i-- > 0;) together(depth);
    }

    /// A change that keeps a variable one for all lanes.
    void change() {
        std::vector<Variable*> list = visible(true, true);
        std::erase_if(list, [&](const Variable* v) { return !v->uniform; });
        Variable* v = some(list);
        if (!v) return uniform_declaration();
        switch (between(0, 3)) {
            case 0:
                return line("++" + v->name + ";");
            case 1:
                return line(v->name + "--;");
            default:
                return line(v->name + one_of<const char*>({" = ", " += ", " ^= ", " = 1u + "}) + uniform() +
                            ";");
        }
    }

    void shuffle() {
        if (!may_shuffle_) return barrier();
        const std::string name = "h" + std::to_string(names_++);
        line("unsigned " + name + " = " + lane() + ";");
        const std::string call =
            one_of<std::string>({"__shfl_xor_sync(~0u, " + name + ", " + number(1u << between(0, 4)) +
                                     one_of<const char*>({")", ", 8)"}),
                                 "__shfl_down_sync(0xffffffffu, " + name + ", " + uniform(2) + " % 32u)",
                                 "__shfl_up_sync(~0u, " + name + ", " + number(between(1, 17)) +
                                     one_of<const char*>({")", ", 16)"}),
                                 "__shfl_sync(~0u, " + name + ", " + uniform(2) + " % 32u)"});
        if (chance(50)) {
            const std::string other = "w" + std::to_string(names_++);
            line("unsigned " + other + " = " + call + ";");
            declare(other, false, false);
        } else {
            line(name + one_of<const char*>({" += ", " = ", " ^= "}) + call + ";");
        }
        declare(name, false, false);
    }

    void branch(unsigned depth) {
        open("if (" + uniform_condition() + ")");
        const std::array<Shared, 2> before = shared_;
        if (chance(95)) barrier();  // else what changes there is no longer one for all lanes
        some_together(depth + 1);
        const std::array<Shared, 2> after = std::exchange(shared_, before);
        if (chance(50)) {
            close(" else {");
            scopes_.emplace_back();
            if (chance(95)) barrier();
            some_together(depth + 1);
        }
        close();
        for (std::size_t i = 0; i < 2; ++i) {
            shared_[i].read |= after[i].read;
            shared_[i].written |= after[i].written;
        }
    }

    /// The body of a loop with a barrier: it begins with one, so that its rounds do not meet.
    void rounds(unsigned depth) {
        ++loops_;
        spoil();
        barrier();
        some_together(depth + 1);
        if (chance(40)) {
            line("if (" + uniform_condition() + ") " + one_of<const char*>({"break;", "continue;"}));
            some_together(depth + 1);
        }
        --loops_;
    }

    void counted_loop(unsigned depth) {
        const std::string i = fresh();
        const std::string end = number(between(1, 3));
        switch (between(0, 2)) {
            case 0:
                open("for (unsigned " + i + " = 0; " + i + " < " + end + "; ++" + i + ")");
                break;
            case 1:
                open("for (unsigned " + i + " = n % 4u + 1u; " + i + " > 0u; " + i + " /= 2u)");
                break;
            default:
                open("for (unsigned " + i + " = blockIdx.x; " + i + " < " + end + " + n % 2u; " + i +
                     " += 1u + n)");
        }
        declare(i, true, true);
        rounds(depth);
        close();
        spoil();
    }

    void loop(unsigned depth) {
        const std::string i = "c" + std::to_string(names_++);
        line("unsigned " + i + " = " + uniform(2) + " % 3u + 1u;");
        declare(i, true, true);
        const bool is_do = chance(50);
        open(is_do ? "do" : "while (" + i + " != 0u)");
        line("--" + i + ";");
        rounds(depth);
        scopes_.pop_back();
        line(is_do ? "} while (" + i + " != 0u && " + uniform_condition() + ");" : "}");
        spoil();
    }

    void kernel() {
        scopes_.emplace_back();
        const std::string lanes = number(shape_.lanes());
        line("__shared__ unsigned s0[" + std::to_string(shape_.lanes()) + "], s1[" +
             std::to_string(shape_.lanes()) + "];");
        line("auto block = cg::this_thread_block();");
        line(one_of<std::string>({"const unsigned t = ", "unsigned t = "}) +
             "threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);");
        line("const unsigned own = (blockIdx.x + gridDim.x * blockIdx.y) * " + lanes + " + t;");
        line("s0[t] = t * 3u + n;");
        line("s1[t] = m.in[(t + n) % 64u];");
        declare("p", true, false);
        line("__syncthreads();");
        for (unsigned i = between(6, 10); i-- > 0;) together(0);
        barrier();
        std::string all = "s0[t] ^ s1[" + lanes + " - 1u - t]";
        for (const Variable* v : visible(false)) all += " + (" + v->value + ")";
        line("m.out[own] += " + all + ";");
        scopes_.pop_back();
    }

    std::mt19937_64 random_;
    Shape shape_{};
    bool may_shuffle_ = true, may_leave_ = false, by_template_ = false;
    bool leavable_ = false;  ///< a `break` or `continue` would be of a loop that a lane runs by itself
    unsigned loops_ = 0, names_ = 0, statements_ = 0;
    std::vector<std::vector<Variable>> scopes_;
    std::array<Shared, 2> shared_;
};

// ---- Running them -----------------------------------------------------------------------------------------

int shell(const std::string& command) {
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::vector<std::string> lines;
    for (std::string one; std::getline(in, one);) lines.push_back(one);
    return lines;
}

[[noreturn]] void give_up(const std::string& command) {
    std::cerr << "simt_lanes_fuzz: this failed: " << command << '\n';
    std::exit(2);
}

struct Totals {
    std::size_t written = 0, kernels = 0, launches = 0, different = 0;
};

/// Kernels of one file.
class Batch {
  public:
    /// Takes the first `count` kernels from number `next` on that the translator makes loops of.
    Batch(std::filesystem::path folder, std::uint64_t seed, int& next, int count, Totals& totals)
        : base_(folder / "batch") {
        const int begin = next;
        while (static_cast<int>(kernels_.size()) < count) {
            if (next - begin > 20 * count) give_up("to find kernels that are run by loops");
            std::vector<Generator> some;
            for (int i = 0; i < count; ++i) some.emplace_back(seed, next++);
            write(some);
            const std::string notes = base_.string() + ".notes";
            const std::string command = "'" + std::string(FUZZ_CU2CPP) + "' --check --explain-loops '" +
                                        base_.string() + ".cu' 2> '" + notes + "'";
            if (shell(command) != 0) give_up(command);
            for (const std::string& note : lines_of(notes))
                for (const Generator& kernel : some)
                    if (note.find("note: " + kernel.kernel_name + " is run by loops") != std::string::npos &&
                        static_cast<int>(kernels_.size()) < count)
                        kernels_.push_back(kernel);
        }
        write(kernels_);
        totals.written += static_cast<std::size_t>(next - begin);
        totals.kernels += kernels_.size();
    }

    void run(Totals& totals, int& shown) {
        build("loops", "--loops", FUZZ_LOOP_OPTIONS);
        build("stacks", "", "");
        const std::vector<std::string> loops = output("loops", ""), own = output("loops", "stacks"),
                                       stacks = output("stacks", "");
        totals.launches += stacks.size();
        for (std::size_t i = 0; i < stacks.size(); ++i) {
            const bool same = loops.size() == stacks.size() && own.size() == stacks.size() &&
                              loops[i] == stacks[i] && own[i] == stacks[i];
            if (same && stacks[i].find(" 0 ") != std::string::npos) continue;
            ++totals.different;
            if (--shown < 0) continue;
            std::cout << kernels_.at(i / 3).text << "stacks:       " << stacks[i]
                      << "\nloops:        " << (i < loops.size() ? loops[i] : "none")
                      << "\nloops of one: " << (i < own.size() ? own[i] : "none") << "\n\n";
        }
        if (stacks.size() != 3 * kernels_.size()) give_up(base_.string() + "_stacks");
    }

  private:
    void write(const std::vector<Generator>& kernels) const {
        std::ofstream file(base_.string() + ".cu");
        file << prelude;
        for (const Generator& kernel : kernels) file << kernel.text;
        file << "}\nconst std::vector<fuzz::Case> fuzz::cases = {\n";
        for (const Generator& kernel : kernels) file << kernel.rows;
        file << "};\n";
    }
    void build(const std::string& way, const std::string& translation, const std::string& options) {
        const std::string name = "'" + base_.string() + "_" + way;
        const std::string command =
            "'" + std::string(FUZZ_CU2CPP) + "' " + translation + " '" + base_.string() + ".cu' -o " + name +
            ".cpp' 2> " + name + ".notes' && " + FUZZ_COMPILE + " " + options + " -c " + name + ".cpp' -o " +
            name + ".o' && " + FUZZ_LINK + " " + name + ".o' -o " + name + "' " + FUZZ_LIBRARIES;
        if (shell(command) != 0) give_up(command);
    }
    std::vector<std::string> output(const std::string& way, const std::string& argument) {
        const std::string name = "'" + base_.string() + "_" + way;
        shell(name + "' " + argument + " > " + name + ".txt'");
        return lines_of(base_.string() + "_" + way + ".txt");
    }

    std::filesystem::path base_;
    std::vector<Generator> kernels_;
};

}  // namespace

int main(int count, char** arguments) {
    std::uint64_t seed = 1;
    int kernels = 12, first = 0, shown = 3;
    bool keeps = false;
    for (int n = 1; n + 1 < count; n += 2) {
        const std::string option = arguments[n];
        const auto number = std::strtoull(arguments[n + 1], nullptr, 10);
        if (option == "--seed") {
            seed = number;
        } else if (option == "--count") {
            kernels = static_cast<int>(number);
        } else if (option == "--first") {
            first = static_cast<int>(number);
        } else if (option == "--show") {
            shown = static_cast<int>(number);
        } else if (option == "--keep") {
            keeps = number != 0;
        } else {
            std::cerr << "usage: simt_lanes_fuzz [--seed N] [--count N] [--first N] [--show N] [--keep 1]\n";
            return 2;
        }
    }
    if (const char* more = std::getenv("SIMT_LANES_FUZZ")) kernels *= std::max(1, std::atoi(more));
    char folder[] = "/tmp/simt-lanes-fuzz-XXXXXX";
    if (!mkdtemp(folder)) return 2;
    Totals totals;
    constexpr int batch = 16;
    for (int begin = 0; begin < kernels; begin += batch)
        Batch(folder, seed, first, std::min(kernels - begin, batch), totals).run(totals, shown);
    if (keeps)
        std::cout << folder << '\n';
    else
        std::filesystem::remove_all(folder);
    std::printf("kernels %zu (of %zu written), launches %zu, different %zu\n", totals.kernels, totals.written,
                totals.launches, totals.different);
    return totals.different == 0 ? 0 : 1;
}
