// simt_fuzz: check mode against random kernels whose faults are known.
//
// A generator writes small kernels; a model, which knows nothing of the runtime, runs through all accesses of
// all threads and decides by comparing every pair which races, bounds errors, uninitialised reads and
// divergent barriers there are. Then the kernels are translated, compiled in batches and run in check mode in
// several orders. A fault that is not found counts against the recall, a finding without a fault against the
// precision; both have to be 1. What misses is made smaller and printed.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace {

// ---- Kernels ----------------------------------------------------------------------------------------------

enum class Type { chars, shorts, ints, floats, vectors };
const char* name_of(Type t) {
    static const char* const names[] = {"signed char", "short", "int", "float", "float4"};
    return names[static_cast<int>(t)];
}

struct ArrayOf {
    std::string name;
    Type type = Type::ints;
    int length = 0;
    int written = 0;  ///< elements that have a value from the start; of shared arrays 0
    bool shared = false;
};

/// t * thread + b * block + i * (loop's variable) + k, modulo `mod` if that is not 0.
struct Index {
    int t = 0, b = 0, i = 0, k = 0, mod = 0;
    int operator()(int thread, int block, int loop) const {
        const int v = t * thread + b * block + i * loop + k;
        return mod ? (v % mod + mod) % mod : v;
    }
    std::string text() const {
        std::string s = std::to_string(k);
        if (t) s = std::to_string(t) + " * t + " + s;
        if (b) s = std::to_string(b) + " * b + " + s;
        if (i) s = std::to_string(i) + " * i + " + s;
        if (!mod) return s;
        const std::string m = std::to_string(mod);
        return "((" + s + ") % " + m + " + " + m + ") % " + m;
    }
};

/// Which threads: all, thread < n, thread == n, thread % n == 0, block == n.
struct Condition {
    enum Kind { below, equal, multiple, block } kind = below;
    int n = 0;
    bool operator()(int thread, int block_index) const {
        return kind == below      ? thread < n
               : kind == equal    ? thread == n
               : kind == multiple ? thread % n == 0
                                  : block_index == n;
    }
    std::string text() const {
        const std::string m = std::to_string(n);
        return kind == below      ? "t < " + m
               : kind == equal    ? "t == " + m
               : kind == multiple ? "t % " + m + " == 0"
                                  : "b == " + m;
    }
};

struct Statement {
    enum Kind {
        load,
        store,
        copy,
        atomic,
        barrier,
        warp_barrier,
        shuffle,
        branch,
        loop,
        strided,
        leave
    } kind = load;
    int array = 0, other = 0;  ///< copy: from `other` to `array`
    Index index, other_index;
    Condition condition;  ///< of branch and leave
    int trips = 0;        ///< of loop; of strided: the end of its variable
    bool ragged = false;  ///< the trips depend on the thread
    std::vector<Statement> body, otherwise;
    unsigned line = 0;  ///< set when it is written
};

struct Kernel {
    int blocks = 1, threads = 32;
    std::vector<ArrayOf> arrays;
    std::vector<Statement> body;
    unsigned first_line = 0, last_line = 0;
};

// ---- The generator ----------------------------------------------------------------------------------------

class Generator {
  public:
    explicit Generator(std::uint64_t seed) : random_(seed) {}

