// A vector of doubles as wide as the instruction set that this file is compiled for, and the few things done with it.
//
// One path for each build of CMakeLists.txt, chosen by its name. All have the same operations; what can be computed from these is
// written once, below the paths:
//
//   load, store    from and to any address
//   stream         a store past the caches, where there is one; the address is a multiple of the vector's size
//   spread         one number in all lanes
//   fma(a, b, c)   a b + c, rounded once, or twice where the instruction set cannot
//   sqrt_exact     rounded correctly
//   sqrt_fast      the fastest root of positive numbers with an error of at most one unit in the last place
//   larger(a, b)   a where a > b, otherwise b, also where one of them is NaN
//   below(a, b)    bit i is set where a < b in lane i
//
// Plain arithmetic uses the compiler's vector extensions (GCC, Clang). Multiply-add is spelled out, and contraction is off in the
// build, so that every instance of a formula rounds alike: equal rows then have equal whitened coordinates.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(MIXKERN_NEON)
#include <arm_neon.h>
#endif

namespace {

#if defined(MIXKERN_AVX512)

using Vector = __m512d;
constexpr int kLanes = 8;
constexpr int kRows = 2, kVectors = 4;  // broadcasts cost more than loads: few rows, many vectors

inline Vector load(const double *p) { return _mm512_loadu_pd(p); }
inline void store(double *p, Vector v) { _mm512_storeu_pd(p, v); }
inline void stream(double *p, Vector v) { _mm512_stream_pd(p, v); }
inline Vector spread(double x) { return _mm512_set1_pd(x); }
inline Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_pd(a, b, c); }
inline Vector sqrt_exact(Vector v) { return _mm512_sqrt_pd(v); }
inline Vector larger(Vector a, Vector b) { return _mm512_max_pd(a, b); }
inline unsigned below(Vector a, Vector b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }

// The estimate y of 1/sqrt(v) is good to 2^-14; with e = 1 - v y^2 the series of (1 - e)^(-1/2), cut after e^3, leaves 2^-53.
// Needs v > 0.
inline Vector sqrt_fast(Vector v) {
    const Vector y = _mm512_rsqrt14_pd(v);
    const Vector root = v * y;
    const Vector e = _mm512_fnmadd_pd(root, y, spread(1.0));
    Vector p = fma(e, spread(0.3125), spread(0.375));
    p = fma(p, e, spread(0.5));
    return fma(root * e, p, root);
}

#elif defined(MIXKERN_AVX2)

using Vector = __m256d;
constexpr int kLanes = 4;
constexpr int kRows = 4, kVectors = 2;

inline Vector load(const double *p) { return _mm256_loadu_pd(p); }
inline void store(double *p, Vector v) { _mm256_storeu_pd(p, v); }
inline void stream(double *p, Vector v) { _mm256_stream_pd(p, v); }
inline Vector spread(double x) { return _mm256_set1_pd(x); }
inline Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_pd(a, b, c); }
inline Vector sqrt_exact(Vector v) { return _mm256_sqrt_pd(v); }
inline Vector sqrt_fast(Vector v) { return _mm256_sqrt_pd(v); }
inline Vector larger(Vector a, Vector b) { return _mm256_max_pd(a, b); }
inline unsigned below(Vector a, Vector b) { return unsigned(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_LT_OQ))); }

#elif defined(MIXKERN_NEON)

using Vector = float64x2_t;
constexpr int kLanes = 2;
constexpr int kRows = 2, kVectors = 4;  // one instruction loads two vectors, but spreads one number only

inline Vector load(const double *p) { return vld1q_f64(p); }
inline void store(double *p, Vector v) { vst1q_f64(p, v); }
inline void stream(double *p, Vector v) { vst1q_f64(p, v); }
inline Vector spread(double x) { return vdupq_n_f64(x); }
inline Vector fma(Vector a, Vector b, Vector c) { return vfmaq_f64(c, a, b); }
inline Vector sqrt_exact(Vector v) { return vsqrtq_f64(v); }
// The plain instruction, until this can be measured. Steps from vrsqrteq_f64, which is good to 8 bits only, are slower on an Apple M1 and a
// Neoverse N1 and faster on a Neoverse V2, a Neoverse N2 and a Cortex-A57 by the models of llvm-mca: at d = 2, 75, 86, 43, 86 and 147 cycles
// for 16 pairs instead of 24, 60, 60, 129 and 514.
inline Vector sqrt_fast(Vector v) { return vsqrtq_f64(v); }
inline Vector larger(Vector a, Vector b) { return vbslq_f64(vcgtq_f64(a, b), a, b); }
inline unsigned below(Vector a, Vector b) {
    const uint64x2_t is_below = vcltq_f64(a, b);
    return unsigned(vgetq_lane_u64(is_below, 0) & 1) | unsigned(vgetq_lane_u64(is_below, 1) & 2);
}

#else  // baseline: SSE2, which all x86-64 processors have; scalar: any other processor

typedef double Vector __attribute__((vector_size(16)));
constexpr int kLanes = 2;
constexpr int kRows = 2, kVectors = 2;

