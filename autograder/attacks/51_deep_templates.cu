// Templates that take exponential time.
//
//     kind = "accident"
//     verdicts = ["COMPILE_ERROR"]

// Templates that take exponential time.

#include "reduction.cuh"

template <int Depth, class T>
struct Tree {
    using Left = typename Tree<Depth - 1, Tree<Depth, T>>::Type;
    using Right = typename Tree<Depth - 1, Left>::Type;
    using Type = Tree<Depth, Right>;
};
template <class T>
struct Tree<0, T> {
    using Type = T;
};
using Bomb = Tree<64, int>::Type;

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}
