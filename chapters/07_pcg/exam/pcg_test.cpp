// What the contract of chapter 7 promises, checked on every rung of the ladder. Each rung has its own tests,
// under its own tag: `[04_cg]`.

#include <cuda_runtime.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exam/reference.hpp"
#include "pcg.cuh"
#include "rungs/call.hpp"
#include "rungs/catch.hpp"
#include "rungs/contract_test.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"
#include "rungs/random.hpp"
#include "rungs/stream.cuh"

std::unique_ptr<rungs::Exam> make_exam_07_pcg();

namespace {

using pcg::Field;
using pcg::Grid;
using pcg::Rung;
using rungs::DeviceBuffer;

const std::unique_ptr<rungs::Exam> exam = make_exam_07_pcg();

/// The problems of a rung.
std::vector<std::string> problems_of(const Rung& rung) {
    if (rung.apply) return {"apply", "apply_double"};
    if (rung.solve) return {"cg", "cg_double"};
    if (std::string(rung.method) == "mixed") return {"mixed"};
    return {"multigrid", "precondition"};
}

/// The launcher that solves a problem, called with arguments in the contract's order.
void invoke(const Rung& rung, const std::string& problem, const rungs::Call& call) {
    if (problem == "apply") return rungs::invoke(rung.apply, call);
    if (problem == "apply_double") return rungs::invoke(rung.apply_double, call);
    if (problem == "cg") return rungs::invoke(rung.solve, call);
    if (problem == "precondition")
        return rungs::invoke(static_cast<pcg::Precondition*>(pcg::multigrid), call);
    return rungs::invoke(rung.solve_double, call);
}

/// One array of a task in device memory, with 0xff bytes around it: NaN for the types that are used here.
class Operand {
  public:
    explicit Operand(const rungs::Array& array)
        : array_(array), skip_(array.misalignment * size_of(array.element)) {
        poison();
    }
    /// As it was at first.
    void poison() {
        std::vector<unsigned char> framed(skip_ + size() + 256, 0xff);
        if (!array_.bytes.empty()) std::memcpy(framed.data() + skip_, array_.bytes.data(), size());
        if (buffer_.size() == 0) buffer_ = DeviceBuffer<unsigned char>(framed.size());
        buffer_.copy_from(framed);
    }
    unsigned char* data() { return buffer_.data() + skip_; }
    std::size_t size() const { return array_.count * size_of(array_.element); }
    rungs::Array to_host() const {
        const std::vector<unsigned char> all = buffer_.to_host();
        rungs::Array array = array_;
        array.bytes.resize(size());
        if (size() > 0) std::memcpy(array.bytes.data(), all.data() + skip_, size());
        return array;
    }
    /// Whether all around the elements is as it was.
    bool frame_is_whole() const {
        const std::vector<unsigned char> all = buffer_.to_host();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if ((i < skip_ || i >= skip_ + size()) && all[i] != 0xff) return false;
        }
        return true;
    }
    bool is_as_given() const { return to_host().bytes == array_.bytes; }

  private:
    rungs::Array array_;
    std::size_t skip_;
    DeviceBuffer<unsigned char> buffer_;
};

/// A case of the exam in device memory.
class Call {
  public:
    explicit Call(const rungs::Case& which) : which_(which), task_(exam->make(which)), in_(task_.inputs[0]) {
        for (const rungs::Array& array : task_.outputs) out_.emplace_back(array);
        for (const rungs::Number& number : task_.numbers) {
            numbers_.push_back(number.is_integer ? rungs::Scalar::of(number.integer)
                                                 : rungs::Scalar::of(number.real));
        }
    }
    void run(const Rung& rung, cudaStream_t stream = nullptr) {
        const void* const in = in_.data();
        std::vector<void*> out;
        for (Operand& operand : out_) out.push_back(operand.data());
        rungs::Call call;
        call.inputs = &in, call.input_count = 1;
        call.outputs = out.data(), call.output_count = out.size();
        call.scalars = numbers_.data(), call.scalar_count = numbers_.size();
        call.stream = stream;
        invoke(rung, which_.problem, call);
    }
    void require(const Rung& rung) const {
        std::vector<rungs::Array> outputs;
        for (const Operand& operand : out_) outputs.push_back(operand.to_host());
        const rungs::Check result = exam->check(which_, task_, outputs);
        CAPTURE(rung.name, which_.problem, which_.sizes, which_.kind, which_.seed, result.error,
                result.cause);
        REQUIRE(result.passed);
    }
    void poison() {
        for (Operand& operand : out_) operand.poison();
    }
    Operand& in() { return in_; }
    std::vector<Operand>& out() { return out_; }
    std::vector<rungs::Scalar>& numbers() { return numbers_; }
    Field field(std::size_t output = 0) const { return values(out_[output].to_host()); }
    Field given() const { return values(task_.inputs[0]); }
    std::vector<int> outcome() const {
        const rungs::Array array = out_[2].to_host();
        return {array.as<int>().begin(), array.as<int>().end()};
    }

