// The rows of one side of a tile: packed, centred and whitened. `Real` is the type that distances are computed in.
//
// Floats lose digits where coordinates are large beside their differences. So rows are whitened in double, each component subtracts
// its own centre (Job::shifts), and the result is rounded once, by at most 2^-24 |z|. With R = sum_k rho_k |z_k| of either row, a
// distance D is then off by at most 2^-24 (R_a + R_b + D), and by some roundings of its sums: by the triangle inequality, |z_k| of one
// row is at most |z_k| of the other and their distance.
#pragma once

#include "arena.hpp"
#include "job.hpp"
#include "simd.hpp"
#include "whiten.hpp"

namespace mixkern {
namespace {

template <class T, class U>
constexpr bool kIsSame = false;
template <class T>
constexpr bool kIsSame<T, T> = true;

// Shares below this are zero in floats: they change nothing, and products with denormal numbers are slow.
constexpr double kSmallestFloatShare = 1e-30;
// Roundings of doubles, in units of those of floats, and a distance below which floats see equal rows: both are parts of R.
constexpr double kDoubleRounding = 0x1p-29, kEqual = 1e-16;

// Coordinates lie in blocks of Simd<Real>::kWidth rows, and feature by feature within a block: a block is read from front to back, and no
// power of two between neighbours makes them fight for the same place in the cache. Those of x are in blocks for doubles.
template <class Real>
struct Panel {
    const Side *side;
    Index first, n_rows;
    double *x;       // (tile / kWidth, d, kWidth) centred
    Real *z;         // (tile / kWidth, chunk, d, kWidth) whitened
    double *white;   // (d, kWidth) whitened in double, before rounding; unused for doubles
    Real *shares;    // (k, tile) halved
    Real *reach;     // (tile) |x|; for floats, R
    Real *stretch;   // (tile) sum_k 1/2 rho_k |W_k|; for floats, what R is besides the sum
    std::int32_t *codes;  // (e, tile)
};

template <class Real>
Panel<Real> lay_out_panel(const Job &job, const Side &side, Arena &arena) {
    const Index tile = job.tile;
    return Panel<Real>{&side,
                       0,
                       0,
                       arena.take<double>(job.d * tile),
                       arena.take<Real>(job.chunk * job.d * tile),
                       arena.take<double>(kIsSame<Real, float> ? job.d * kWidth : 0),
                       arena.take<Real>(job.k * tile),
                       arena.take<Real>(tile),
                       arena.take<Real>(tile),
                       arena.take<std::int32_t>(job.e * tile)};
}

// Where feature c of row t is among blocked coordinates.
inline Index place(Index t, Index c, Index d) { return (t / kWidth * d + c) * kWidth + t % kWidth; }

inline Index row_of(const Side &side, Index t) { return side.order ? side.order[t] : t; }

// A missing code, however it is written, is a category of its own.
template <class Real>
void pack(const Job &job, Panel<Real> &panel, Index tile_index) {
    constexpr std::int32_t gap = -1;
    const Side &side = *panel.side;
    const Index tile = job.tile, d = job.d, k = job.k, e = job.e;
    panel.first = tile_index * tile;
    panel.n_rows = side.n_rows - panel.first < tile ? side.n_rows - panel.first : tile;
    const Index padded = round_up(panel.n_rows, kGroup);
    for (Index t = 0; t < panel.n_rows; ++t) {
        const Index row = row_of(side, panel.first + t);
        const double *x = side.rows + row * d, *share = side.shares + row * side.share_stride;
        double sq_reach = 0, stretch = 0, total = 0;
        for (Index c = 0; c < d; ++c) {
            const double centred = x[c] - job.centre[c];
            panel.x[place(t, c, d)] = centred;
            sq_reach += centred * centred;
        }
        for (Index j = 0; j < k; ++j) {
            const double half = 0.5 * share[j];
            panel.shares[j * tile + t] = kIsSame<Real, float> && half < kSmallestFloatShare ? Real(0) : Real(half);
            stretch += half * job.norms[j];
            total += half;
        }
        const double reach = __builtin_sqrt(sq_reach);
        panel.reach[t] = Real(reach);
        panel.stretch[t] = Real(kIsSame<Real, float> ? 2 * (kDoubleRounding * stretch * reach + kEqual * total) : stretch);
        for (Index c = 0; c < e; ++c) {
            const std::int32_t code = side.codes[row * e + c];
            panel.codes[c * tile + t] = code < 0 ? gap : code;
        }
    }
    // Rows that only fill up the last vector; their values are computed and thrown away.
    for (Index t = panel.n_rows; t < padded; ++t) {
        for (Index c = 0; c < d; ++c) panel.x[place(t, c, d)] = 0;
        for (Index j = 0; j < k; ++j) panel.shares[j * tile + t] = 0;
        for (Index c = 0; c < e; ++c) panel.codes[c * tile + t] = gap;
        panel.reach[t] = panel.stretch[t] = 0;
    }
}

// Components that are whitened and added together.
struct Chunk {
    const std::int32_t *components;
    Index count;
    bool is_first;
};

inline void whiten_one(const Job &job, Index component, const double *x, double *z) {
    if (job.is_diagonal)
        whiten_diagonal(job.d, job.whiteners + component * job.d, x, z);
    else
        whiten_full(job.d, job.whiteners + component * job.d * job.d, x, z);
}

// Floats of kWidth whitened rows, from row t on, about the centre of a component; |z| of each goes into the reach.
inline void narrow(const Job &job, Panel<float> &panel, Index component, Index t, float *z) {
    constexpr Index kFloatWidth = Simd<float>::kWidth;
    const double *shift = job.shifts + component * job.d;
    Vector sq_length[kVectors];
    for (int v = 0; v < kVectors; ++v) sq_length[v] = spread(0.0);
    for (Index c = 0; c < job.d; ++c)
        for (int v = 0; v < kVectors; ++v) {
            const Vector white = load(panel.white + c * kWidth + v * kLanes) - spread(shift[c]);
            sq_length[v] = fma(white, white, sq_length[v]);
            store_narrowed(z + c * kFloatWidth + v * kLanes, white);
        }
    for (int v = 0; v < kVectors; ++v) {
        const Vector share = widened(panel.shares + component * job.tile + t + v * kLanes);
        float *reach = panel.reach + t + v * kLanes;
        store_narrowed(reach, fma(share + share, sqrt_exact(sq_length[v]), widened(reach)));
    }
}

template <class Real>
void whiten(const Job &job, Panel<Real> &panel, const Chunk &chunk) {
    constexpr Index kRealWidth = Simd<Real>::kWidth;
    static_assert(kRealWidth % kWidth == 0 && kGroup % kRealWidth == 0, "blocks of floats are whole blocks of doubles, and groups of both");
    const Index d = job.d, padded = round_up(panel.n_rows, kRealWidth);
    for (Index t = 0; t < padded; t += kWidth) {
        const double *x = panel.x + t * d;
        for (Index i = 0; i < chunk.count; ++i) {
            Real *z = panel.z + (t / kRealWidth * job.chunk + i) * d * kRealWidth + t % kRealWidth;
            if constexpr (kIsSame<Real, double>) {
                whiten_one(job, chunk.components[i], x, z);
            } else {
                whiten_one(job, chunk.components[i], x, panel.white);
                narrow(job, panel, chunk.components[i], t, z);
            }
        }
    }
}

// The components that a group of rows must not skip, from row t of a tile on; null for all.
template <class Real>
inline const std::uint8_t *kept_of(const Job &job, const Panel<Real> &panel, Index t) {
    return panel.side->keep ? panel.side->keep + (panel.first + t) / kGroup * job.k : nullptr;
}

}  // namespace
}  // namespace mixkern
