#pragma once
// The arguments of one call of a rung, in device memory: the one way in which tests, check-mode tests and
// timings call a rung of which they know nothing but its exam.

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

#include "rungs/call.hpp"
#include "rungs/cuda_check.cuh"
#include "rungs/device_buffer.cuh"
#include "rungs/exam.hpp"

namespace rungs {

/// One array of a task in device memory, as far past an aligned address as it asks for, between two guards.
class DeviceArray {
  public:
    static constexpr unsigned char poison = 0xff;  ///< NaN in floats, -1 in integers

    /// @param guard  bytes before and after, a multiple of 512, all of them `poison`
    DeviceArray(const Array& array, std::size_t guard)
        : array_(array),
          lead_(guard + array.misalignment * size_of(array.element)),
          memory_(lead_ + size() + guard) {
        if (memory_.empty()) return;
        data_ = memory_.data() + lead_;
        if (guard > 0) memory_.fill_bytes(poison);
        if (!array.bytes.empty()) reset(poison);
    }

    const Array& array() const { return array_; }
    unsigned char* data() const { return data_; }  ///< null if there is nothing to point at
    const void* allocation() const { return memory_.data(); }
    std::size_t size() const { return array_.count * size_of(array_.element); }  ///< bytes of the elements
    std::size_t bytes() const { return memory_.size(); }                         ///< with what is around them

    /// What the task says; where it says nothing, `byte` everywhere.
    void reset(unsigned char byte) {
        if (size() == 0) return;
        if (array_.bytes.empty()) {
            CUDA_CHECK(cudaMemset(data_, byte, size()));
        } else {
            CUDA_CHECK(cudaMemcpy(data_, array_.bytes.data(), size(), cudaMemcpyHostToDevice));
        }
    }

    Array to_host() const {
        Array array = array_;
        array.bytes.resize(size());
        if (size() > 0) CUDA_CHECK(cudaMemcpy(array.bytes.data(), data_, size(), cudaMemcpyDeviceToHost));
        return array;
    }

    /// Whether nothing around the elements has changed.
    bool guards_are_whole() const {
        const std::vector<unsigned char> all = memory_.to_host();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if ((i < lead_ || i >= lead_ + size()) && all[i] != poison) return false;
        }
        return true;
    }

  private:
    Array array_;
    std::size_t lead_;
    DeviceBuffer<unsigned char> memory_;
    unsigned char* data_ = nullptr;
};

/// A task in device memory. Outputs are not initialised; see reset_outputs().
class Invocation {
  public:
    explicit Invocation(const Task& task, std::size_t guard = 0) {
        for (const Array& array : task.inputs) inputs_.emplace_back(array, guard);
        for (const Array& array : task.outputs) outputs_.emplace_back(array, guard);
        for (const DeviceArray& array : inputs_) in_.push_back(array.data());
        for (const DeviceArray& array : outputs_) out_.push_back(array.data());
        for (const Number& number : task.numbers) {
            scalars_.push_back(number.is_integer ? Scalar::of(number.integer) : Scalar::of(number.real));
        }
    }

    /// Queues the call in `stream`, if the rung does not wait. @throws what the rung throws
    void run(const Entry& entry, cudaStream_t stream = nullptr) const {
        Call call;
        call.inputs = in_.data();
        call.input_count = in_.size();
        call.outputs = out_.data();
        call.output_count = out_.size();
        call.scalars = scalars_.data();
        call.scalar_count = scalars_.size();
        call.stream = stream;
        entry.run(call);
    }

    /// Makes the outputs what the task says, and where it says nothing, `byte` everywhere.
    void reset_outputs(unsigned char byte = DeviceArray::poison) {
        for (DeviceArray& array : outputs_) array.reset(byte);
    }

    const std::vector<DeviceArray>& inputs() const { return inputs_; }
    const std::vector<DeviceArray>& outputs() const { return outputs_; }

    /// What the outputs hold. Waits for the null stream alone.
    std::vector<Array> results() const {
        std::vector<Array> arrays;
        for (const DeviceArray& array : outputs_) arrays.push_back(array.to_host());
        return arrays;
    }

    std::size_t bytes() const {
        std::size_t sum = 0;
        for (const auto* arrays : {&inputs_, &outputs_}) {
            for (const DeviceArray& array : *arrays) sum += array.bytes();
        }
        return sum;
    }

  private:
    std::vector<DeviceArray> inputs_, outputs_;
    std::vector<const void*> in_;
    std::vector<void*> out_;
    std::vector<Scalar> scalars_;
};

}  // namespace rungs
