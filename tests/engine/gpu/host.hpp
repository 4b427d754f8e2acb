// CUDA C++ for a processor, in place of CUDA's headers and of instructions.cuh: enough for the kernels of mixkern.
//
// A block of threads is a number of contexts that run in turn until they wait for each other. What real threads may do, but
// need not, is done here in the way that shows mistakes: shared memory is full of NaN at first, a copy that a barrier waits
// for destroys its target at once and writes it as late as it can, the last of several copies comes first, and threads run
// in their order in one block and in the opposite order in the next one.
// BULK_COPIES is 0 for processors before Hopper.

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

typedef unsigned int u32;
typedef unsigned long long u64;

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__
#define __align__(n) __attribute__((aligned(n)))

using std::isfinite;
using std::isnan;
using std::min;

struct dim3 { u32 x, y, z; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) double2 { double x, y; };
struct alignas(16) uint4 { u32 x, y, z, w; };
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }
inline uint4 make_uint4(u32 x, u32 y, u32 z, u32 w) { return {x, y, z, w}; }

template <class To, class From>
To bits_of(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &from, sizeof(To));
    return to;
}
inline double __longlong_as_double(long long x) { return bits_of<double>(x); }
inline u32 __float_as_uint(float x) { return bits_of<u32>(x); }
inline float __expf(float x) { return std::exp(x); }
inline int atomicAdd(int* to, int x) { return std::exchange(*to, *to + x); }
inline u32 atomicMax(u32* to, u32 x) { return std::exchange(*to, std::max(*to, x)); }

// ------------------------------------------------------------------------------------------------ blocks of threads

constexpr size_t MOST_SHARED = 227 * 1024, STACK = 256 * 1024;
alignas(128) char memory[MOST_SHARED]; // shared memory
dim3 threadIdx, blockIdx, blockDim, gridDim;

struct Meeting { // of threads that wait for each other
    u32 members = 0, arrived = 0, round = 0;
};
struct Warp {
    Meeting meeting;
    u32 addresses[32], left[32][4], right[32][2];
};
struct Barrier {
    u32 count = 0, pending = 0, phase = 0;
    long long bytes = 0;
};
struct Copy {
    u32 to, bytes, barrier;
    const void* from;
};
struct Thread {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    bool is_done = false;
};

struct Block {
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    std::map<u32, Barrier> barriers; // by their address in shared memory
    std::vector<Copy> copies;        // that have been asked for
    Meeting all;
    ucontext_t scheduler;
    u32 current = 0;
    bool is_reversed = true; // the order in which threads run; changes with each block
    u64 n_steps = 0;         // that were not in vain
    std::function<void()> work;
} block;

// Let the other threads run.
inline void yield() { swapcontext(&block.threads[block.current].context, &block.scheduler); }

inline void meet(Meeting& meeting) {
    const u32 round = meeting.round;
    ++block.n_steps;
    if (++meeting.arrived == meeting.members)
        meeting.arrived = 0, ++meeting.round;
    else
        while (meeting.round == round) yield();
}
inline void leave(Meeting& meeting) {
    if (--meeting.members && meeting.arrived == meeting.members) meeting.arrived = 0, ++meeting.round;
}
inline void __syncthreads() { meet(block.all); }
inline Warp& my_warp() { return block.warps[block.current / 32]; }

inline void run_thread() {
    block.work();
    block.threads[block.current].is_done = true;
    ++block.n_steps;
    leave(block.all), leave(my_warp().meeting);
    swapcontext(&block.threads[block.current].context, &block.scheduler);
}

// Run one block; false if all of its threads wait for ever.
inline bool run_block() {
    const u32 n = blockDim.x;
    block.is_reversed = !block.is_reversed;
    std::memset(memory, 0xff, sizeof(memory));
    block.barriers.clear(), block.copies.clear();
    block.warps.assign((n + 31) / 32, Warp());
    block.all = Meeting{n};
    block.threads.resize(n);
    for (u32 i = 0; i < n; ++i) {
        Thread& thread = block.threads[i];
        ++block.warps[i / 32].meeting.members;
        if (!thread.stack) thread.stack.reset(new char[STACK]);
        thread.is_done = false;
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack.get(), thread.context.uc_stack.ss_size = STACK;
        thread.context.uc_link = nullptr;
        makecontext(&thread.context, run_thread, 0);
    }
    for (bool is_left = true; is_left;) {
        const u64 before = block.n_steps;
        is_left = false;
        for (u32 turn = 0; turn < n; ++turn) {
            const u32 i = block.is_reversed ? n - 1 - turn : turn;
            if (block.threads[i].is_done) continue;
            is_left = true, block.current = i, threadIdx = {i, 0, 0};
            swapcontext(&block.scheduler, &block.threads[i].context);
        }
        if (is_left && block.n_steps == before) return false;
    }
    return true;
}