inline Vector load(const double *p) { return Vector{p[0], p[1]}; }
inline void store(double *p, Vector v) { p[0] = v[0], p[1] = v[1]; }
inline Vector spread(double x) { return Vector{x, x}; }
inline Vector fma(Vector a, Vector b, Vector c) { return a * b + c; }
#if defined(MIXKERN_BASELINE)
inline Vector sqrt_exact(Vector v) { return Vector(_mm_sqrt_pd(__m128d(v))); }
inline void stream(double *p, Vector v) { _mm_stream_pd(p, __m128d(v)); }
#else
inline void stream(double *p, Vector v) { store(p, v); }
inline Vector sqrt_exact(Vector v) { return Vector{__builtin_sqrt(v[0]), __builtin_sqrt(v[1])}; }
#endif
inline Vector sqrt_fast(Vector v) { return sqrt_exact(v); }
inline Vector larger(Vector a, Vector b) { return Vector{a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]}; }
inline unsigned below(Vector a, Vector b) { return unsigned(a[0] < b[0]) | unsigned(a[1] < b[1]) << 1; }

#endif

// What was streamed is seen by other threads from here on.
inline void finish_streams() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

typedef std::int64_t Integers __attribute__((vector_size(8 * kLanes)));

// Two rows exchange what belongs to the other, kStep lanes at a time.
template <int kStep>
inline void exchange(Vector &a, Vector &b) {
#if defined(__clang__)  // has no __builtin_shuffle, but makes shuffles of this loop
    for (int lane = 0; lane < kLanes; ++lane) {
        if (lane & kStep) continue;
        const double of_a = a[lane + kStep];
        a[lane + kStep] = b[lane];
        b[lane] = of_a;
    }
#else
    Integers of_a, of_b;
    for (int lane = 0; lane < kLanes; ++lane) {
        of_a[lane] = lane & kStep ? kLanes + lane - kStep : lane;
        of_b[lane] = lane & kStep ? kLanes + lane : lane + kStep;
    }
    const Vector first = __builtin_shuffle(a, b, of_a);
    b = __builtin_shuffle(a, b, of_b);
    a = first;
#endif
}

inline void transpose(Vector (&square)[kLanes]) {
    for (int r = 0; r < kLanes; ++r)
        if (!(r & 1)) exchange<1>(square[r], square[r + 1]);
    if constexpr (kLanes > 2)
        for (int r = 0; r < kLanes; ++r)
            if (!(r & 2)) exchange<2>(square[r], square[r + 2]);
    if constexpr (kLanes > 4)
        for (int r = 0; r < kLanes; ++r)
            if (!(r & 4)) exchange<4>(square[r], square[r + 4]);
}

// exp(x) for x <= 0, to about two units in the last place; exp(0) is exactly 1, and what underflows goes to 0 through the denormals.
inline Vector exp_negative(Vector x) {
    x = larger(x, spread(-750.0));
    const Vector magic = spread(0x1.8p52);  // adding it rounds to an integer, kept in the low bits
    const Vector rounded = fma(x, spread(0x1.71547652b82fep+0), magic);
    const Vector n = rounded - magic;
    Vector r = fma(n, spread(-0x1.62e42fefa3800p-1), x);
    r = fma(n, spread(-0x1.ef35793c76730p-45), r);
    constexpr double taylor[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                                 1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1.0,         1.0};
    Vector p = spread(taylor[0]);
    for (int i = 1; i < 14; ++i) p = fma(p, r, spread(taylor[i]));
#if defined(MIXKERN_AVX512)
    return _mm512_scalef_pd(p, n);
#else
    // Two factors, because 2^n alone underflows before the product does.
    const Integers exponent = Integers(rounded) - Integers(magic);
    const Integers half = exponent >> 1;
    const Vector one = Vector((half + 1023) << 52), two = Vector((exponent - half + 1023) << 52);
    return p * one * two;
#endif
}

typedef std::uint64_t Bits __attribute__((vector_size(8 * kLanes)));

// ln x for normal x > 0, to about two units in the last place: ln(2^e m) with m between 1/sqrt(2) and sqrt(2), and the series of
// 2 artanh((m - 1) / (m + 1)).
inline Vector log_positive(Vector x) {
    const Bits bits = Bits(x);
    Vector m = Vector((bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
    Vector e = __builtin_convertvector(Integers(bits >> 52) - 1023, Vector);
    const auto is_large = m > spread(0x1.6a09e667f3bcdp+0);
    m = is_large ? m * spread(0.5) : m;
    e = is_large ? e + spread(1.0) : e;
    const Vector f = (m - spread(1.0)) / (m + spread(1.0));
    const Vector g = f * f;
    Vector p = spread(1.0 / 23);
    for (int i = 21; i > 1; i -= 2) p = fma(p, g, spread(1.0 / i));
    const Vector low = fma(e, spread(-0x1.8432a1b0e2634p-43), f * g * p * spread(2.0));
    return fma(e, spread(0x1.62e42fefa4000p-1), low + f * spread(2.0));
}

// A product of positive numbers, however many and however large: its logarithm is taken once.
struct Product {
    Vector mantissa = spread(1.0);
    Integers exponent = Integers{};

    void multiply(Vector factor) {
        const Bits bits = Bits(mantissa * factor);
        exponent += Integers(bits >> 52) - 1023;
        mantissa = Vector((bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
    }

    Vector log() const { return fma(__builtin_convertvector(exponent, Vector), spread(0x1.62e42fefa39efp-1), log_positive(mantissa)); }
};

// The lanes added up, always in the same order.
inline double sum_of(Vector v) {
    double lanes[kLanes], total = 0;
    store(lanes, v);
    for (int lane = 0; lane < kLanes; ++lane) total += lanes[lane];
    return total;
}

inline double largest_of(Vector v) {
    double lanes[kLanes], largest = -__builtin_inf();
    store(lanes, v);
    for (int lane = 0; lane < kLanes; ++lane) largest = lanes[lane] > largest ? lanes[lane] : largest;
    return largest;
}

}  // namespace
