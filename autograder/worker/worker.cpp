// The untrusted half of a graded executable: takes requests from the judge, calls the rung, hands the
// outputs back. It shares its process with the submission, so it holds nothing worth stealing or forging:
// no expected value, no seed, no clock that counts, no verdict.

#include <cuda_runtime.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "protocol/launches.hpp"
#include "protocol/protocol.hpp"
#include "rungs/call.hpp"
#include "rungs/cuda_check.cuh"
#include "rungs/cuda_error.hpp"
#include "worker/checks.hpp"

#ifdef RUNGS_SIMT
#include "simt/inspect/control.h"
#endif

/// Generated for each rung: one entry a problem.
extern const rungs::Entry rungs_entries[];
extern const int rungs_entry_count;
/// Generated too: lets the device find all pages of `memory` again, after other processes have used it.
void rungs_warm(const void* memory, std::size_t bytes);

namespace {

using namespace rungs::protocol;
using rungs::Call;
using rungs::Scalar;

/// A CUDA call of ours or of the rung that failed.
struct CudaFailure {
    cudaError_t code;
    const char* where;
};

void check(cudaError_t code, const char* where) {
    if (code != cudaSuccess) throw CudaFailure{code, where};
}

/// Without memory and pipes there is nothing to work with; the judge sees the worker end.
[[noreturn]] void give_up(const char* what) {
    std::fprintf(stderr, "rungs worker: %s: %s\n", what, std::strerror(errno));
    _exit(97);
}

unsigned char* map(int descriptor, int protection) {
    struct stat status {};
    if (fstat(descriptor, &status) != 0) give_up("shared memory is missing");
    void* address =
        mmap(nullptr, static_cast<std::size_t>(status.st_size), protection, MAP_SHARED, descriptor, 0);
    if (address == MAP_FAILED) give_up("cannot map shared memory");
    return static_cast<unsigned char*>(address);
}

bool receive(Word& word) {
#ifndef RUNGS_SIMT
    // The judge's clock runs from its word on. Being woken takes longer, and varies more, than a fast kernel.
    const auto awake_until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    pollfd pipe{go_pipe, POLLIN, 0};
    while (poll(&pipe, 1, 0) == 0 && std::chrono::steady_clock::now() < awake_until) {
    }
#endif
    for (;;) {
        const ssize_t got = read(go_pipe, &word, sizeof word);
        if (got == static_cast<ssize_t>(sizeof word)) return true;
        if (got < 0 && errno == EINTR) continue;
        return false;
    }
}

void send(const Word& word) {
    while (write(done_pipe, &word, sizeof word) < 0 && errno == EINTR) {
    }
}

#ifdef RUNGS_SIMT
/// Only on a GPU is there device memory that two processes could share.
class Arena {
  public:
    unsigned char* open(const unsigned char (&)[64]) {
        throw CudaFailure{cudaErrorNotSupported, "opening the judge's memory"};
    }
};
#else
/// The judge's device memory; opened once for a handle.
class Arena {
  public:
    unsigned char* open(const unsigned char (&handle)[64]) {
        if (base_ && std::memcmp(handle, handle_, sizeof handle) == 0) return base_;
        close();
        cudaIpcMemHandle_t ipc;
        static_assert(sizeof ipc == sizeof handle);
        std::memcpy(&ipc, handle, sizeof ipc);
        void* base = nullptr;
        check(cudaIpcOpenMemHandle(&base, ipc, cudaIpcMemLazyEnablePeerAccess), "opening the judge's memory");
        base_ = static_cast<unsigned char*>(base);
        std::memcpy(handle_, handle, sizeof handle);
        return base_;
    }

  private:
    void close() {
        if (base_) check(cudaIpcCloseMemHandle(base_), "closing the judge's memory");
        base_ = nullptr;
    }