    Kernel kernel() {
        Kernel k;
        careful_ = chance(45);
        k.blocks = one_of({1, 1, 2, 3});
        k.threads = one_of({8, 31, 32, 33, 48, 64, 96});
        const int all = k.blocks * k.threads;
        const int globals = between(1, 2), shareds = between(0, 2);
        for (int g = 0; g < globals; ++g) {
            ArrayOf a{
                "g" + std::to_string(g),
                one_of({Type::chars, Type::shorts, Type::ints, Type::floats, Type::vectors, Type::ints}), 0,
                0, false};
            a.length = chance(85) ? all + one_of({0, 0, 1, 2}) : all - one_of({1, 2, 5});
            a.written = chance(70) ? a.length : chance(50) ? 0 : a.length - between(1, 4);
            k.arrays.push_back(a);
        }
        for (int s = 0; s < shareds; ++s) {
            ArrayOf a{
                "s" + std::to_string(s),
                one_of({Type::chars, Type::shorts, Type::ints, Type::floats, Type::vectors, Type::floats}), 0,
                0, true};
            a.length = chance(85) ? k.threads + one_of({0, 0, 1, 2}) : k.threads - one_of({1, 3});
            k.arrays.push_back(a);
        }
        if (chance(40)) k.arrays.push_back({"c0", Type::ints, between(1, 8), chance(90) ? 8 : 0, false});
        for (ArrayOf& a : k.arrays) {
            if (careful_) a.length = std::max(a.length, a.shared ? k.threads : a.name == "c0" ? 8 : all);
            a.written = careful_ && !a.shared ? a.length : std::min(a.written, a.length);
        }
        // Who is careful gives every shared array values first.
        for (std::size_t n = 0; careful_ && n < k.arrays.size(); ++n) {
            if (!k.arrays[n].shared) continue;
            Statement fill;
            fill.kind = Statement::strided;
            fill.array = static_cast<int>(n);
            fill.trips = k.arrays[n].length;
            k.body.push_back(fill);
            k.body.emplace_back().kind = Statement::barrier;
        }
        statements(k, k.body, between(2, 6), 0, false);
        return k;
    }

  private:
    int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
    bool chance(int percent) { return between(1, 100) <= percent; }
    template <class T>
    T one_of(std::initializer_list<T> list) {
        return list.begin()[between(0, static_cast<int>(list.size()) - 1)];
    }

    /// `stored`: the element is written. Who is careful writes own elements only, and reads others' in shared
    /// memory, between barriers.
    Index index(const Kernel& k, const ArrayOf& a, bool in_loop, bool stored) {
        Index x;
        const int b = a.shared ? 0 : k.threads;
        const bool own = careful_ && (stored || !a.shared);
        int way = own ? 1 : between(1, 100);
        if (careful_ && ((way > 60 && way <= 68) || way > 94)) way = 70;
        if (careful_) in_loop = false;
        if (way <= 60) {  // its own
            x.t = 1, x.b = b;
        } else if (way <= 68) {  // a neighbour's
            x.t = 1, x.b = b, x.k = one_of({1, -1});
        } else if (way <= 78) {  // mirrored
            x.t = -1, x.b = b, x.k = k.threads - 1;
        } else if (way <= 86) {  // permuted
            x.t = one_of({3, 5, 7}), x.b = b, x.k = between(0, 3),
            x.mod = std::max(1, std::min(a.length, k.threads));
            if (b) x.b = 0;
        } else if (way <= 94) {  // everybody's
            x.k = between(0, std::max(0, std::min(a.length, 8) - 1));
        } else {
            x.t = one_of({1, 2}), x.b = chance(50) ? b : 0, x.k = between(-1, 2);
        }
        if (in_loop && chance(30)) x.i = one_of({1, -1});
        return x;
    }

    Condition condition(const Kernel& k) {
        switch (between(0, 4)) {
            case 0:
                return {Condition::equal, between(0, k.threads - 1)};
            case 1:
                return {Condition::multiple, between(2, 3)};
            case 2:
                return {Condition::block, between(0, k.blocks - 1)};
            default:
                return {Condition::below, one_of({1, 7, k.threads / 2, 32, k.threads - 1})};
        }
    }

