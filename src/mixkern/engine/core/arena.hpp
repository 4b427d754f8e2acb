// Pieces of scratch memory, for the files that are compiled once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace {

inline std::ptrdiff_t round_up(std::ptrdiff_t x, std::ptrdiff_t to) { return (x + to - 1) / to * to; }

// Hands out pieces of the scratch memory, each aligned to 64 bytes; from address zero on, it only adds up how much is needed.
struct Arena {
    std::uintptr_t next;
    template <class T>
    T *take(std::ptrdiff_t count) {
        T *here = reinterpret_cast<T *>(next);
        next += std::uintptr_t(round_up(count * std::ptrdiff_t(sizeof(T)), 64));
        return here;
    }
};

}  // namespace