    unsigned char* base_ = nullptr;
    unsigned char handle_[64] = {};
};
#endif

/// Where listeners without an argument of ours find the answer that is being made.
Reply* answer = nullptr;

[[noreturn]] void claim_memory() {
    answer->claim = Claim::out_of_memory;
    throw std::bad_alloc();
}

#ifdef RUNGS_SIMT
void claim_report(const std::string& text, bool deadlock) {
    if (deadlock) answer->claim = Claim::deadlock;
    const std::size_t length = strnlen(answer->report, sizeof answer->report - 1);
    std::snprintf(answer->report + length, sizeof answer->report - length, "%s", text.c_str());
}
#endif

#ifdef RUNGS_SIMT
/// What rungs::stream_scratch has given.
struct Scratch {
    const void* memory;
    std::size_t bytes;
};
std::mutex scratch_mutex;
std::vector<Scratch> scratch;

/// Of all of it, what is not 0 although no kernel runs.
void look_at_scratch(Reply& reply) {
    const std::lock_guard<std::mutex> lock(scratch_mutex);
    std::vector<unsigned char> content;
    for (const Scratch& one : scratch) {
        content.resize(one.bytes);
        if (cudaMemcpy(content.data(), one.memory, one.bytes, cudaMemcpyDeviceToHost) != cudaSuccess) {
            cudaGetLastError();  // it has been freed
            continue;
        }
        for (std::size_t i = 0; i < content.size(); ++i) {
            if (content[i] == 0) continue;
            if (reply.scratch_left++ == 0) reply.scratch_first = i;
        }
    }
}
#else
void look_at_scratch(Reply&) {}
#endif

class WorkerLoop {
  public:
    WorkerLoop() : in_(map(in_memory, PROT_READ)), out_(map(out_memory, PROT_READ | PROT_WRITE)) {
        answer = reinterpret_cast<Reply*>(out_);
        std::set_new_handler(claim_memory);
#ifdef RUNGS_SIMT
        simt::set_report_listener(claim_report);
#endif
    }

    /// For one call that a file holds, without a judge: under compute-sanitizer or a profiler.
    explicit WorkerLoop(int file)
        : in_(map(file, PROT_READ)), alone_(request().arena_bytes), out_(alone_.data()) {}

    /// That call. @returns whether it succeeded
    bool run_once() {
        Reply& reply = *reinterpret_cast<Reply*>(out_);
        attempt({1, all_steps, 0}, reply);
        if (reply.status != Status::done) std::fprintf(stderr, "rungs worker: %s\n", reply.text);
        return reply.status == Status::done;
    }

    void serve() {
        check(cudaFree(nullptr), "starting CUDA");  // creates the context, outside every clock
        learn_from([] { rungs_warm(nullptr, 0); });
        cudaGetLastError();  // what does not start here will say so when the rung does not
        send({ready_sequence, 0, 0});
        Word word;
        while (receive(word)) {
            Reply& reply = *reinterpret_cast<Reply*>(out_);
            attempt(word, reply);
            reply.sequence = word.sequence;
            send(word);
        }
    }

  private:
    /// Check mode watches while this lives.
    struct CheckGuard {
        explicit CheckGuard(const Request& asked) {
            begin_checks(asked.order, asked.launch_seconds);
            if (asked.count) begin_counting(asked.l2_bytes, asked.trace_block, asked.trace_warp);
        }
        ~CheckGuard() { end_checks(std::uncaught_exceptions() == 0); }
        CheckGuard(const CheckGuard&) = delete;
        CheckGuard& operator=(const CheckGuard&) = delete;
    };

    struct Buffer {
        void* allocation = nullptr;  ///< none in the judge's arena
        unsigned char* region = nullptr;
    };

    const Request& request() const { return *reinterpret_cast<const Request*>(in_); }

    void attempt(const Word& word, Reply& reply) {
        reply.status = Status::nothing;
        reply.text[0] = 0;
        reply.scratch_left = reply.scratch_first = 0;
        try {
            if (word.steps & touch) touch_device();
            if (word.steps & prepare) prepare_buffers();
            if (word.steps & run) {
                const CheckGuard guard(request());
                const auto start = std::chrono::steady_clock::now();
                call_rung(reply);
                const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
                reply.seconds = took.count();
            }
            if (word.steps & fetch) fetch_buffers();
            if (word.steps & report) write_report(reply);
            reply.status = Status::done;
        } catch (const CudaFailure& failure) {
            const bool memory = failure.code == cudaErrorMemoryAllocation;
            say(reply, memory ? Status::out_of_memory : Status::cuda_error, failure.where,
                cudaGetErrorName(failure.code), cudaGetErrorString(failure.code));
            cudaGetLastError();
        } catch (const rungs::CudaError& error) {
            const bool memory = error.code() == cudaErrorMemoryAllocation;
            // It begins with the file: without its folders, which are the build's and soon gone.
            const char* const what = error.what() + (error.file().rfind('/') + 1);
            say(reply, memory ? Status::out_of_memory : Status::exception, "", what, "");
            cudaGetLastError();
        } catch (const std::bad_alloc& error) {
            say(reply, Status::out_of_memory, "host memory", error.what(), "");
        } catch (const std::exception& error) {
            say(reply, Status::exception, "", error.what(), "");
            cudaGetLastError();  // what was thrown already reports it
        } catch (...) {
            say(reply, Status::exception, "", "something that is not a std::exception", "");
        }
        refuse_launches(false);
        watch_host(false);
        const Launches count = launches();
        reply.counts_launches = count.known ? 1 : 0;
        reply.launches = count.count;
        reply.to_host = count.to_host;
        reply.kinds = static_cast<std::uint32_t>(take_launch_kinds(reply.kind, max_launch_kinds));
    }