    void statements(const Kernel& k, std::vector<Statement>& into, int count, int depth, bool divergent) {
        for (int n = 0; n < count; ++n) {
            Statement s;
            int way = between(1, 100);
            if (careful_ && divergent && way > 25) way = 10;  // an access to own elements
            const bool in_loop = depth > 0;
            s.array = between(0, static_cast<int>(k.arrays.size()) - 1);
            if (way <= 25) {
                s.kind = Statement::load;
            } else if (way <= 50) {
                s.kind = Statement::store;
            } else if (way <= 62) {
                s.kind = Statement::copy;
                s.other = between(0, static_cast<int>(k.arrays.size()) - 1);
                s.other_index = index(k, k.arrays[static_cast<std::size_t>(s.other)], in_loop, false);
            } else if (way <= 70) {
                s.kind = Statement::atomic;
                if (k.arrays[static_cast<std::size_t>(s.array)].type != Type::ints) s.kind = Statement::store;
            } else if (way <= 73 && !divergent) {
                s.kind = chance(60) ? Statement::warp_barrier : Statement::shuffle;
            } else if (way <= 82 && depth < 2) {
                s.kind = Statement::branch;
                s.condition = condition(k);
                statements(k, s.body, between(1, 2), depth + 1, true);
                if (chance(30)) statements(k, s.otherwise, 1, depth + 1, true);
            } else if (way <= 90 && depth < 2) {
                s.kind = Statement::loop;
                s.trips = between(2, 3);
                s.ragged = chance(15);
                statements(k, s.body, between(1, 3), depth + 1, divergent || s.ragged);
            } else if (way <= 97 && depth == 0) {
                s.kind = Statement::strided;
                s.trips =
                    std::max(1, k.arrays[static_cast<std::size_t>(s.array)].length + (chance(10) ? 1 : 0));
            } else if (depth == 0) {
                s.kind = Statement::leave;
                s.condition = condition(k);
            } else {
                s.kind = Statement::load;
            }
            if (careful_ && (s.kind == Statement::leave || s.kind == Statement::strided))
                s.kind = Statement::load;
            if (careful_ && s.kind == Statement::copy && s.array == s.other) s.kind = Statement::store;
            s.index =
                index(k, k.arrays[static_cast<std::size_t>(s.array)], in_loop, s.kind != Statement::load);
            // (The counters of one word take atomics only.)
            if (careful_ && s.kind == Statement::atomic)
                s.index =
                    Index{0, 0, 0,
                          between(0, 7) % std::max(1, k.arrays[static_cast<std::size_t>(s.array)].length), 0};
            into.push_back(s);
            // Most of the time somebody has thought of a barrier; in a branch that is the mistake.
            if (chance(careful_ ? (divergent ? 0 : 100) : divergent ? 4 : 55)) {
                Statement barrier;
                barrier.kind = Statement::barrier;
                into.push_back(barrier);
            }
        }
    }

    std::mt19937_64 random_;
    bool careful_ = false;  ///< the present kernel mostly has no fault
};

// ---- The model --------------------------------------------------------------------------------------------

enum class Access { read, write, atomic };

/// One access of one thread, as the model sees it.
struct Event {
    int block, thread, barriers, warp_barriers;
    Access access;
    unsigned line;
};

struct Finding {
    std::string fault, array;  ///< "race", "bounds", "uninitialised", "barrier"
    unsigned line = 0, other = 0;
    auto key() const { return std::tie(fault, array, line, other); }
    bool operator<(const Finding& f) const { return key() < f.key(); }
};
using Fault = std::pair<std::string, std::string>;  ///< fault, array

struct Truth {
    std::set<Fault> required;    ///< each has to be found
    std::set<Finding> allowed;   ///< nothing else may
    bool order_matters = false;  ///< a thread is stopped: what follows depends on when
    /// Some threads may wait at a barrier of the block and others at one of the warp: not the model's.
    bool beyond = false;
};

class Model {
  public:
    explicit Model(const Kernel& k) : k_(k), elements_(k.arrays.size()) {
        for (int block = 0; block < k.blocks; ++block) {
            std::vector<std::vector<unsigned>> sites;  // of the barriers that each thread comes to
            for (int thread = 0; thread < k.threads; ++thread) {
                at_ = {block, thread, 0, 0, Access::read, 0};
                sites_.clear();
                over_ = false;
                run(k.body, 0);
                sites.push_back(sites_);
            }
            barriers(sites);
        }
        races();
        truth.beyond = waits_in_warps_ && truth.required.count({"barrier", ""}) != 0;
    }
    Truth truth;

