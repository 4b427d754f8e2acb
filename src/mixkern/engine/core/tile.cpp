// One tile of the result: rows of A against rows of B. Compiled once per instruction set, under MIXKERN_BUILD.
//
//   D_ij = sum_k 1/2 (rho_ik + rho_jk) ||W_k (x_i - x_j)||
//
//   pack      rows of both sides, centred, one feature after the other, so that a vector holds one feature of several rows
//   whiten    z = W_k x for a chunk of components, always summed in the same order: equal rows keep equal coordinates
//   pairs     differences of z, squares, roots and weights, for a few rows of A and a few vectors of B at a time
//   redo      close pairs again from the raw differences W_k (x_i - x_j), which lose no digits
//   finish    the exponential, and the copy to the result
//
// Everything is in an unnamed namespace, and nothing comes from the standard library's templates: code that was compiled for a
// newer processor must not be shared with the rest of the module by the linker.
#include "arena.hpp"
#include "job.hpp"
#include "simd.hpp"
#include "whiten.hpp"

namespace mixkern {
namespace {

// Squares are summed from this on, so that the reciprocal root of zero never shows; pairs this close are redone anyhow.
constexpr double kTiny = 1e-300;
constexpr double kTinyDistance = 1e-140;
// Whitened coordinates carry an error of about 1.1e-16 |W| |x| each. Below this multiple of |W| (|x_i| + |x_j|) it could exceed 5e-13 of
// the distance, and the pair is redone.
constexpr double kNear = 2.5e-4;

// The rows of one side of a tile. Coordinates lie in blocks of kWidth rows, and feature by feature within a block: a block is read from
// front to back, and no power of two between neighbours makes them fight for the same place in the cache.
struct Panel {
    const Side *side;
    Index first, n_rows;
    double *x;       // (tile / kWidth, d, kWidth) centred
    double *z;       // (tile / kWidth, chunk, d, kWidth) whitened
    double *shares;  // (k, tile) halved
    double *reach;   // (tile) |x|
    double *stretch; // (tile) sum_k 1/2 rho_k |W_k|
    std::int32_t *codes;  // (e, tile)
};

struct Scratch {
    Panel a, b;
    double *distance;       // (tile, tile)
    double *mirrored;       // (kLanes, tile)
    double *delta;          // (d, kLanes) raw differences of close pairs
    double *product;        // (tile, q)
    std::int32_t *counts;   // (tile)
    std::int32_t *active;   // (k) components not skipped
    Index n_active;
};

Panel lay_out_panel(const Job &job, const Side &side, Arena &arena) {
    const Index tile = job.tile;
    return Panel{&side,
                 0,
                 0,
                 arena.take<double>(job.d * tile),
                 arena.take<double>(job.chunk * job.d * tile),
                 arena.take<double>(job.k * tile),
                 arena.take<double>(tile),
                 arena.take<double>(tile),
                 arena.take<std::int32_t>(job.e * tile)};
}

Scratch lay_out(const Job &job, Arena &arena) {
    Scratch s;
    s.a = lay_out_panel(job, job.a, arena);
    s.b = lay_out_panel(job, job.b, arena);
    s.distance = arena.take<double>(job.tile * job.tile);
    s.mirrored = arena.take<double>(kLanes * job.tile);
    s.delta = arena.take<double>(job.d * kLanes);
    s.product = arena.take<double>(job.tile * job.q);
    s.counts = arena.take<std::int32_t>(job.tile);
    s.active = arena.take<std::int32_t>(job.k);
    s.n_active = 0;
    return s;
}

std::size_t scratch_bytes(const Job &job) {
    Arena arena{0};
    lay_out(job, arena);
    return std::size_t(arena.next);
}

// Where feature c of row t is among blocked coordinates.
inline Index place(Index t, Index c, Index d) { return (t / kWidth * d + c) * kWidth + t % kWidth; }

inline Index row_of(const Side &side, Index t) { return side.order ? side.order[t] : t; }

// A missing code, however it is written, is a category of its own.
void pack(const Job &job, Panel &panel, Index tile_index) {
    constexpr std::int32_t gap = -1;
    const Side &side = *panel.side;
    const Index tile = job.tile, d = job.d, k = job.k, e = job.e;
    panel.first = tile_index * tile;
    panel.n_rows = side.n_rows - panel.first < tile ? side.n_rows - panel.first : tile;
    const Index padded = round_up(panel.n_rows, kWidth);
    for (Index t = 0; t < panel.n_rows; ++t) {
        const Index row = row_of(side, panel.first + t);
        const double *x = side.rows + row * d, *share = side.shares + row * side.share_stride;
        double sq_reach = 0, stretch = 0;
        for (Index c = 0; c < d; ++c) {
            const double centred = x[c] - job.centre[c];
            panel.x[place(t, c, d)] = centred;
            sq_reach += centred * centred;
        }
        for (Index j = 0; j < k; ++j) {
            const double half = 0.5 * share[j];
            panel.shares[j * tile + t] = half;
            stretch += half * job.norms[j];
        }
        panel.reach[t] = __builtin_sqrt(sq_reach);
        panel.stretch[t] = stretch;
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

void whiten(const Job &job, Panel &panel, const Chunk &chunk) {
    const Index d = job.d;
    for (Index block = 0; block * kWidth < panel.n_rows; ++block) {
        const double *x = panel.x + block * d * kWidth;
        for (Index i = 0; i < chunk.count; ++i) {
            double *z = panel.z + (block * job.chunk + i) * d * kWidth;
            if (job.is_diagonal)
                whiten_diagonal(d, job.whiteners + chunk.components[i] * d, x, z);
            else
                whiten_full(d, job.whiteners + chunk.components[i] * d * d, x, z);
        }
    }
}

// The components that a group of rows must not skip, from row t of a tile on; null for all.
inline const std::uint8_t *kept_of(const Job &job, const Panel &panel, Index t) {
    return panel.side->keep ? panel.side->keep + (panel.first + t) / kGroup * job.k : nullptr;
}

// Adds a chunk of components to a block of kRows x kWidth distances. `kD` is d where that is small and known, else 0.
template <int kD, bool kSkips>
inline void pairs_block(const Job &job, const Scratch &s, const Chunk &chunk, Index i, Index j) {
    const Index tile = job.tile, d = kD ? kD : job.d;
    Vector distance[kRows][kVectors];
    for (int r = 0; r < kRows; ++r)
        for (int v = 0; v < kVectors; ++v)
            distance[r][v] = chunk.is_first ? spread(0.0) : load(s.distance + (i + r) * tile + j + v * kLanes);
    const double *za = s.a.z + i / kWidth * job.chunk * d * kWidth + i % kWidth, *zb = s.b.z + j / kWidth * job.chunk * d * kWidth;
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
            for (int v = 0; v < kVectors; ++v) sum[r][v] = spread(kTiny);
        for (Index c = 0; c < d; ++c, za += kWidth, zb += kWidth) {
            Vector b[kVectors];
            for (int v = 0; v < kVectors; ++v) b[v] = load(zb + v * kLanes);
            for (int r = 0; r < kRows; ++r) {
                const Vector a = spread(za[r]);
                for (int v = 0; v < kVectors; ++v) {
                    const Vector difference = a - b[v];
                    sum[r][v] = fma(difference, difference, sum[r][v]);
                }
            }
        }
        const double *share_a = s.a.shares + chunk.components[component] * tile + i;
        const double *share_b = s.b.shares + chunk.components[component] * tile + j;
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
inline Index first_column(bool is_on_diagonal, Index i) { return is_on_diagonal ? i / kWidth * kWidth : 0; }

template <int kD, bool kSkips>
void pairs_between(const Job &job, const Scratch &s, const Chunk &chunk, bool is_on_diagonal) {
    // Columns outside: their whitened coordinates stay in the first cache while the rows go by.
    for (Index j = 0; j < s.b.n_rows; j += kWidth) {
        const Index last = is_on_diagonal && j + kWidth < s.a.n_rows ? j + kWidth : s.a.n_rows;
        for (Index i = 0; i < last; i += kRows) pairs_block<kD, kSkips>(job, s, chunk, i, j);
    }
}

template <int kD>
void pairs_of(const Job &job, const Scratch &s, const Chunk &chunk, bool is_on_diagonal) {
    job.a.keep ? pairs_between<kD, true>(job, s, chunk, is_on_diagonal) : pairs_between<kD, false>(job, s, chunk, is_on_diagonal);
}

void pairs(const Job &job, const Scratch &s, const Chunk &chunk, bool is_on_diagonal) {
    switch (job.d) {
        case 1: return pairs_of<1>(job, s, chunk, is_on_diagonal);
        case 2: return pairs_of<2>(job, s, chunk, is_on_diagonal);
        case 3: return pairs_of<3>(job, s, chunk, is_on_diagonal);
        case 4: return pairs_of<4>(job, s, chunk, is_on_diagonal);
        case 5: return pairs_of<5>(job, s, chunk, is_on_diagonal);
        default: return pairs_of<0>(job, s, chunk, is_on_diagonal);
    }
}

struct Pair {
    Index i, j;
};

// Up to kLanes distances from raw differences, with every component, none skipped.
void redo(const Job &job, const Scratch &s, const Pair *close, int count) {
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
            weight[lane] = s.a.shares[component * tile + pair.i] + s.b.shares[component * tile + pair.j];
        }
        distance = fma(load(weight), sqrt_exact(sum), distance);
    }
    double result[kLanes];
    store(result, distance);
    for (int lane = 0; lane < count; ++lane) s.distance[close[lane].i * tile + close[lane].j] = result[lane];
}

void redo_close_pairs(const Job &job, const Scratch &s, bool is_on_diagonal, Index begin, Index end) {
    Pair close[kLanes];
    int count = 0;
    for (Index i = begin; i < end; ++i) {
        const Vector reach = spread(s.a.reach[i]), stretch = spread(s.a.stretch[i]);
        for (Index j = first_column(is_on_diagonal, i); j < s.b.n_rows; j += kLanes) {
            const Vector bound = spread(kNear) * ((stretch + load(s.b.stretch + j)) * (reach + load(s.b.reach + j)));
            unsigned found = below(load(s.distance + i * job.tile + j), larger(bound, spread(kTinyDistance)));
            for (; found; found &= found - 1) {
                const Index column = j + __builtin_ctz(found);
                if (column >= s.b.n_rows) break;
                close[count++] = {i, column};
                if (count == kLanes) redo(job, s, close, count), count = 0;
            }
        }
    }
    if (count) redo(job, s, close, count);
}

void count_differences(const Job &job, const Scratch &s, Index i, std::int32_t *counts) {
    const Index padded = round_up(s.b.n_rows, kWidth);
    for (Index j = 0; j < padded; ++j) counts[j] = 0;
    for (Index c = 0; c < job.e; ++c) {
        const std::int32_t a = s.a.codes[c * job.tile + i];
        const std::int32_t *b = s.b.codes + c * job.tile;
        for (Index j = 0; j < padded; ++j) counts[j] += a != b[j];
    }
}

void exponentials(const Job &job, const Scratch &s, bool is_on_diagonal, Index begin, Index end) {
    const Vector per_sq_distance = spread(-job.per_sq_distance), per_sq_count = spread(-job.per_sq_count);
    for (Index i = begin; i < end; ++i) {
        double *row = s.distance + i * job.tile;
        if (job.e) count_differences(job, s, i, s.counts);
        for (Index j = first_column(is_on_diagonal, i); j < s.b.n_rows; j += kLanes) {
            const Vector distance = load(row + j);
            Vector exponent = per_sq_distance * (distance * distance);
            if (job.e) {
                double count[kLanes];
                for (int lane = 0; lane < kLanes; ++lane) count[lane] = s.counts[j + lane];
                const Vector counts = load(count);
                exponent = fma(per_sq_count, counts * counts, exponent);
            }
            store(row + j, exp_negative(exponent));
        }
    }
}

bool is_kept(const Job &job, const Panel &panel, Index component) {
    for (Index t = 0; t < panel.n_rows; t += kGroup)
        if (kept_of(job, panel, t)[component]) return true;
    return false;
}

// Distances of one tile, into s.distance; on the diagonal only the upper triangle, in whole blocks. Both panels are packed.
void distances(const Job &job, Scratch &s, bool is_on_diagonal) {
    s.n_active = 0;
    for (Index component = 0; component < job.k; ++component)
        if (!job.a.keep || is_kept(job, s.a, component) || is_kept(job, s.b, component)) s.active[s.n_active++] = std::int32_t(component);
    if (s.n_active == 0 || job.d == 0) {
        for (Index i = 0; i < round_up(s.a.n_rows, kRows); ++i)
            for (Index j = 0; j < round_up(s.b.n_rows, kWidth); ++j) s.distance[i * job.tile + j] = 0;
        return;
    }
    for (Index first = 0; first < s.n_active; first += job.chunk) {
        const Chunk chunk{s.active + first, s.n_active - first < job.chunk ? s.n_active - first : job.chunk, first == 0};
        whiten(job, s.a, chunk);
        whiten(job, s.b, chunk);
        pairs(job, s, chunk, is_on_diagonal);
    }
}

// Turns some rows of distances into what was asked for.
void finish(const Job &job, const Scratch &s, bool is_on_diagonal, Index begin, Index end) {
    if (job.d) redo_close_pairs(job, s, is_on_diagonal, begin, end);
    if (job.is_kernel) exponentials(job, s, is_on_diagonal, begin, end);
}

template <class T>
inline void copy_row(T *to, const double *from, Index count, bool) {
    for (Index j = 0; j < count; ++j) to[j] = T(from[j]);
}

// Large results go past the caches: whole lines are then written without being read first.
inline void copy_row(double *to, const double *from, Index count, bool is_streamed) {
    Index j = 0;
    if (is_streamed) {
        for (; j < count && reinterpret_cast<std::uintptr_t>(to + j) % sizeof(Vector); ++j) to[j] = from[j];
        for (; j + kLanes <= count; j += kLanes) stream(to + j, load(from + j));
    }
    for (; j < count; ++j) to[j] = from[j];
}

template <class T>
void write_rows(const Job &job, const Scratch &s, bool is_on_diagonal, Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
        const Index first = first_column(is_on_diagonal, i);
        T *to = static_cast<T *>(job.out) + row_of(job.a, s.a.first + i) * job.out_stride + s.b.first;
        copy_row(to + first, s.distance + i * job.tile + first, s.b.n_rows - first, job.is_streamed);
    }
}

// The mirror image, a few columns of the tile at a time. Rows and columns beyond the last are turned over too, but not copied.
template <class T>
void write_mirrored(const Job &job, const Scratch &s, bool is_on_diagonal) {
    for (Index j = 0; j < s.b.n_rows; j += kLanes) {
        // On the diagonal: those rows whose upper triangle, in whole blocks, has these columns.
        const Index end = (j / kWidth + 1) * kWidth, rows = is_on_diagonal && end < s.a.n_rows ? end : s.a.n_rows;
        for (Index i = 0; i < rows; i += kLanes) {
            Vector square[kLanes];
            for (int r = 0; r < kLanes; ++r) square[r] = load(s.distance + (i + r) * job.tile + j);
            transpose(square);
            for (int r = 0; r < kLanes; ++r) store(s.mirrored + r * job.tile + i, square[r]);
        }
        for (Index r = 0; r < kLanes && j + r < s.b.n_rows; ++r)
            copy_row(static_cast<T *>(job.out) + row_of(job.b, s.b.first + j + r) * job.out_stride + s.a.first,
                     s.mirrored + r * job.tile, rows, job.is_streamed);
    }
}

template <class T>
void finish_and_write(const Job &job, const Scratch &s, bool is_on_diagonal) {
    constexpr Index kBand = 8;  // rows that stay in the first cache from the distance to the result
    for (Index begin = 0; begin < s.a.n_rows; begin += kBand) {
        const Index end = begin + kBand < s.a.n_rows ? begin + kBand : s.a.n_rows;
        finish(job, s, is_on_diagonal, begin, end);
        write_rows<T>(job, s, is_on_diagonal, begin, end);
    }
    if (job.is_symmetric) write_mirrored<T>(job, s, is_on_diagonal);
    if (job.is_streamed) finish_streams();
}

void block(const Job &job, Index tile_a, Index tile_b, char *memory) {
    Arena arena{reinterpret_cast<std::uintptr_t>(memory)};
    Scratch s = lay_out(job, arena);
    pack(job, s.a, tile_a);
    pack(job, s.b, tile_b);
    const bool is_on_diagonal = job.is_symmetric && tile_a == tile_b;
    distances(job, s, is_on_diagonal);
    if (job.is_float32)
        finish_and_write<float>(job, s, is_on_diagonal);
    else
        finish_and_write<double>(job, s, is_on_diagonal);
}

// product (tile, q) += kernel values (tile, tile) times values (tile, q), in vectors over the rows of B.
void add_product(const Job &job, const Scratch &s) {
    const Index m = job.b.n_rows;
    for (Index column = 0; column < job.q; ++column) {
        const double *v = job.values + column * m + s.b.first;
        for (Index i = 0; i < s.a.n_rows; ++i) {
            const double *row = s.distance + i * job.tile;
            Vector sum[2] = {spread(0.0), spread(0.0)};
            Index j = 0;
            for (; j + 2 * kLanes <= s.b.n_rows; j += 2 * kLanes) {
                sum[0] = fma(load(row + j), load(v + j), sum[0]);
                sum[1] = fma(load(row + j + kLanes), load(v + j + kLanes), sum[1]);
            }
            double lanes[kLanes], total = 0;
            store(lanes, sum[0] + sum[1]);
            for (int lane = 0; lane < kLanes; ++lane) total += lanes[lane];
            for (; j < s.b.n_rows; ++j) total += row[j] * v[j];
            s.product[i * job.q + column] += total;
        }
    }
}

void times(const Job &job, Index tile_a, char *memory) {
    Arena arena{reinterpret_cast<std::uintptr_t>(memory)};
    Scratch s = lay_out(job, arena);
    pack(job, s.a, tile_a);
    for (Index i = 0; i < s.a.n_rows * job.q; ++i) s.product[i] = 0;
    for (Index tile_b = 0; tile_b * job.tile < job.b.n_rows; ++tile_b) {
        pack(job, s.b, tile_b);
        distances(job, s, false);
        finish(job, s, false, 0, s.a.n_rows);
        add_product(job, s);
    }
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