  private:
    static Field values(const rungs::Array& array) {
        if (array.element == rungs::Element::f32) return {array.as<float>().begin(), array.as<float>().end()};
        return {array.as<double>().begin(), array.as<double>().end()};
    }
    rungs::Case which_;
    rungs::Task task_;
    Operand in_;
    std::vector<Operand> out_;
    std::vector<rungs::Scalar> numbers_;
};

bool solves(const std::string& problem) {
    return problem.substr(0, 5) != "apply" && problem != "precondition";
}

// The promises. Each is a function of one rung; the table at the end makes a test of each pair.

void passes_every_case_of_the_exam(const Rung& rung) {
    const rungs::Manifest manifest = rungs::read_manifest(RUNGS_CHAPTER_FOLDER);
    const auto backend = rungs::on_a_gpu() ? rungs::Backend::cuda : rungs::Backend::cpu;
    const rungs::RungEntry* entry = manifest.find(rung.name);
    REQUIRE(entry);
    REQUIRE(entry->problems == problems_of(rung));
    for (const rungs::Case& which : manifest.cases_of(*entry, backend, rungs::exam_key())) {
        Call call(which);
        call.run(rung);
        call.require(rung);
    }
}

void does_nothing_on_a_grid_of_no_cells(const Rung& rung) {
    DeviceBuffer<double> history(std::vector<double>(4, -1.0));
    DeviceBuffer<int> outcome(std::vector<int>{-1, -1});
    for (const int d : {1, 3, 6}) {
        if (rung.apply)
            rung.apply(nullptr, nullptr, d, 0, nullptr), rung.apply_double(nullptr, nullptr, d, 0, nullptr);
        for (const bool single : {true, false}) {
            if (single ? !rung.solve : !rung.solve_double) continue;
            outcome.copy_from(std::vector<int>{-1, -1});
            if (single) {
                rung.solve(nullptr, nullptr, history.data(), outcome.data(), d, 0, 3, 1e-6, nullptr);
            } else {
                rung.solve_double(nullptr, nullptr, history.data(), outcome.data(), d, 0, 3, 1e-6, nullptr);
            }
            CHECK(outcome.to_host() == std::vector<int>{pcg::converged, 0});
            CHECK(history.to_host()[0] == 0);
            CHECK(std::isnan(history.to_host()[3]));
        }
    }
    CUDA_CHECK(cudaDeviceSynchronize());
}

void refuses_what_is_no_grid(const Rung& rung) {
    for (const std::string& problem : problems_of(rung)) {
        CAPTURE(problem);
        for (const auto& [d, side, limit] :
             {std::tuple{0, 4, 3}, {7, 2, 3}, {-1, 4, 3}, {3, -1, 3}, {3, 4, -1}}) {
            if (limit < 0 && !solves(problem)) continue;
            Call call({problem, {3, 4}, "random"});
            call.numbers()[0].integer = d, call.numbers()[1].integer = side;
            if (solves(problem)) call.numbers()[2].integer = limit;
            CAPTURE(d, side, limit);
            CHECK_THROWS_AS(call.run(rung), std::invalid_argument);
        }
    }
}

void can_be_called_again_and_again(const Rung& rung) {
    // Many calls without a wait between them, of different sizes: what one leaves in scratch memory must not
    // reach the next.
    for (const std::string& problem : problems_of(rung)) {
        std::vector<std::unique_ptr<Call>> calls;
        for (const std::vector<long long>& sizes :
             {std::vector<long long>{2, 17}, {1, 1}, {3, 0}, {3, 7}, {1, 33}, {4, 4}}) {
            calls.push_back(std::make_unique<Call>(rungs::Case{problem, sizes, "random", 4}));
        }
        for (int round = 0; round < 2; ++round) {
            for (auto& call : calls) call->poison();
            for (auto& call : calls) call->run(rung);
            for (auto& call : calls) call->require(rung);
        }
    }
}

void leaves_input_and_neighbours_alone(const Rung& rung) {
    for (const std::string& problem : problems_of(rung)) {
        for (const std::vector<long long>& sizes : {std::vector<long long>{1, 1}, {2, 5}, {3, 8}, {2, 33}}) {
            Call call({problem, sizes, "unaligned", 2});
            call.run(rung);
            CAPTURE(problem, sizes);
            CHECK(call.in().is_as_given());
            CHECK(call.in().frame_is_whole());
            for (Operand& out : call.out()) CHECK(out.frame_is_whole());
        }
    }
}