  private:
    void run(const std::vector<Statement>& list, int i) {
        for (const Statement& s : list) {
            if (over_) return;
            switch (s.kind) {
                case Statement::load:
                    access(s.array, s.index, i, Access::read, s.line);
                    break;
                case Statement::store:
                    access(s.array, s.index, i, Access::write, s.line);
                    break;
                case Statement::copy:
                    access(s.other, s.other_index, i, Access::read, s.line);
                    if (!over_) access(s.array, s.index, i, Access::write, s.line);
                    break;
                case Statement::atomic:
                    access(s.array, s.index, i, Access::atomic, s.line);
                    break;
                case Statement::barrier:
                    sites_.push_back(s.line);
                    ++at_.barriers;
                    break;
                case Statement::warp_barrier:
                    ++at_.warp_barriers;
                    waits_in_warps_ = true;
                    break;
                case Statement::shuffle:  // orders nothing
                    waits_in_warps_ = true;
                    break;
                case Statement::branch:
                    run(s.condition(at_.thread, at_.block) ? s.body : s.otherwise, i);
                    break;
                case Statement::loop:
                    for (int n = 0; n < (s.ragged ? at_.thread % (s.trips + 1) : s.trips) && !over_; ++n)
                        run(s.body, n);
                    break;
                case Statement::strided:
                    for (int n = at_.thread; n < s.trips && !over_; n += k_.threads)
                        touch(s.array, n, Access::write, s.line);
                    break;
                case Statement::leave:
                    if (s.condition(at_.thread, at_.block)) over_ = true;
                    break;
            }
        }
    }

    void access(int array, const Index& index, int i, Access access, unsigned line) {
        touch(array, index(at_.thread, at_.block, i), access, line);
    }

    void touch(int array, int element, Access access, unsigned line) {
        const ArrayOf& a = k_.arrays[static_cast<std::size_t>(array)];
        if (element < 0 || element >= a.length) {
            truth.required.insert({"bounds", a.name});
            truth.allowed.insert({"bounds", a.name, line, 0});
            truth.order_matters = true;
            over_ = true;  // the thread is stopped before it does harm
            return;
        }
        Event e = at_;
        e.access = access;
        e.line = line;
        elements_[static_cast<std::size_t>(array)][{a.shared ? at_.block : -1, element}].push_back(e);
    }

    bool ordered(const Event& a, const Event& b) const {
        if (a.block != b.block) return false;
        if (a.thread == b.thread || a.barriers != b.barriers) return true;
        return a.thread / 32 == b.thread / 32 && a.warp_barriers != b.warp_barriers;
    }
    /// Of two events that ordered() orders; events of one thread are in their order.
    static bool earlier(const Event& a, const Event& b) {
        return a.barriers != b.barriers ? a.barriers < b.barriers : a.warp_barriers < b.warp_barriers;
    }

    void races() {
        for (std::size_t array = 0; array < k_.arrays.size(); ++array) {
            const ArrayOf& a = k_.arrays[array];
            for (const auto& [where, events] : elements_[array]) {
                for (std::size_t i = 0; i < events.size(); ++i)
                    for (std::size_t j = 0; j < i; ++j) {
                        const Event &x = events[i], &y = events[j];
                        const bool harmless = (x.access == Access::read && y.access == Access::read) ||
                                              (x.access == Access::atomic && y.access == Access::atomic);
                        if (harmless || ordered(x, y)) continue;
                        truth.required.insert({"race", a.name});
                        truth.allowed.insert({"race", a.name, x.line, y.line});
                        truth.allowed.insert({"race", a.name, y.line, x.line});
                    }
                if (where.second < a.written) continue;
                for (std::size_t i = 0; i < events.size(); ++i) {
                    const Event& reader = events[i];
                    if (reader.access == Access::write) continue;
                    bool before = false, unordered = false;
                    for (std::size_t j = 0; j < events.size() && !before; ++j) {
                        const Event& writer = events[j];
                        if (j == i || writer.access == Access::read) continue;
                        if (!ordered(reader, writer))
                            unordered = true;
                        else if (writer.thread == reader.thread && writer.block == reader.block
                                     ? j < i
                                     : earlier(writer, reader))
                            before = true;
                    }
                    if (before) continue;
                    truth.allowed.insert({"uninitialised", a.name, reader.line, 0});
                    if (!unordered) truth.required.insert({"uninitialised", a.name});
                }
            }
        }
    }