    static void say(Reply& reply, Status status, const char* where, const char* what, const char* more) {
        reply.status = status;
        std::snprintf(reply.text, sizeof reply.text, "%s%s%s%s%s", where, *where ? ": " : "", what,
                      *more ? ": " : "", more);
    }

    void touch_device() {
        if (!touched_) check(cudaMalloc(&touched_, 4), "allocating device memory");
        check(cudaMemsetAsync(touched_, 0, 4), "clearing four bytes");
        check(cudaDeviceSynchronize(), "clearing four bytes");
    }

    void release() {
        for (const Buffer& buffer : buffers_) {
            if (buffer.allocation) check(cudaFree(buffer.allocation), "freeing device memory");
        }
        buffers_.clear();
    }

    void prepare_buffers() {
        release();
        const Request& asked = request();
        const std::size_t count = std::size_t{asked.calls} * (asked.inputs + asked.outputs);
        unsigned char* arena = asked.use_arena ? arena_.open(asked.arena_handle) : nullptr;
        for (std::size_t i = 0; i < count; ++i) {
            const Region& region = asked.region[i];
            if (arena) {
                buffers_.push_back({nullptr, arena + region.arena_offset});
                continue;
            }
            if (asked.exact) {
                prepare_exactly(region, i < asked.inputs);
                continue;
            }
            void* memory = nullptr;
            check(cudaMalloc(&memory, region.shift + region.bytes), "allocating device memory");
            buffers_.push_back({memory, static_cast<unsigned char*>(memory) + region.shift});
            check(cudaMemcpy(buffers_.back().region, in_ + region.in_offset, region.bytes,
                             cudaMemcpyHostToDevice),
                  "copying to the device");
            // An array is as large as it says, and an output has no value yet: only the checks know that. To
            // the rung addresses and what lies around its arrays are those of run mode.
            if (in_check_mode() && region.elements > 0)
                narrow_buffer(buffers_.back().region + region.lead, region.elements, region.name,
                              i < asked.inputs);
        }
        if (arena) rungs_warm(arena, asked.arena_bytes);
        check(cudaDeviceSynchronize(), "copying to the device");
    }

    /// For other tools, which go by allocations.
    void prepare_exactly(const Region& region, bool input) {
        const std::uint64_t skip = region.skip, size = region.elements;
        Buffer buffer;
        if (size > 0) {
            check(cudaMalloc(&buffer.allocation, skip + size), "allocating device memory");
            unsigned char* first = static_cast<unsigned char*>(buffer.allocation) + skip;
            if (input) {
                check(cudaMemcpy(first, in_ + region.in_offset + region.lead, size, cudaMemcpyHostToDevice),
                      "copying to the device");
            }
            buffer.region = first - region.lead;  // where it would begin
        }
        buffers_.push_back(buffer);
    }

    void write_report(Reply& reply) {
        const Request& asked = request();
        std::vector<std::uint64_t> addresses;
        const std::vector<char> text = report_checks(reinterpret_cast<const char*>(in_ + asked.places_offset),
                                                     asked.places_bytes, addresses);
        const void* from = addresses.empty() ? static_cast<const void*>(text.data()) : addresses.data();
        const std::size_t bytes = addresses.empty() ? text.size() : addresses.size() * sizeof addresses[0];
        if (bytes > asked.report_bytes) throw std::length_error("the report is too long");
        std::memcpy(out_ + asked.report_offset, from, bytes);
        reply.report_bytes = addresses.empty() ? bytes : 0;
        reply.addresses = addresses.size();
    }