void works_in_the_stream_it_is_given(const Rung& rung) {
    // The data arrive late in `stream`: work in any other stream would see what was there before.
    for (const std::string& problem : problems_of(rung)) {
        const rungs::Stream stream;
        Call call({problem, {2, 13}, "random", 1}), other({problem, {2, 13}, "random", 2});
        Operand late(exam->make({problem, {2, 13}, "random", 1}).inputs[0]);
        CUDA_CHECK(cudaMemcpy(call.in().data(), other.in().data(), late.size(), cudaMemcpyDeviceToDevice));
        CUDA_CHECK(cudaDeviceSynchronize());
        const auto wait = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
        CUDA_CHECK(cudaLaunchHostFunc(stream.get(), wait, nullptr));
        CUDA_CHECK(cudaMemcpyAsync(call.in().data(), late.data(), late.size(), cudaMemcpyDeviceToDevice,
                                   stream.get()));
        call.run(rung, stream.get());
        stream.sync();
        call.require(rung);
    }
}

void keeps_two_streams_apart(const Rung& rung) {
    const rungs::Stream streams[2];
    std::vector<std::unique_ptr<Call>> calls;
    for (const std::string& problem : problems_of(rung)) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            calls.push_back(std::make_unique<Call>(
                rungs::Case{problem, {2, 9 + static_cast<long long>(seed)}, "random", seed}));
        }
    }
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i]->run(rung, streams[i % 2].get());
    for (const auto& stream : streams) stream.sync();
    for (const auto& call : calls) call->require(rung);
}