    void barriers(const std::vector<std::vector<unsigned>>& sites) {
        std::size_t most = 0;
        for (const auto& s : sites) most = std::max(most, s.size());
        for (std::size_t round = 0; round < most; ++round) {
            std::set<unsigned> lines;
            bool missing = false;
            for (const auto& s : sites) {
                if (round < s.size())
                    lines.insert(s[round]);
                else
                    missing = true;
            }
            if (lines.size() == 1 && !missing) continue;
            truth.required.insert({"barrier", ""});
            for (const unsigned x : lines) {
                truth.allowed.insert({"barrier", "", x, 0});
                for (const unsigned y : lines) truth.allowed.insert({"barrier", "", x, y});
            }
        }
    }

    const Kernel& k_;
    std::vector<std::map<std::pair<int, int>, std::vector<Event>>> elements_;
    Event at_{};
    std::vector<unsigned> sites_;
    bool over_ = false;
    bool waits_in_warps_ = false;
};

// ---- Source text ------------------------------------------------------------------------------------------

class Writer {
  public:
    std::string text;
    unsigned line = 1;

    void add(const std::string& s) {
        text += s + "\n";
        ++line;
    }

    void kernel(Kernel& k, int number) {
        const std::string n = std::to_string(number);
        std::string parameters, arguments, arrays;
        for (const ArrayOf& a : k.arrays) {
            if (a.shared) continue;
            parameters += std::string(name_of(a.type)) + "* " + a.name + ", ";
            arguments += a.name + ".data, ";
            arrays += "    fuzz::Array<" + std::string(name_of(a.type)) + "> " + a.name + "(\"" + a.name +
                      "\", " + std::to_string(a.length) + ", " + std::to_string(a.written) + ");\n";
        }
        k.first_line = line;
        add("__global__ void kernel_" + n + "(" + parameters + "float* out) {");
        add("    const int t = static_cast<int>(threadIdx.x), b = static_cast<int>(blockIdx.x);");
        for (const ArrayOf& a : k.arrays)
            if (a.shared)
                add("    __shared__ " + std::string(name_of(a.type)) + " " + a.name + "[" +
                    std::to_string(a.length) + "];");
        add("    float sum = 0;");
        add("    const int i = 0;");
        statements(k, k.body, 1);
        add("    out[t + b * static_cast<int>(blockDim.x)] = sum + static_cast<float>(i);");
        add("}");
        k.last_line = line - 1;
        add("static void run_" + n + "() {");
        text += arrays;
        line += static_cast<unsigned>(std::count(arrays.begin(), arrays.end(), '\n'));
        add("    fuzz::Array<float> out(\"out\", " + std::to_string(k.blocks * k.threads) + ", 0);");
        add("    kernel_" + n + "<<<" + std::to_string(k.blocks) + ", " + std::to_string(k.threads) + ">>>(" +
            arguments + "out.data);");
        add("    cudaDeviceSynchronize();");
        add("}");
    }

  private:
    std::string element(const Kernel& k, int array, const Index& index) {
        return k.arrays[static_cast<std::size_t>(array)].name + "[" + index.text() + "]";
    }
    static std::string value(Type type) {
        const std::string v = "1 + t + b";
        if (type == Type::vectors) return "make_float4(1, 2, 3, static_cast<float>(" + v + "))";
        return "static_cast<" + std::string(name_of(type)) + ">(" + v + ")";
    }

