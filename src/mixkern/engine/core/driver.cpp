#include "driver.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#if defined(__x86_64__) || defined(_M_X64)
#include <cpuid.h>
#endif

namespace mixkern {

// Those that CMakeLists.txt has added are defined.
extern const Build build_avx512, build_avx2, build_baseline, build_neon, build_scalar;
extern const DensityBuild density_avx512, density_avx2, density_baseline, density_neon, density_scalar;

bool (*should_stop)() = nullptr;

#if defined(__x86_64__) || defined(_M_X64)
namespace {

struct Processor {
    bool has_avx2 = false, has_avx512 = false;
};

// What the processor has, and the system keeps when it switches between threads. Not by __builtin_cpu_supports, whose library is missing
// on Windows.
Processor this_processor() {
    constexpr unsigned kAvxState = 0x6, kAvx512State = 0xe6;
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return {};
    const bool has_fma = c & bit_FMA;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return {};
    constexpr unsigned avx512 = bit_AVX512F | bit_AVX512DQ | bit_AVX512VL | bit_AVX512BW;
    return {has_fma && (b & bit_AVX2) && (low & kAvxState) == kAvxState,
            has_fma && (b & avx512) == avx512 && (low & kAvx512State) == kAvx512State};
}

}  // namespace
#endif

std::vector<Builds> usable_builds() {
    std::vector<Builds> usable;
#ifdef MIXKERN_HAS_AVX512
    if (this_processor().has_avx512) usable.push_back({"avx512", &build_avx512, &density_avx512});
#endif
#ifdef MIXKERN_HAS_AVX2
    if (this_processor().has_avx2) usable.push_back({"avx2", &build_avx2, &density_avx2});
#endif
#ifdef MIXKERN_HAS_BASELINE
    usable.push_back({"baseline", &build_baseline, &density_baseline});
#endif
#ifdef MIXKERN_HAS_NEON
    usable.push_back({"neon", &build_neon, &density_neon});
#endif
#ifdef MIXKERN_HAS_SCALAR
    usable.push_back({"scalar", &build_scalar, &density_scalar});
#endif
    return usable;
}

namespace {

constexpr std::align_val_t kAlignment{64};
constexpr std::chrono::milliseconds kPatience{100};

struct Free {
    void operator()(char *p) const { ::operator delete(p, kAlignment); }
};
using Memory = std::unique_ptr<char, Free>;

Memory memory(std::size_t bytes) { return Memory(static_cast<char *>(::operator new(std::max<std::size_t>(bytes, 64), kAlignment))); }

// Calls task(index, scratch) for every index, until should_stop; returns whether it has not stopped. All memory is taken before the first
// thread starts; tasks do not throw.
template <class Task>
bool parallel(Index n_tasks, int n_threads, std::size_t scratch_bytes, const Task &task) {
    const Index n_workers = std::max<Index>(1, std::min<Index>(n_threads, n_tasks));
    std::vector<Memory> scratch;
    for (Index i = 0; i < n_workers; ++i) scratch.push_back(memory(scratch_bytes));
    std::atomic<Index> next{0};
    std::atomic<bool> is_stopped{false};
    const auto work = [&](char *mine) {
        for (Index index; !is_stopped && (index = next.fetch_add(1, std::memory_order_relaxed)) < n_tasks;) task(index, mine);
    };
    const auto work_and_ask = [&](char *mine) {
        auto asked = std::chrono::steady_clock::now();
        for (Index index; !is_stopped && (index = next.fetch_add(1, std::memory_order_relaxed)) < n_tasks;) {
            task(index, mine);
            const auto now = std::chrono::steady_clock::now();
            if (now - asked < kPatience) continue;
            asked = now;
            if (should_stop && should_stop()) is_stopped = true;
        }
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
    work_and_ask(scratch[0].get());
    for (auto &thread : threads) thread.join();
    return !is_stopped;
}

Index n_tiles(const Job &job, const Side &side) { return (side.n_rows + job.tile - 1) / job.tile; }

// What can be computed in floats: beyond these, squares of whitened coordinates or products with the exponent's factors overflow.
constexpr double kLargestFloatLength = 1e17, kLargestFloatFactor = 1e30;
constexpr Index kSampledRows = 1024;

// The largest distance of a row from the centre.
double largest_reach(const Job &job, const Side &side) {
    double largest = 0;
    for (Index row = 0; row < side.n_rows; ++row) {
        double sq_reach = 0;
        for (Index c = 0; c < job.d; ++c) {
            const double x = side.rows[row * job.d + c] - job.centre[c];
            sq_reach += x * x;
        }
        largest = std::max(largest, sq_reach);
    }
    return std::sqrt(largest);
}

// The mean of the rows of B with the shares of each component, about the job's centre and whitened: near it, floats have the most digits.
// Any other point would do, so some rows are enough.
std::vector<double> whitened_centres(const Job &job) {
    const Index k = job.k, d = job.d, step = 1 + job.b.n_rows / kSampledRows;
    std::vector<double> totals(std::size_t(k), 0.0), sums(std::size_t(k * d), 0.0), shifts(std::size_t(k * d), 0.0);
    for (Index row = 0; row < job.b.n_rows; row += step)
        for (Index j = 0; j < k; ++j) {
            const double share = job.b.shares[row * job.b.share_stride + j];
            totals[std::size_t(j)] += share;
            for (Index c = 0; c < d; ++c) sums[std::size_t(j * d + c)] += share * (job.b.rows[row * d + c] - job.centre[c]);
        }
    for (Index j = 0; j < k; ++j) {
        if (!(totals[std::size_t(j)] > 1e-12)) continue;
        for (Index r = 0; r < d; ++r)
            for (Index c = job.is_diagonal ? r : 0; c <= r; ++c) {
                const double w = job.is_diagonal ? job.whiteners[j * d + r] : job.whiteners[(j * d + r) * d + c];
                shifts[std::size_t(j * d + r)] += w * sums[std::size_t(j * d + c)] / totals[std::size_t(j)];
            }
    }
    return shifts;
}

// Prepares a job with results in float32 to be computed in floats, where these can hold what is computed. The shifts belong to the caller.
std::vector<double> prepare_single(Job &job) {
    if (!job.is_float32 || !job.d || !job.b.n_rows) return {};
    const double norm = *std::max_element(job.norms, job.norms + job.k);
    const double length = norm * std::max(largest_reach(job, job.a), job.is_symmetric ? 0.0 : largest_reach(job, job.b));
    if (!(length < kLargestFloatLength && std::max(job.per_sq_distance, job.per_sq_count) < kLargestFloatFactor)) return {};
    auto shifts = whitened_centres(job);
    job.is_single = true;
    job.shifts = shifts.data();
    return shifts;
}

// Rows already stand where they belong; brings the columns of one row back from their sorted order.
template <class T>
void unsort_row(const Job &job, Index row, char *scratch) {
    T *here = static_cast<T *>(job.out) + row * job.out_stride;
    T *sorted = reinterpret_cast<T *>(scratch);
    const Index m = job.b.n_rows;
    std::copy(here, here + m, sorted);
    for (Index t = 0; t < m; ++t) here[job.b.order[t]] = sorted[t];
}

// The components with one lane for each, made when the first row with gaps is found.
class LaneCopies {
  public:
    explicit LaneCopies(const DensityJob &job) : job_(job) {}

    static const Lanes &made(void *self) {
        auto *copies = static_cast<LaneCopies *>(self);
        std::call_once(copies->once_, [copies] { copies->make(); });
        return copies->lanes_;
    }

    bool is_made() const { return !constants_.empty(); }
    static Index padded(Index k) { return (k + kLaneGroup - 1) / kLaneGroup * kLaneGroup; }

  private:
    void make() {
        const Index d = job_.d, k = padded(job_.k);
        means_.assign(std::size_t(d * k), 0.0);
        whiteners_.assign(std::size_t(d * d * k), 0.0);
        precisions_.assign(std::size_t(d * d * k), 0.0);
        for (Index j = 0; j < k; ++j)
            for (Index i = 0; i < d; ++i) {
                const bool is_there = j < job_.k;  // those beyond are standard normal, and have share zero
                means_[std::size_t(i * k + j)] = is_there ? job_.means[j * d + i] : 0.0;
                for (Index l = 0; l <= i; ++l)
                    whiteners_[std::size_t((i * d + l) * k + j)] = is_there ? job_.whiteners[(j * d + i) * d + l] : double(i == l);
            }
        for (Index i = 0; i < d; ++i)
            for (Index l = 0; l <= i; ++l)
                for (Index r = i; r < d; ++r)  // (W'W)_il, where W is lower triangular
                    for (Index j = 0; j < k; ++j)
                        precisions_[std::size_t((i * d + l) * k + j)] +=
                            whiteners_[std::size_t((r * d + i) * k + j)] * whiteners_[std::size_t((r * d + l) * k + j)];
        constants_.assign(std::size_t(k), -std::numeric_limits<double>::infinity());
        std::copy(job_.constants, job_.constants + job_.k, constants_.begin());
        lanes_ = {k, means_.data(), whiteners_.data(), precisions_.data(), constants_.data()};
    }

    const DensityJob &job_;
    std::once_flag once_;
    std::vector<double> means_, whiteners_, precisions_, constants_;
    Lanes lanes_{};
};

// The moments of one part of the rows.
class PartMoments {
  public:
    explicit PartMoments(const DensityJob &job) : k_(job.k), d_(job.d), is_diagonal_(job.is_diagonal) {
        const Index squares = is_diagonal_ ? d_ : d_ * d_, lanes = is_diagonal_ ? 0 : LaneCopies::padded(k_);
        memory_.assign(std::size_t(k_ * (1 + d_ + squares) + lanes * (1 + d_ + d_ * d_)), 0.0);
        double *next = memory_.data();
        const auto take = [&next](Index count) { return std::exchange(next, next + count); };
        moments_.counts = take(k_);
        moments_.sums = take(k_ * d_);
        moments_.squares = take(k_ * squares);
        moments_.lane_counts = take(lanes);
        moments_.lane_sums = take(lanes * d_);
        moments_.lane_squares = take(lanes * d_ * d_);
        moments_.log_normaliser = 0;
    }

    PartMoments(PartMoments &&) = default;  // a copy would point to the memory of the original

    Moments &moments() { return moments_; }

    void add_to(Moments &total, bool has_lanes) const {
        const Index squares = is_diagonal_ ? d_ : d_ * d_, lanes = LaneCopies::padded(k_);
        total.log_normaliser += moments_.log_normaliser;
        for (Index j = 0; j < k_; ++j) {
            total.counts[j] += moments_.counts[j];
            for (Index i = 0; i < d_; ++i) total.sums[j * d_ + i] += moments_.sums[j * d_ + i];
            for (Index i = 0; i < squares; ++i) total.squares[j * squares + i] += moments_.squares[j * squares + i];
            if (!has_lanes) continue;
            total.counts[j] += moments_.lane_counts[j];
            for (Index i = 0; i < d_; ++i) total.sums[j * d_ + i] += moments_.lane_sums[i * lanes + j];
            for (Index i = 0; i < squares; ++i) total.squares[j * squares + i] += moments_.lane_squares[i * lanes + j];
        }
    }

  private:
    Index k_, d_;
    bool is_diagonal_;
    std::vector<double> memory_;
    Moments moments_{};
};

constexpr Index kTaskRows = 2048;             // rows of one task
constexpr Index kMostParts = 32;              // into which rows are divided for their moments
constexpr Index kMostCells = Index(1) << 21;  // numbers in the moments of all parts

// Moments are added up part by part, so that their rounding does not depend on the number of threads. An even number: two threads finish
// together.
Index n_parts(const DensityJob &job) {
    if (job.n <= kTaskRows / 4) return 1;
    const Index cells = job.k * (job.is_diagonal ? job.d : 2 * job.d * job.d) + 1;
    const Index wanted = 2 * ((job.n + 2 * kTaskRows - 1) / (2 * kTaskRows));
    return std::min({wanted, kMostParts, std::max<Index>(2, kMostCells / cells)});
}

}  // namespace

bool run_density(DensityJob job, const DensityBuild &build, Moments *moments, int n_threads) {
    LaneCopies copies(job);
    job.lanes = &LaneCopies::made;
    job.context = &copies;
    const std::size_t bytes = build.scratch_bytes(job);
    if (!moments) {
        const Index tasks = (job.n + kTaskRows - 1) / kTaskRows;
        return parallel(tasks, n_threads, bytes, [&](Index index, char *scratch) {
            build.rows(job, index * kTaskRows, std::min(job.n, (index + 1) * kTaskRows), nullptr, scratch);
        });
    }
    const Index parts = n_parts(job);
    std::vector<PartMoments> sums;
    for (Index part = 0; part < parts; ++part) sums.emplace_back(job);
    const bool is_finished = parallel(parts, n_threads, bytes, [&](Index part, char *scratch) {
        build.rows(job, part * job.n / parts, (part + 1) * job.n / parts, &sums[std::size_t(part)].moments(), scratch);
    });
    if (!is_finished) return false;
    for (const auto &part : sums) part.add_to(*moments, copies.is_made());
    if (job.is_diagonal) return true;
    for (Index j = 0; j < job.k; ++j) {
        double *square = moments->squares + j * job.d * job.d;
        for (Index i = 0; i < job.d; ++i)
            for (Index l = 0; l < i; ++l) square[l * job.d + i] = square[i * job.d + l];
    }
    return true;
}

bool run_matrix(Job job, const Build &build, int n_threads) {
    const Index rows = n_tiles(job, job.a), columns = n_tiles(job, job.b);
    if (!rows || !columns) return true;
    const auto shifts = prepare_single(job);
    const std::size_t bytes = build.scratch_bytes(job);
    bool is_finished = false;
    if (job.is_symmetric) {
        std::vector<Index> first(1, 0);  // the number of tiles before each row of tiles of the upper triangle
        for (Index i = 0; i < rows; ++i) first.push_back(first.back() + columns - i);
        is_finished = parallel(first.back(), n_threads, bytes, [&](Index index, char *scratch) {
            const Index i = std::upper_bound(first.begin(), first.end(), index) - first.begin() - 1;
            build.block(job, i, i + index - first[std::size_t(i)], scratch);
        });
    } else {
        is_finished = parallel(rows * columns, n_threads, bytes,
                               [&](Index index, char *scratch) { build.block(job, index / columns, index % columns, scratch); });
    }
    if (!is_finished || !job.b.order) return is_finished;
    const std::size_t item = job.is_float32 ? sizeof(float) : sizeof(double);
    return parallel(job.a.n_rows, n_threads, std::size_t(job.b.n_rows) * item, [&](Index row, char *scratch) {
        if (job.is_float32)
            unsort_row<float>(job, row, scratch);
        else
            unsort_row<double>(job, row, scratch);
    });
}

bool run_times(Job job, const Build &build, int n_threads) {
    const auto shifts = prepare_single(job);
    return parallel(n_tiles(job, job.a), n_threads, build.scratch_bytes(job),
                    [&](Index index, char *scratch) { build.times(job, index, scratch); });
}

}  // namespace mixkern
