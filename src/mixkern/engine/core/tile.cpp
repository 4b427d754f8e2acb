// One tile of the result: rows of A against rows of B. Compiled once per instruction set, under MIXKERN_BUILD.
//
//   D_ij = sum_k 1/2 (rho_ik + rho_jk) ||W_k (x_i - x_j)||
//
//   pack      rows of both sides, centred, one feature after the other, so that a vector holds one feature of several rows (panel.hpp)
//   whiten    z = W_k x for a chunk of components, always summed in the same order: equal rows keep equal coordinates
//   pairs     differences of z, squares, roots and weights, for a few rows of A and a few vectors of B at a time
//   redo      close pairs again from the raw differences W_k (x_i - x_j), which lose no digits
//   finish    the exponential, and the copy to the result
//
// All but the redo is written once for doubles and floats, `Real`. A tile of floats with many close pairs is computed again in doubles.
//
// Everything is in an unnamed namespace, and nothing comes from the standard library's templates: code that was compiled for a
// newer processor must not be shared with the rest of the module by the linker.
#include "arena.hpp"
#include "job.hpp"
#include "panel.hpp"
#include "simd.hpp"
#include "whiten.hpp"

namespace mixkern {
namespace {

// Squares are summed from kSquare on, so that the reciprocal root of zero never shows; pairs this close are redone anyhow.
template <class Real>
struct Tiny;
template <>
struct Tiny<double> {
    static constexpr double kSquare = 1e-300, kDistance = 1e-140;
};
template <>
struct Tiny<float> {
    static constexpr float kSquare = 1e-37f;  // the reach has a part for it
};

// Whitened coordinates carry an error of about 1.1e-16 |W| |x| each. Below this multiple of |W| (|x_i| + |x_j|) it could exceed 5e-13 of
// the distance, and the pair is redone.
constexpr double kNear = 2.5e-4;
// Floats are off by 2^-24 of the sum R of both reaches. Below this multiple of it that could exceed 2^-19, 1.9e-6, of the distance.
constexpr float kFloatNear = 0x1p-5f;
// A tile of floats is computed in doubles if more than one pair in so many is close: redoing one takes some twenty times as long.
constexpr Index kMostClose = 32;

// The diagonal of a small tile is no reason.
template <class Real>
inline bool has_many_close(const Job &job, Index n_close, Index n_pairs) {
    return kIsSame<Real, float> && n_close > (n_pairs + 8 * job.tile) / kMostClose;
}

template <class Real>
struct Scratch {
    Panel<Real> a, b;
    Real *distance;         // (tile, tile)
    Real *mirrored;         // (lanes, tile)
    double *delta;          // (d, kLanes) raw differences of close pairs
    double *product;        // (tile, q)
    std::int32_t *counts;   // (tile)
    std::int32_t *active;   // (k) components not skipped
    Index n_active;
};

template <class Real>
Scratch<Real> lay_out(const Job &job, Arena &arena) {
    Scratch<Real> s;
    s.a = lay_out_panel<Real>(job, job.a, arena);
    s.b = lay_out_panel<Real>(job, job.b, arena);
    s.distance = arena.take<Real>(job.tile * job.tile);
    s.mirrored = arena.take<Real>(Simd<Real>::kLanes * job.tile);
    s.delta = arena.take<double>(job.d * kLanes);
    s.product = arena.take<double>(job.tile * job.q);
    s.counts = arena.take<std::int32_t>(job.tile);
    s.active = arena.take<std::int32_t>(job.k);
    s.n_active = 0;
    return s;
}

std::size_t scratch_bytes(const Job &job) {
    Arena arena{0};
    if (job.is_single) lay_out<float>(job, arena);
    lay_out<double>(job, arena);
    return std::size_t(arena.next);
}

// Adds a chunk of components to a block of kRows x kWidth distances. `kD` is d where that is small and known, else 0.
template <class Real, int kD, bool kSkips>
inline void pairs_block(const Job &job, const Scratch<Real> &s, const Chunk &chunk, Index i, Index j) {
    constexpr int kRows = Simd<Real>::kRows, kVectors = Simd<Real>::kVectors, kLanes = Simd<Real>::kLanes;
    constexpr Index kWidth = Simd<Real>::kWidth;
    using Vector = VectorOf<Real>;
    const Index tile = job.tile, d = kD ? kD : job.d;
    Vector distance[kRows][kVectors];
    for (int r = 0; r < kRows; ++r)
        for (int v = 0; v < kVectors; ++v)
            distance[r][v] = chunk.is_first ? spread(Real(0)) : load(s.distance + (i + r) * tile + j + v * kLanes);
    const Real *za = s.a.z + i / kWidth * job.chunk * d * kWidth + i % kWidth, *zb = s.b.z + j / kWidth * job.chunk * d * kWidth;
    const std::uint8_t *kept_a = kSkips ? kept_of(job, s.a, i) : nullptr, *kept_b = kSkips ? kept_of(job, s.b, j) : nullptr;
    for (Index component = 0; component < chunk.count; ++component) {
        if constexpr (kSkips) {
            const Index at = chunk.components[component];
            if (!(kept_a[at] | kept_b[at])) {
                za += d * kWidth, zb += d * kWidth;
                continue;
            }
        }
        Vector sum[kRows][kVectors];
        for (int r = 0; r < kRows; ++r)
            for (int v = 0; v < kVectors; ++v) sum[r][v] = spread(Tiny<Real>::kSquare);
        for (Index c = 0; c < d; ++c, za += kWidth, zb += kWidth) {
            Vector b[kVectors];
            for (int v = 0; v < kVectors; ++v) b[v] = in_register(load(zb + v * kLanes));
            for (int r = 0; r < kRows; ++r) {
                const Vector a = spread(za[r]);
                for (int v = 0; v < kVectors; ++v) {
                    const Vector difference = a - b[v];
                    sum[r][v] = fma(difference, difference, sum[r][v]);
                }
            }
        }
        const Real *share_a = s.a.shares + chunk.components[component] * tile + i;
        const Real *share_b = s.b.shares + chunk.components[component] * tile + j;
        for (int v = 0; v < kVectors; ++v) {
            const Vector b = load(share_b + v * kLanes);
            for (int r = 0; r < kRows; ++r)
                distance[r][v] = fma(spread(share_a[r]) + b, sqrt_fast(sum[r][v]), distance[r][v]);
        }
    }
    for (int r = 0; r < kRows; ++r)
        for (int v = 0; v < kVectors; ++v) store(s.distance + (i + r) * tile + j + v * kLanes, distance[r][v]);
}

// Where the upper triangle of a tile on the diagonal begins, in whole blocks.
template <class Real>
inline Index first_column(bool is_on_diagonal, Index i) {
    return is_on_diagonal ? i / Simd<Real>::kWidth * Simd<Real>::kWidth : 0;
}

template <class Real, int kD, bool kSkips>
void pairs_between(const Job &job, const Scratch<Real> &s, const Chunk &chunk, bool is_on_diagonal) {
    constexpr Index kWidth = Simd<Real>::kWidth;
    // Columns outside: their whitened coordinates stay in the first cache while the rows go by.
    for (Index j = 0; j < s.b.n_rows; j += kWidth) {
        const Index last = is_on_diagonal && j + kWidth < s.a.n_rows ? j + kWidth : s.a.n_rows;
        for (Index i = 0; i < last; i += Simd<Real>::kRows) pairs_block<Real, kD, kSkips>(job, s, chunk, i, j);
    }
}

template <class Real, int kD>
void pairs_of(const Job &job, const Scratch<Real> &s, const Chunk &chunk, bool is_on_diagonal) {
    if (job.a.keep)
        pairs_between<Real, kD, true>(job, s, chunk, is_on_diagonal);
    else
        pairs_between<Real, kD, false>(job, s, chunk, is_on_diagonal);
}

template <class Real>
void pairs(const Job &job, const Scratch<Real> &s, const Chunk &chunk, bool is_on_diagonal) {
    switch (job.d) {
        case 1: return pairs_of<Real, 1>(job, s, chunk, is_on_diagonal);
        case 2: return pairs_of<Real, 2>(job, s, chunk, is_on_diagonal);
        case 3: return pairs_of<Real, 3>(job, s, chunk, is_on_diagonal);
        case 4: return pairs_of<Real, 4>(job, s, chunk, is_on_diagonal);
        case 5: return pairs_of<Real, 5>(job, s, chunk, is_on_diagonal);
        default: return pairs_of<Real, 0>(job, s, chunk, is_on_diagonal);
    }
}

struct Pair {
    Index i, j;
};

// Up to kLanes distances from raw differences, in doubles, with every component, none skipped.
template <class Real>
void redo(const Job &job, const Scratch<Real> &s, const Pair *close, int count) {
    const Index tile = job.tile, d = job.d;
    for (int lane = 0; lane < kLanes; ++lane) {
        const Pair &pair = close[lane < count ? lane : 0];
        const double *x = job.a.rows + row_of(job.a, s.a.first + pair.i) * d;
        const double *y = job.b.rows + row_of(job.b, s.b.first + pair.j) * d;
        for (Index c = 0; c < d; ++c) s.delta[c * kLanes + lane] = x[c] - y[c];
    }
    Vector distance = spread(0.0);
    for (Index component = 0; component < job.k; ++component) {
        const double *w = job.whiteners + component * (job.is_diagonal ? d : d * d);
        Vector sum = spread(0.0);
        for (Index c = 0; c < d; ++c) {
            Vector z = spread(0.0);
            if (job.is_diagonal)
                z = spread(w[c]) * load(s.delta + c * kLanes);
            else
                for (Index i = 0; i <= c; ++i) z = fma(spread(w[c * d + i]), load(s.delta + i * kLanes), z);
            sum = fma(z, z, sum);
        }
        double weight[kLanes];
        for (int lane = 0; lane < kLanes; ++lane) {
            const Pair &pair = close[lane < count ? lane : 0];
            weight[lane] = double(s.a.shares[component * tile + pair.i]) + double(s.b.shares[component * tile + pair.j]);
        }
        distance = fma(load(weight), sqrt_exact(sum), distance);
    }
    double result[kLanes];
    store(result, distance);
    for (int lane = 0; lane < count; ++lane) s.distance[close[lane].i * tile + close[lane].j] = Real(result[lane]);
}

// The distance from row i of A below which those to some rows of B, from j on, are redone.
inline Vector near_bound(const Scratch<double> &s, Index i, Index j) {
    const Vector stretch = spread(s.a.stretch[i]) + load(s.b.stretch + j), reach = spread(s.a.reach[i]) + load(s.b.reach + j);
    return larger(spread(kNear) * (stretch * reach), spread(Tiny<double>::kDistance));
}

inline FloatVector near_bound(const Scratch<float> &s, Index i, Index j) {
    return spread(kFloatNear) * (spread(s.a.reach[i]) + load(s.b.reach + j));
}

// Returns the number of close pairs.
template <class Real>
Index redo_close_pairs(const Job &job, const Scratch<Real> &s, bool is_on_diagonal, Index begin, Index end) {
    Pair close[kLanes];
    int count = 0;
    Index total = 0;
    for (Index i = begin; i < end; ++i)
        for (Index j = first_column<Real>(is_on_diagonal, i); j < s.b.n_rows; j += Simd<Real>::kLanes) {
            unsigned found = below(load(s.distance + i * job.tile + j), near_bound(s, i, j));
            for (; found; found &= found - 1) {
                const Index column = j + __builtin_ctz(found);
                if (column >= s.b.n_rows) break;
                ++total;
                close[count++] = {i, column};
                if (count == kLanes) redo(job, s, close, count), count = 0;
            }
        }
    if (count) redo(job, s, close, count);
    return total;
}

template <class Real>
void count_differences(const Job &job, const Scratch<Real> &s, Index i, std::int32_t *counts) {
    const Index padded = round_up(s.b.n_rows, Simd<Real>::kWidth);
    for (Index j = 0; j < padded; ++j) counts[j] = 0;
    for (Index c = 0; c < job.e; ++c) {
        const std::int32_t a = s.a.codes[c * job.tile + i];
        const std::int32_t *b = s.b.codes + c * job.tile;
        for (Index j = 0; j < padded; ++j) counts[j] += a != b[j];
    }
}

template <class Real>
void exponentials(const Job &job, const Scratch<Real> &s, bool is_on_diagonal, Index begin, Index end) {
    constexpr int kLanes = Simd<Real>::kLanes;
    using Vector = VectorOf<Real>;
    const Vector per_sq_distance = spread(Real(-job.per_sq_distance)), per_sq_count = spread(Real(-job.per_sq_count));
    for (Index i = begin; i < end; ++i) {
        Real *row = s.distance + i * job.tile;
        if (job.e) count_differences(job, s, i, s.counts);
        for (Index j = first_column<Real>(is_on_diagonal, i); j < s.b.n_rows; j += kLanes) {
            const Vector distance = load(row + j);
            Vector exponent = per_sq_distance * (distance * distance);
            if (job.e) {
                Real count[kLanes];
                for (int lane = 0; lane < kLanes; ++lane) count[lane] = Real(s.counts[j + lane]);
                const Vector counts = load(count);
                exponent = fma(per_sq_count, counts * counts, exponent);
            }
            store(row + j, exp_negative(exponent));
        }
    }
}

template <class Real>
bool is_kept(const Job &job, const Panel<Real> &panel, Index component) {
    for (Index t = 0; t < panel.n_rows; t += kGroup)
        if (kept_of(job, panel, t)[component]) return true;
    return false;
}

// Distances of one tile, into s.distance; on the diagonal only the upper triangle, in whole blocks. Both panels are packed.
template <class Real>
void distances(const Job &job, Scratch<Real> &s, bool is_on_diagonal) {
    s.n_active = 0;
    for (Index component = 0; component < job.k; ++component)
        if (!job.a.keep || is_kept(job, s.a, component) || is_kept(job, s.b, component)) s.active[s.n_active++] = std::int32_t(component);
    if (s.n_active == 0 || job.d == 0) {
        for (Index i = 0; i < round_up(s.a.n_rows, Simd<Real>::kRows); ++i)
            for (Index j = 0; j < round_up(s.b.n_rows, Simd<Real>::kWidth); ++j) s.distance[i * job.tile + j] = 0;
        return;
    }
    if constexpr (kIsSame<Real, float>)  // whitening adds the rest
        for (Index t = 0; t < job.tile; ++t) s.a.reach[t] = s.a.stretch[t], s.b.reach[t] = s.b.stretch[t];
    for (Index first = 0; first < s.n_active; first += job.chunk) {
        const Chunk chunk{s.active + first, s.n_active - first < job.chunk ? s.n_active - first : job.chunk, first == 0};
        whiten(job, s.a, chunk);
        whiten(job, s.b, chunk);
        pairs(job, s, chunk, is_on_diagonal);
    }
}

// Turns some rows of distances into what was asked for; returns the number of close pairs.
template <class Real>
Index finish(const Job &job, const Scratch<Real> &s, bool is_on_diagonal, Index begin, Index end) {
    const Index n_close = job.d ? redo_close_pairs(job, s, is_on_diagonal, begin, end) : 0;
    if (job.is_kernel) exponentials(job, s, is_on_diagonal, begin, end);
    return n_close;
}

template <class T, class Real>
inline void copy_row(T *to, const Real *from, Index count, bool) {
    for (Index j = 0; j < count; ++j) to[j] = T(from[j]);
}

// Large results go past the caches: whole lines are then written without being read first.
template <class Real>
inline void copy_row(Real *to, const Real *from, Index count, bool is_streamed) {
    constexpr Index lanes = Simd<Real>::kLanes;
    Index j = 0;
    if (is_streamed) {
        for (; j < count && reinterpret_cast<std::uintptr_t>(to + j) % (lanes * Index(sizeof(Real))); ++j) to[j] = from[j];
        for (; j + lanes <= count; j += lanes) stream(to + j, load(from + j));
    }
    for (; j < count; ++j) to[j] = from[j];
}

template <class T, class Real>
void write_rows(const Job &job, const Scratch<Real> &s, bool is_on_diagonal, Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
        const Index first = first_column<Real>(is_on_diagonal, i);
        T *to = static_cast<T *>(job.out) + row_of(job.a, s.a.first + i) * job.out_stride + s.b.first;
        copy_row(to + first, s.distance + i * job.tile + first, s.b.n_rows - first, job.is_streamed);
    }
}

// The mirror image, a few columns of the tile at a time. Rows and columns beyond the last are turned over too, but not copied.
template <class T, class Real>
void write_mirrored(const Job &job, const Scratch<Real> &s, bool is_on_diagonal) {
    constexpr Index lanes = Simd<Real>::kLanes, width = Simd<Real>::kWidth;
    for (Index j = 0; j < s.b.n_rows; j += lanes) {
        // On the diagonal: those rows whose upper triangle, in whole blocks, has these columns.
        const Index end = (j / width + 1) * width, rows = is_on_diagonal && end < s.a.n_rows ? end : s.a.n_rows;
        for (Index i = 0; i < rows; i += lanes) {
            VectorOf<Real> square[lanes];
            for (int r = 0; r < lanes; ++r) square[r] = load(s.distance + (i + r) * job.tile + j);
            transpose<Real>(square);
            for (int r = 0; r < lanes; ++r) store(s.mirrored + r * job.tile + i, square[r]);
        }
        for (Index r = 0; r < lanes && j + r < s.b.n_rows; ++r)
            copy_row(static_cast<T *>(job.out) + row_of(job.b, s.b.first + j + r) * job.out_stride + s.a.first,
                     s.mirrored + r * job.tile, rows, job.is_streamed);
    }
}

// Returns false where a tile of floats has too many close pairs; what was written until then is to be written again.
template <class T, class Real>
bool finish_and_write(const Job &job, const Scratch<Real> &s, bool is_on_diagonal) {
    constexpr Index kBand = 8;  // rows that stay in the first cache from the distance to the result
    Index n_close = 0;
    for (Index begin = 0; begin < s.a.n_rows; begin += kBand) {
        const Index end = begin + kBand < s.a.n_rows ? begin + kBand : s.a.n_rows;
        n_close += finish(job, s, is_on_diagonal, begin, end);
        if (has_many_close<Real>(job, n_close, end * s.b.n_rows)) return false;
        write_rows<T>(job, s, is_on_diagonal, begin, end);
    }
    if (job.is_symmetric) write_mirrored<T>(job, s, is_on_diagonal);
    if (job.is_streamed) finish_streams();
    return true;
}

template <class T, class Real>
bool block_of(const Job &job, Index tile_a, Index tile_b, Arena &arena) {
    Scratch<Real> s = lay_out<Real>(job, arena);
    pack(job, s.a, tile_a);
    pack(job, s.b, tile_b);
    const bool is_on_diagonal = job.is_symmetric && tile_a == tile_b;
    distances(job, s, is_on_diagonal);
    return finish_and_write<T>(job, s, is_on_diagonal);
}

void block(const Job &job, Index tile_a, Index tile_b, char *memory) {
    Arena arena{reinterpret_cast<std::uintptr_t>(memory)};
    if (job.is_single && block_of<float, float>(job, tile_a, tile_b, arena)) return;
    if (job.is_float32)
        block_of<float, double>(job, tile_a, tile_b, arena);
    else
        block_of<double, double>(job, tile_a, tile_b, arena);
}

inline Vector doubles(const double *p) { return load(p); }
inline Vector doubles(const float *p) { return widened(p); }

// product (tile, q) += kernel values (tile, tile) times values (tile, q), in vectors over the rows of B, in doubles.
template <class Real>
void add_product(const Job &job, const Scratch<Real> &s, double *product) {
    const Index m = job.b.n_rows;
    for (Index column = 0; column < job.q; ++column) {
        const double *v = job.values + column * m + s.b.first;
        for (Index i = 0; i < s.a.n_rows; ++i) {
            const Real *row = s.distance + i * job.tile;
            Vector sum[2] = {spread(0.0), spread(0.0)};
            Index j = 0;
            for (; j + 2 * kLanes <= s.b.n_rows; j += 2 * kLanes) {
                sum[0] = fma(doubles(row + j), load(v + j), sum[0]);
                sum[1] = fma(doubles(row + j + kLanes), load(v + j + kLanes), sum[1]);
            }
            double total = sum_of(sum[0] + sum[1]);
            for (; j < s.b.n_rows; ++j) total += double(row[j]) * v[j];
            product[i * job.q + column] += total;
        }
    }
}

// Adds one tile to the product; returns false where a tile of floats has too many close pairs. Rows of A are packed.
template <class Real>
bool add_tile(const Job &job, Scratch<Real> &s, Index tile_b, double *product) {
    pack(job, s.b, tile_b);
    distances(job, s, false);
    if (has_many_close<Real>(job, finish(job, s, false, 0, s.a.n_rows), s.a.n_rows * s.b.n_rows)) return false;
    add_product(job, s, product);
    return true;
}

void times(const Job &job, Index tile_a, char *memory) {
    Arena arena{reinterpret_cast<std::uintptr_t>(memory)};
    Scratch<float> single{};
    if (job.is_single) single = lay_out<float>(job, arena), pack(job, single.a, tile_a);
    Scratch<double> s = lay_out<double>(job, arena);
    pack(job, s.a, tile_a);
    for (Index i = 0; i < s.a.n_rows * job.q; ++i) s.product[i] = 0;
    for (Index tile_b = 0; tile_b * job.tile < job.b.n_rows; ++tile_b)
        if (!job.is_single || !add_tile(job, single, tile_b, s.product)) add_tile(job, s, tile_b, s.product);
    for (Index i = 0; i < s.a.n_rows; ++i)
        for (Index column = 0; column < job.q; ++column)
            job.product[row_of(job.a, s.a.first + i) * job.q + column] = s.product[i * job.q + column];
}

}  // namespace

#define MIXKERN_GLUE_OF(a, b) a##b
#define MIXKERN_GLUE(a, b) MIXKERN_GLUE_OF(a, b)

extern const Build MIXKERN_GLUE(build_, MIXKERN_BUILD);
const Build MIXKERN_GLUE(build_, MIXKERN_BUILD) = {scratch_bytes, block, times};

}  // namespace mixkern