    void statements(const Kernel& k, std::vector<Statement>& list, int depth) {
        const std::string pad(static_cast<std::size_t>(4 * depth), ' ');
        for (Statement& s : list) {
            s.line = line;
            const Type type = k.arrays[static_cast<std::size_t>(s.array)].type;
            const std::string target = element(k, s.array, s.index);
            switch (s.kind) {
                case Statement::load:
                    add(pad + (type == Type::vectors
                                   ? "{ const float4 v = " + target + "; sum += v.x + v.w; }"
                                   : "sum += static_cast<float>(" + target + ");"));
                    break;
                case Statement::store:
                    add(pad + target + " = " + value(type) + ";");
                    break;
                case Statement::copy: {
                    const Type from = k.arrays[static_cast<std::size_t>(s.other)].type;
                    const std::string source = element(k, s.other, s.other_index);
                    // Never the value that is there, which the compiler would not store.
                    const std::string scalar = from == Type::vectors ? "v.x + v.w + 1" : "v + 1";
                    add(pad + "{ const " + name_of(from) + " v = " + source + "; sum += static_cast<float>(" +
                        scalar + "); " + target + " = " +
                        (type == Type::vectors
                             ? "make_float4(static_cast<float>(" + scalar + "), 0, 0, 1)"
                             : "static_cast<" + std::string(name_of(type)) + ">(" + scalar + ")") +
                        "; }");
                    break;
                }
                case Statement::atomic:
                    add(pad + "atomicAdd(&" + target + ", 1);");
                    break;
                case Statement::barrier:
                    add(pad + "__syncthreads();");
                    break;
                case Statement::warp_barrier:
                    add(pad + "__syncwarp();");
                    break;
                case Statement::shuffle:
                    add(pad + "sum = __shfl_sync(0xffffffffu, sum, t);");
                    break;
                case Statement::branch:
                    add(pad + "if (" + s.condition.text() + ") {");
                    statements(k, s.body, depth + 1);
                    if (!s.otherwise.empty()) {
                        add(pad + "} else {");
                        statements(k, s.otherwise, depth + 1);
                    }
                    add(pad + "}");
                    break;
                case Statement::loop: {
                    const std::string trips = std::to_string(s.trips);
                    add(pad + "for (int i = 0; i < " +
                        (s.ragged ? "t % " + std::to_string(s.trips + 1) : trips) + "; ++i) {");
                    statements(k, s.body, depth + 1);
                    add(pad + "}");
                    break;
                }
                case Statement::strided:
                    add(pad + "for (int n = t; n < " + std::to_string(s.trips) +
                        "; n += static_cast<int>(blockDim.x))");
                    s.line = line;
                    add(pad + "    " + k.arrays[static_cast<std::size_t>(s.array)].name +
                        "[n] = " + value(type) + ";");
                    break;
                case Statement::leave:
                    add(pad + "if (" + s.condition.text() + ") return;");
                    break;
            }
        }
    }
};

// ---- Running them -----------------------------------------------------------------------------------------

struct Tools {
    std::filesystem::path folder;
    std::string compile;  ///< everything but the file names
    int seeds = 3;
};