void serves_two_host_threads(const Rung& rung) {
    std::vector<std::unique_ptr<Call>> calls;
    // Of different sizes, which ask for different amounts of shared memory.
    for (const long long side : {6, 13})
        calls.push_back(std::make_unique<Call>(rungs::Case{problems_of(rung)[0], {3, side}, "random", 1}));
    std::vector<std::thread> threads;
    for (auto& call : calls) {
        threads.emplace_back([&] {
            const rungs::Stream stream;
            for (int round = 0; round < 3; ++round) call->run(rung, stream.get());
            stream.sync();
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& call : calls) call->require(rung);
}

/// Of the operators, A itself; of the preconditioner, what the exam sees in one call.
void is_symmetric_and_positive_definite(const Rung& rung) {
    for (const std::string& problem : problems_of(rung)) {
        for (int d = 1; d <= pcg::most_dimensions; ++d) {
            const long long side = d < 3 ? 11 : 3;
            Call u({problem, {d, side}, "random", 1}), v({problem, {d, side}, "random", 2});
            u.run(rung), v.run(rung);
            const double here = pcg::dot(u.given(), v.field()), there = pcg::dot(v.given(), u.field());
            const double size = pcg::dot(u.given(), u.field());
            CAPTURE(problem, d, here, there);
            CHECK(size > 0);
            CHECK(std::abs(here - there) <= (problem == "apply" ? 1e-5 : 1e-13) * size);
        }
    }
}

/// The error's A-norm never grows, whatever ||r|| does in between: stopped after 0, 1, 2, ... iterations.
void comes_nearer_in_every_iteration(const Rung& rung) {
    if (rung.apply) return;
    for (const std::string& problem : problems_of(rung)) {
        if (!solves(problem)) continue;
        for (const auto& [d, side] : {std::pair{1, 19}, {2, 9}, {3, 5}}) {
            const Grid grid{d, side};
            double before = std::numeric_limits<double>::infinity();
            const int most = rung.solve ? 9 : 3;
            for (int k = 0; k <= most; ++k) {
                Call call({problem, {d, side, k}, "limit", 6});
                call.run(rung);
                if (call.outcome()[0] != pcg::limit_reached) break;  // solved to the last bit
                Field error = pcg::solution(grid, call.given());
                const double whole = pcg::norm_in(grid, error);
                const Field x = call.field();
                for (std::size_t i = 0; i < error.size(); ++i) error[i] -= x[i];
                const double now = pcg::norm_in(grid, error);
                CAPTURE(problem, d, side, k);
                if (before > 1e-6 * whole) CHECK(now < before);
                before = now;
            }
        }
    }
}

/// Its squares may be smaller than any normal number: 1 divided by one of them is none.
void goes_on_where_squares_are_subnormal(const Rung& rung) {
    if (!rung.solve_double) return;
    constexpr int d = 2, side = 7, limit = 400;
    const auto n = static_cast<std::size_t>(pcg::cells(d, side));
    std::vector<double> b(n);
    const std::vector<float> random = rungs::random_field(n, 5, rungs::signed_uniform);
    for (std::size_t i = 0; i < n; ++i) b[i] = std::ldexp(static_cast<double>(random[i]), -490);
    const DeviceBuffer<double> given(b);
    DeviceBuffer<double> x(n), history(limit + 1);
    DeviceBuffer<int> outcome(2);
    rung.solve_double(given.data(), x.data(), history.data(), outcome.data(), d, side, limit, 1e-10, nullptr);
    CHECK(outcome.to_host()[0] == pcg::converged);
}

void marks_the_rest_of_the_history(const Rung& rung) {
    for (const std::string& problem : problems_of(rung)) {
        if (!solves(problem)) continue;
        Call call({problem, {2, 7}, "random", 3});
        call.run(rung);
        const Field history = call.field(1);
        const auto k = static_cast<std::size_t>(call.outcome()[1]);
        REQUIRE(k + 3 < history.size());
        for (std::size_t i = 0; i <= k; ++i) REQUIRE(history[i] >= 0);
        for (std::size_t i = k + 1; i < history.size(); ++i) REQUIRE(std::isnan(history[i]));
    }
}

/// More than 2^31 cells, in 17 GB of device memory: only where there is as much.
void counts_past_two_to_the_31(const Rung& rung) {
    constexpr int side = 1291;  // 2^31 is between 1290^3 and this
    constexpr long long n = pcg::cells(3, side);
    if (!rungs::on_a_gpu()) RUNGS_SKIP("2 billion cells are a matter for a GPU");
    std::size_t free = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    if (free < 2 * sizeof(float) * n + (1u << 30)) RUNGS_SKIP("the GPU has no 18 GB for 2 billion cells");
    DeviceBuffer<float> u(n), y(n);
    u.fill_bytes(0), y.fill_bytes(0xff);
    const long long at =
        n - 1 - side;  // all coordinates but one are the last; next to the last cell of its column
    const float one = 1;
    CUDA_CHECK(cudaMemcpy(u.data() + at, &one, sizeof one, cudaMemcpyHostToDevice));
    rung.apply(u.data(), y.data(), 3, side, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    const auto value = [&](long long i) {
        float result = 0;
        CUDA_CHECK(cudaMemcpy(&result, y.data() + i, sizeof result, cudaMemcpyDeviceToHost));
        return result;
    };
    CHECK(value(at) == 6);
    for (const long long i : {at - 1, at - side, at + side, at - 1LL * side * side}) CHECK(value(i) == -1);
    for (const long long i : {at + 1, at - 2, 0LL, n - 2, at - (1LL << 31)}) CHECK(value(i) == 0);
}

using Promise = void (*)(const Rung&);

constexpr std::pair<Promise, const char*> promises[] = {
    {passes_every_case_of_the_exam, "passes every case of the exam"},
    {does_nothing_on_a_grid_of_no_cells, "does nothing on a grid of no cells"},
    {refuses_what_is_no_grid, "refuses what is no grid"},
    {can_be_called_again_and_again, "can be called again and again"},
    {leaves_input_and_neighbours_alone, "leaves input and neighbours alone"},
    {works_in_the_stream_it_is_given, "works in the stream it is given"},
    {keeps_two_streams_apart, "keeps two streams apart"},
    {serves_two_host_threads, "serves two host threads"},
};
constexpr std::pair<Promise, const char*> of_operators[] = {
    {is_symmetric_and_positive_definite, "is symmetric and positive definite"},
    {counts_past_two_to_the_31, "counts past 2^31"},
};
constexpr std::pair<Promise, const char*> of_solves[] = {
    {comes_nearer_in_every_iteration, "comes nearer in every iteration"},
    {goes_on_where_squares_are_subnormal, "goes on where squares are subnormal"},
    {marks_the_rest_of_the_history, "marks the rest of the history as not reached"},
};

const bool registered = rungs::register_promises<pcg::rungs, promises>("07_pcg") &&
                        rungs::register_promises<pcg::rungs, of_operators>(
                            "07_pcg", [](const Rung& rung) { return rung.apply != nullptr; }) &&
                        rungs::register_promises<pcg::rungs, of_solves>(
                            "07_pcg", [](const Rung& rung) { return rung.solve_double != nullptr; });

}  // namespace

TEST_CASE("the contract's table and the manifest name the same rungs", "[07_pcg]") {
    const rungs::Manifest manifest = rungs::read_manifest(RUNGS_CHAPTER_FOLDER);
    REQUIRE(std::size(pcg::rungs) == manifest.rungs.size());
    for (std::size_t i = 0; i < manifest.rungs.size(); ++i)
        CHECK(pcg::rungs[i].name == manifest.rungs[i].name);
}