template <class T>
T argument(const u64* from) {
    static_assert(sizeof(T) == 8, "callers pass pointers, long long and double");
    T to;
    std::memcpy(&to, from, 8);
    return to;
}
template <class... Types, size_t... At>
int launched(void (*kernel)(Types...), const u64* arguments, std::index_sequence<At...>) {
    block.work = [=] { kernel(argument<Types>(arguments + At)...); };
    for (u32 z = 0; z < gridDim.z; ++z)
        for (u32 y = 0; y < gridDim.y; ++y)
            for (u32 x = 0; x < gridDim.x; ++x) {
                blockIdx = {x, y, z};
                if (!run_block()) return 1;
            }
    return 0;
}
template <class... Types>
int launched(void (*kernel)(Types...), const u64* arguments) {
    return launched(kernel, arguments, std::index_sequence_for<Types...>());
}
// 0, or 1 where threads wait for ever
#define LAUNCH(name)                                                                                                        \
    extern "C" int launch_##name(const u64* arguments, u32 x, u32 y, u32 z, u32 threads) {                                  \
        gridDim = {x, y, z}, blockDim = {threads, 1, 1};                                                                    \
        return launched(name, arguments);                                                                                   \
    }

// ------------------------------------------------------------------------------------------------ instructions

inline float root(float x) { return std::sqrt(x); }
inline float power_of_two(float x) { return std::exp2(x); }
inline unsigned short half_of(float x) { return bits_of<unsigned short>((_Float16)x); }
inline float of_half(unsigned short h) { return (float)bits_of<_Float16>(h); }

constexpr bool HAS_BULK_COPIES = BULK_COPIES;
inline u64 __cvta_generic_to_shared(const void* at) { return (const char*)at - memory; }

inline void complete(Barrier& barrier) {
    ++block.n_steps;
    if (barrier.pending || barrier.bytes) return;
    barrier.phase ^= 1, barrier.pending = barrier.count;
}
inline void initialise(u32 barrier, u32 count) { block.barriers[barrier] = {count, count}; }
inline void publish_barriers() {}
inline void arrive(u32 barrier) {
    Barrier& at = block.barriers.at(barrier);
    --at.pending, complete(at);
}
inline void expect(u32 barrier, u32 bytes) {
    block.barriers.at(barrier).bytes += bytes;
    arrive(barrier);
}
inline void copy_bytes(u32 to, const void* from, u32 bytes, u32 barrier) {
    if (to % 16 || (u64)from % 16 || bytes % 16 || to + bytes > MOST_SHARED) std::abort(); // as on a GPU
    std::memset(memory + to, 0xff, bytes);
    block.copies.push_back({to, bytes, barrier, from});
}
inline void await(u32 barrier, u32 parity) {
    Barrier& at = block.barriers.at(barrier);
    while (at.phase == parity) {
        if (!block.copies.empty()) {
            const Copy copy = block.copies.back();
            block.copies.pop_back();
            std::memcpy(memory + copy.to, copy.from, copy.bytes);
            Barrier& of_copy = block.barriers.at(copy.barrier);
            of_copy.bytes -= copy.bytes, complete(of_copy);
        }
        if (at.phase == parity) yield();
    }
}

inline void read_matrices(u32 (&to)[4], u32 address) {
    Warp& warp = my_warp();
    const u32 lane = block.current % 32;
    warp.addresses[lane] = address;
    meet(warp.meeting);
    for (u32 i = 0; i < 4; ++i) std::memcpy(&to[i], memory + warp.addresses[8 * i + lane / 4] + lane % 4 * 4, 4);
    meet(warp.meeting);
}

inline int exponent_of(double x, int least) { return x == 0 ? -999 : std::max(std::ilogb(x), least); }

// Sums of tensor cores, after the models that emulation.py names: terms are cut off after 25 binary digits, counted from the
// largest exponent, and their sum is cut off to a float.
inline float tensor_core_sum(const float (&a)[16], const float (&b)[16], float sum) {
    int largest = exponent_of(sum, -999);
    for (int i = 0; i < 16; ++i)
        if (a[i] != 0 && b[i] != 0) largest = std::max(largest, exponent_of(a[i], -14) + exponent_of(b[i], -14));
    const double unit = std::ldexp(1.0, std::max(largest, -900) - 25);
    double total = std::trunc(sum / unit);
    for (int i = 0; i < 16; ++i) total += std::trunc((double)a[i] * b[i] / unit);
    total *= unit;
    if (total == 0) return 0;
    const double digit = std::ldexp(1.0, std::ilogb(total) - 23);
    return (float)(std::trunc(total / digit) * digit);
}
inline float half_at(u32 both, u32 at) { return of_half((unsigned short)(both >> 16 * at)); }

inline void multiply(float (&sum)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    Warp& warp = my_warp();
    const u32 lane = block.current % 32;
    std::copy(a, a + 4, warp.left[lane]);
    warp.right[lane][0] = b0, warp.right[lane][1] = b1;
    meet(warp.meeting);
    for (u32 i = 0; i < 4; ++i) { // rows lane / 4 and 8 below, two neighbouring columns
        const u32 row = lane / 4, lower = i / 2, column = lane % 4 * 2 + i % 2;
        float left[16], right[16];
        for (u32 k = 0; k < 16; ++k) { // a lane has two neighbours in each half of eight
            const u32 lane_of_k = k % 8 / 2, half = k / 8;
            left[k] = half_at(warp.left[4 * row + lane_of_k][2 * half + lower], k % 2);
            right[k] = half_at(warp.right[4 * column + lane_of_k][half], k % 2);
        }
        sum[i] = tensor_core_sum(left, right, sum[i]);
    }
    meet(warp.meeting);
}