int shell(const std::string& command) {
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

struct Outcome {
    std::set<Fault> missed;
    std::set<Finding> wrong;
    std::size_t faults = 0, found = 0, right = 0;
    bool bad() const { return !missed.empty() || !wrong.empty(); }
};

Finding parse(const std::string& kind, std::string array, unsigned line, unsigned other) {
    if (array == "-") array.clear();
    if (kind == "out-of-bounds") return {"bounds", array, line, 0};
    if (kind == "uninitialised") return {"uninitialised", array, line, 0};
    if (kind == "divergent-barrier") return {"barrier", "", line, other};
    if (kind == "exited-threads") return {"barrier", "", line, 0};
    if (kind == "read-write" || kind == "write-write" || kind == "atomic-read" || kind == "atomic-write")
        return {"race", array, line, other};
    return {kind, array, line, other};
}

/// Compares what one order found with the truth.
void judge(const Truth& truth, const std::vector<Finding>& found, Outcome& outcome) {
    if (truth.beyond) return;
    std::set<Fault> seen;
    for (const Finding& f : found) {
        // The compiler's own check of indices does not know the array's name, but its line; which may
        // be that of two.
        bool right = truth.allowed.count(f) != 0;
        if (!right && f.fault == "bounds" && f.array.empty())
            for (const Finding& a : truth.allowed)
                if (a.fault == "bounds" && a.line == f.line) right = true, seen.insert({a.fault, a.array});
        seen.insert({f.fault, f.array});
        if (right)
            ++outcome.right;
        else
            outcome.wrong.insert(f);
    }
    for (const Fault& fault : truth.required) {
        // A thread that is stopped may leave no trace of what its neighbours would have shown.
        if (truth.order_matters && (fault.first == "uninitialised" || fault.first == "barrier")) continue;
        ++outcome.faults;
        if (seen.count(fault))
            ++outcome.found;
        else
            outcome.missed.insert(fault);
    }
}

std::vector<Outcome> run_batch(std::vector<Kernel>& kernels, const Tools& tools, const std::string& name) {
    Writer writer;
    writer.add("#include \"check/tests/fuzz/driver.h\"");
    writer.add("namespace {");
    for (std::size_t n = 0; n < kernels.size(); ++n) writer.kernel(kernels[n], static_cast<int>(n));
    writer.add("}");
    std::string table;
    for (std::size_t n = 0; n < kernels.size(); ++n)
        table += "{" + std::to_string(n) + ", run_" + std::to_string(n) + "}, ";
    writer.add("const std::vector<fuzz::Case> fuzz::cases = {" + table + "};");
    const std::filesystem::path base = tools.folder / name;
    std::ofstream(base.string() + ".cu") << writer.text;
    const std::string quoted = "'" + base.string();
    const std::string command =
        std::string(FUZZ_CU2CPP) + " " + quoted + ".cu' -o " + quoted + ".cpp' && " + tools.compile + " -c " +
        quoted + ".cpp' -o " + quoted + ".o' && " + FUZZ_LINK + " " + quoted + ".o' -o " + quoted + "' " +
        FUZZ_LIBRARIES + " && " + quoted + "' " + std::to_string(tools.seeds) + " > " + quoted + ".txt'";
    if (shell(command) != 0) {
        std::cerr << "simt_fuzz: this failed: " << command << '\n';
        std::exit(2);
    }
    std::vector<std::vector<std::vector<Finding>>> found(
        kernels.size(), std::vector<std::vector<Finding>>(static_cast<std::size_t>(tools.seeds)));
    std::set<std::size_t> done;
    std::ifstream in(base.string() + ".txt");
    for (std::string text; std::getline(in, text);) {
        std::istringstream words(text);
        std::size_t number = 0, seed = 0;
        std::string kind, array;
        unsigned line = 0, other = 0;
        words >> number;
        if (text.find("done") != std::string::npos) {
            done.insert(number);
            continue;
        }
        words >> seed >> kind >> array >> line >> other;
        found.at(number).at(seed).push_back(parse(kind, array, line, other));
    }
    std::vector<Outcome> outcomes(kernels.size());
    for (std::size_t n = 0; n < kernels.size(); ++n) {
        const Model model(kernels[n]);
        if (!done.count(n)) outcomes[n].missed.insert({"the run did not end", ""});
        for (const auto& one_order : found[n]) judge(model.truth, one_order, outcomes[n]);
    }
    return outcomes;
}

/// All kernels that are `k` without one statement.
void without_one(const Kernel& k, std::vector<Statement>& list, Kernel& copy, std::vector<Kernel>& all) {
    for (std::size_t n = 0; n < list.size(); ++n) {
        const Statement taken = list[n];
        list.erase(list.begin() + static_cast<long>(n));
        all.push_back(copy);
        list.insert(list.begin() + static_cast<long>(n), taken);
        without_one(k, list[n].body, copy, all);
        without_one(k, list[n].otherwise, copy, all);
    }
}

Kernel shrink(Kernel k, const Tools& tools) {
    for (int round = 0; round < 8; ++round) {
        Kernel copy = k;
        std::vector<Kernel> smaller;
        without_one(k, copy.body, copy, smaller);
        if (smaller.empty()) return k;
        const std::vector<Outcome> outcomes = run_batch(smaller, tools, "shrink");
        std::size_t n = 0;
        while (n < outcomes.size() && !outcomes[n].bad()) ++n;
        if (n == outcomes.size()) return k;
        k = smaller[n];
    }
    return k;
}

void print(const Kernel& kernel, const Tools& tools) {
    std::vector<Kernel> one{kernel};
    const Outcome outcome = run_batch(one, tools, "example")[0];
    std::ifstream in((tools.folder / "example.cu").string());
    unsigned line = 0;
    for (std::string text; std::getline(in, text);)
        if (++line >= one[0].first_line) std::cout << line << ": " << text << '\n';
    for (const Fault& f : outcome.missed) std::cout << "missed: " << f.first << " of " << f.second << '\n';
    for (const Finding& f : outcome.wrong)
        std::cout << "wrong: " << f.fault << " of " << f.array << " at " << f.line << " and " << f.other
                  << '\n';
    for (const Finding& f : Model(one[0]).truth.allowed)
        std::cout << "  true: " << f.fault << " of " << f.array << " at " << f.line << " and " << f.other
                  << '\n';
}

}  // namespace