    void call_rung(Reply& reply) {
        const Request& asked = request();
        const rungs::Entry* entry = nullptr;
        for (int i = 0; i < rungs_entry_count; ++i) {
            if (std::strcmp(rungs_entries[i].problem, asked.problem) == 0) entry = &rungs_entries[i];
        }
        if (!entry) throw std::invalid_argument("no such problem: " + std::string(asked.problem));

        Scalar scalars[max_numbers];
        for (std::size_t i = 0; i < asked.numbers; ++i) {
            const Number& number = asked.number[i];
            scalars[i] = number.is_integer ? Scalar::of(static_cast<long long>(number.integer))
                                           : Scalar::of(number.real);
        }
        std::vector<const void*> inputs(asked.inputs);
        std::vector<void*> outputs(asked.outputs);
        for (std::uint32_t call = 0; call < asked.calls; ++call) {
            const std::size_t first = std::size_t{call} * (asked.inputs + asked.outputs);
            for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = element(first + i);
            for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = element(first + inputs.size() + i);
            Call arguments;
            arguments.stream = stream();
            arguments.inputs = inputs.data();
            arguments.input_count = inputs.size();
            arguments.outputs = outputs.data();
            arguments.output_count = outputs.size();
            arguments.scalars = scalars;
            arguments.scalar_count = asked.numbers;
            if (asked.refuse) {
                refuse_launches(true);
                entry->run(arguments);  // a launcher that reports it throws
                refuse_launches(false);
                cudaGetLastError();
                return;
            }
            watch_host(!asked.use_arena);
            entry->run(arguments);
            watch_host(false);
            if (in_check_mode() && !asked.count) read_outputs(outputs, first + inputs.size());
        }
        end_checks(true);  // the wait below is ours: it must not be counted
        check(cudaGetLastError(), "after the launch");
        check(cudaDeviceSynchronize(), "while the kernel ran");
        check(cudaGetLastError(), "after the kernel");
        look_at_scratch(reply);
    }

    /// The stream that a rung is given, one that the default stream does not wait for: what the rung queues
    /// elsewhere is in no order with what comes in the stream. The same in every mode, which a rung could
    /// otherwise tell by it.
    cudaStream_t stream() {
        if (!stream_) check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
        return stream_;
    }

    /// What the contract allows the caller: to use the outputs in the stream, without a wait.
    void read_outputs(const std::vector<void*>& outputs, std::size_t first) {
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            const Region& region = request().region[first + i];
            if (region.elements == 0) continue;
            check(cudaMemcpyAsync(out_ + region.out_offset + region.lead, outputs[i], region.elements,
                                  cudaMemcpyDeviceToHost, stream_),
                  "copying from the device");
        }
    }

    /// Null for an empty array, as cudaMalloc() of no bytes gives it.
    unsigned char* element(std::size_t index) const {
        const Region& region = request().region[index];
        if (region.elements == 0) return nullptr;
        return buffers_.at(index).region + region.lead;
    }

    /// Inputs too: the judge wants to know whether they were written to.
    void fetch_buffers() {
        const Request& asked = request();
        for (std::size_t i = 0; i < buffers_.size(); ++i) {
            const Region& region = asked.region[i];
            // Without what lies around it, if that has no value.
            const bool alone = asked.exact || in_check_mode();
            const std::size_t bytes = alone ? region.elements : region.bytes;
            if (bytes == 0) continue;
            check(cudaMemcpy(out_ + region.out_offset + (alone ? region.lead : 0),
                             alone ? element(i) : buffers_[i].region, bytes, cudaMemcpyDeviceToHost),
                  "copying from the device");
        }
        release();
    }

    const unsigned char* in_;
    std::vector<unsigned char> alone_;  ///< in place of shared memory
    unsigned char* out_;
    cudaStream_t stream_ = nullptr;  ///< see stream()
    std::vector<Buffer> buffers_;
    void* touched_ = nullptr;
    Arena arena_;
};

}  // namespace

#ifdef RUNGS_SIMT
/// rungs/scratch.cuh announces its memory.
extern "C" void rungs_note_scratch(void* memory, std::size_t bytes);
extern "C" void rungs_note_scratch(void* memory, std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(scratch_mutex);
    scratch.push_back({memory, bytes});
}
#endif

int main(int count, char** arguments) {
    try {
        if (count == 2) {
            const int file = open(arguments[1], O_RDWR | O_CLOEXEC);
            if (file < 0) give_up(arguments[1]);
            WorkerLoop worker(file);
            const bool succeeded = worker.run_once();
            const std::uint64_t none_left = 0;
            if (succeeded && pwrite(file, &none_left, sizeof none_left, offsetof(Request, sequence)) < 0)
                give_up(arguments[1]);
            cudaDeviceReset();  // tools report what they know at the end of the context
            return succeeded ? 0 : 1;
        }
        WorkerLoop worker;
        worker.serve();
    } catch (const CudaFailure& failure) {
        std::fprintf(stderr, "rungs worker: %s: %s\n", failure.where, cudaGetErrorString(failure.code));
        _exit(98);
    }
    _exit(0);  // no destructor of a submission runs: the judge has hung up
}
