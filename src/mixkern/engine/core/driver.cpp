#include "driver.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <system_error>
#include <thread>

namespace mixkern {

// Those that CMakeLists.txt has added are defined.
extern const Build build_avx512, build_avx2, build_baseline, build_neon, build_scalar;

std::vector<const Build *> usable_builds() {
    std::vector<const Build *> usable;
#ifdef MIXKERN_HAS_AVX512
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw"))
        usable.push_back(&build_avx512);
#endif
#ifdef MIXKERN_HAS_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) usable.push_back(&build_avx2);
#endif
#ifdef MIXKERN_HAS_BASELINE
    usable.push_back(&build_baseline);
#endif
#ifdef MIXKERN_HAS_NEON
    usable.push_back(&build_neon);
#endif
#ifdef MIXKERN_HAS_SCALAR
    usable.push_back(&build_scalar);
#endif
    return usable;
}

namespace {

constexpr std::align_val_t kAlignment{64};

struct Free {
    void operator()(char *p) const { ::operator delete(p, kAlignment); }
};
using Memory = std::unique_ptr<char, Free>;

Memory memory(std::size_t bytes) { return Memory(static_cast<char *>(::operator new(std::max<std::size_t>(bytes, 64), kAlignment))); }

// Calls task(index, scratch) for every index. All memory is taken before the first thread starts; tasks do not throw.
template <class Task>
void parallel(Index n_tasks, int n_threads, std::size_t scratch_bytes, const Task &task) {
    const Index n_workers = std::max<Index>(1, std::min<Index>(n_threads, n_tasks));
    std::vector<Memory> scratch;
    for (Index i = 0; i < n_workers; ++i) scratch.push_back(memory(scratch_bytes));
    std::atomic<Index> next{0};
    const auto work = [&](char *mine) {
        for (Index index; (index = next.fetch_add(1, std::memory_order_relaxed)) < n_tasks;) task(index, mine);
    };
    std::vector<std::thread> threads;
    threads.reserve(std::size_t(n_workers - 1));
    for (Index i = 1; i < n_workers; ++i) {
        try {
            threads.emplace_back(work, scratch[std::size_t(i)].get());
        } catch (const std::system_error &) {
            break;  // no more threads to be had: those that run share the work
        }
    }
    work(scratch[0].get());
    for (auto &thread : threads) thread.join();
}

Index n_tiles(const Job &job, const Side &side) { return (side.n_rows + job.tile - 1) / job.tile; }

// Rows already stand where they belong; brings the columns of one row back from their sorted order.
template <class T>
void unsort_row(const Job &job, Index row, char *scratch) {
    T *here = static_cast<T *>(job.out) + row * job.out_stride;
    T *sorted = reinterpret_cast<T *>(scratch);
    const Index m = job.b.n_rows;
    std::copy(here, here + m, sorted);
    for (Index t = 0; t < m; ++t) here[job.b.order[t]] = sorted[t];
}

}  // namespace

void run_matrix(const Job &job, const Build &build, int n_threads) {
    const Index rows = n_tiles(job, job.a), columns = n_tiles(job, job.b);
    if (!rows || !columns) return;
    const std::size_t bytes = build.scratch_bytes(job);
    if (job.is_symmetric) {
        std::vector<Index> first(1, 0);  // the number of tiles before each row of tiles of the upper triangle
        for (Index i = 0; i < rows; ++i) first.push_back(first.back() + columns - i);
        parallel(first.back(), n_threads, bytes, [&](Index index, char *scratch) {
            const Index i = std::upper_bound(first.begin(), first.end(), index) - first.begin() - 1;
            build.block(job, i, i + index - first[std::size_t(i)], scratch);
        });
    } else {
        parallel(rows * columns, n_threads, bytes,
                 [&](Index index, char *scratch) { build.block(job, index / columns, index % columns, scratch); });
    }
    if (!job.b.order) return;
    const std::size_t item = job.is_float32 ? sizeof(float) : sizeof(double);
    parallel(job.a.n_rows, n_threads, std::size_t(job.b.n_rows) * item, [&](Index row, char *scratch) {
        if (job.is_float32)
            unsort_row<float>(job, row, scratch);
        else
            unsort_row<double>(job, row, scratch);
    });
}

void run_times(const Job &job, const Build &build, int n_threads) {
    parallel(n_tiles(job, job.a), n_threads, build.scratch_bytes(job),
             [&](Index index, char *scratch) { build.times(job, index, scratch); });
}

}  // namespace mixkern