int main(int count, char** arguments) {
    std::uint64_t seed = 1;
    int kernels = 40, shown = 3;
    Tools tools;
    tools.compile = FUZZ_COMPILE;
    for (int n = 1; n + 1 < count; n += 2) {
        const std::string option = arguments[n];
        const auto number = std::strtoull(arguments[n + 1], nullptr, 10);
        if (option == "--seed") {
            seed = number;
        } else if (option == "--count") {
            kernels = static_cast<int>(number);
        } else if (option == "--orders") {
            tools.seeds = static_cast<int>(number);
        } else if (option == "--show") {
            shown = static_cast<int>(number);
        } else {
            std::cerr << "usage: simt_fuzz [--seed N] [--count N] [--orders N] [--show N]\n";
            return 2;
        }
    }
    char folder[] = "/tmp/simt-fuzz-XXXXXX";
    if (!mkdtemp(folder)) return 2;
    tools.folder = folder;

    Generator generator(seed);
    Outcome all;
    int clean = 0, bad = 0;
    constexpr int batch = 40;
    for (int begin = 0; begin < kernels; begin += batch) {
        std::vector<Kernel> list;
        while (static_cast<int>(list.size()) < std::min(kernels - begin, batch)) {
            Kernel k = generator.kernel();
            if (!Model(k).truth.beyond) list.push_back(std::move(k));
        }
        const std::vector<Outcome> outcomes = run_batch(list, tools, "batch");
        for (std::size_t n = 0; n < list.size(); ++n) {
            clean += Model(list[n]).truth.allowed.empty();
            all.faults += outcomes[n].faults;
            all.found += outcomes[n].found;
            all.right += outcomes[n].right;
            all.wrong.insert(outcomes[n].wrong.begin(), outcomes[n].wrong.end());
            if (!outcomes[n].bad()) continue;
            all.missed.insert(outcomes[n].missed.begin(), outcomes[n].missed.end());
            if (++bad > shown) continue;
            std::cout << "kernel " << begin + static_cast<int>(n) << " of seed " << seed
                      << ", made smaller:\n";
            print(shrink(list[n], tools), tools);
        }
    }
    std::filesystem::remove_all(tools.folder);
    const auto wrong = all.wrong.size();
    std::printf(
        "kernels %d (without a fault %d), orders %d\nrecall %.4f (%zu of %zu)\nprecision %.4f "
        "(%zu findings)\n",
        kernels, clean, tools.seeds,
        all.faults ? static_cast<double>(all.found) / static_cast<double>(all.faults) : 1.0, all.found,
        all.faults,
        all.right + wrong ? static_cast<double>(all.right) / static_cast<double>(all.right + wrong) : 1.0,
        all.right + wrong);
    return bad == 0 && all.faults > 0 ? 0 : 1;
}
