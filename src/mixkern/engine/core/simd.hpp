// Vectors of doubles and of floats as wide as the instruction set that this file is compiled for, and the few things done with them.
//
// One path for each build of CMakeLists.txt, chosen by its name. All have the same operations, for `Vector` and, with twice as many lanes,
// for `FloatVector`; what can be computed from these is written once, below the paths:
//
//   load, store    from and to any address
//   widened        kLanes floats from any address, as doubles; store_narrowed is the way back
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

#include <cstddef>
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

using FloatVector = __m512;
constexpr int kFloatLanes = 16;
constexpr int kFloatRows = 4, kFloatVectors = 2;  // as wide as a group of rows

inline FloatVector load(const float *p) { return _mm512_loadu_ps(p); }
inline void store(float *p, FloatVector v) { _mm512_storeu_ps(p, v); }
inline void stream(float *p, FloatVector v) { _mm512_stream_ps(p, v); }
inline FloatVector spread(float x) { return _mm512_set1_ps(x); }
inline FloatVector fma(FloatVector a, FloatVector b, FloatVector c) { return _mm512_fmadd_ps(a, b, c); }
inline FloatVector larger(FloatVector a, FloatVector b) { return _mm512_max_ps(a, b); }
inline unsigned below(FloatVector a, FloatVector b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
inline Vector widened(const float *p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
inline void store_narrowed(float *p, Vector v) { _mm256_storeu_ps(p, _mm512_cvtpd_ps(v)); }

// One term of the same series: e^2 is below 2^-26.
inline FloatVector sqrt_fast(FloatVector v) {
    const FloatVector y = _mm512_rsqrt14_ps(v);
    const FloatVector root = v * y;
    const FloatVector e = _mm512_fnmadd_ps(root, y, spread(1.0f));
    return fma(root * spread(0.5f), e, root);
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

using FloatVector = __m256;
constexpr int kFloatLanes = 8;
constexpr int kFloatRows = 4, kFloatVectors = 2;

inline FloatVector load(const float *p) { return _mm256_loadu_ps(p); }
inline void store(float *p, FloatVector v) { _mm256_storeu_ps(p, v); }
inline void stream(float *p, FloatVector v) { _mm256_stream_ps(p, v); }
inline FloatVector spread(float x) { return _mm256_set1_ps(x); }
inline FloatVector fma(FloatVector a, FloatVector b, FloatVector c) { return _mm256_fmadd_ps(a, b, c); }
inline FloatVector sqrt_fast(FloatVector v) { return _mm256_sqrt_ps(v); }
inline FloatVector larger(FloatVector a, FloatVector b) { return _mm256_max_ps(a, b); }
inline unsigned below(FloatVector a, FloatVector b) { return unsigned(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ))); }
inline Vector widened(const float *p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
inline void store_narrowed(float *p, Vector v) { _mm_storeu_ps(p, _mm256_cvtpd_ps(v)); }

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

using FloatVector = float32x4_t;
constexpr int kFloatLanes = 4;
constexpr int kFloatRows = 2, kFloatVectors = 4;

inline FloatVector load(const float *p) { return vld1q_f32(p); }
inline void store(float *p, FloatVector v) { vst1q_f32(p, v); }
inline void stream(float *p, FloatVector v) { vst1q_f32(p, v); }
inline FloatVector spread(float x) { return vdupq_n_f32(x); }
inline FloatVector fma(FloatVector a, FloatVector b, FloatVector c) { return vfmaq_f32(c, a, b); }
inline FloatVector sqrt_fast(FloatVector v) { return vsqrtq_f32(v); }
inline FloatVector larger(FloatVector a, FloatVector b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
inline unsigned below(FloatVector a, FloatVector b) { return vaddvq_u32(vandq_u32(vcltq_f32(a, b), uint32x4_t{1, 2, 4, 8})); }
inline Vector widened(const float *p) { return vcvt_f64_f32(vld1_f32(p)); }
inline void store_narrowed(float *p, Vector v) { vst1_f32(p, vcvt_f32_f64(v)); }

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

typedef float FloatVector __attribute__((vector_size(16)));
constexpr int kFloatLanes = 4;
constexpr int kFloatRows = 2, kFloatVectors = 2;

inline FloatVector load(const float *p) { return FloatVector{p[0], p[1], p[2], p[3]}; }
inline void store(float *p, FloatVector v) { p[0] = v[0], p[1] = v[1], p[2] = v[2], p[3] = v[3]; }
inline FloatVector spread(float x) { return FloatVector{x, x, x, x}; }
inline FloatVector fma(FloatVector a, FloatVector b, FloatVector c) { return a * b + c; }
#if defined(MIXKERN_BASELINE)
inline void stream(float *p, FloatVector v) { _mm_stream_ps(p, __m128(v)); }
inline FloatVector sqrt_fast(FloatVector v) { return FloatVector(_mm_sqrt_ps(__m128(v))); }
inline FloatVector larger(FloatVector a, FloatVector b) { return FloatVector(_mm_max_ps(__m128(a), __m128(b))); }
inline unsigned below(FloatVector a, FloatVector b) { return unsigned(_mm_movemask_ps(_mm_cmplt_ps(__m128(a), __m128(b)))); }
#else
inline void stream(float *p, FloatVector v) { store(p, v); }
inline FloatVector sqrt_fast(FloatVector v) {
    return FloatVector{__builtin_sqrtf(v[0]), __builtin_sqrtf(v[1]), __builtin_sqrtf(v[2]), __builtin_sqrtf(v[3])};
}
inline FloatVector larger(FloatVector a, FloatVector b) { return a > b ? a : b; }
inline unsigned below(FloatVector a, FloatVector b) {
    return unsigned(a[0] < b[0]) | unsigned(a[1] < b[1]) << 1 | unsigned(a[2] < b[2]) << 2 | unsigned(a[3] < b[3]) << 3;
}
#endif
inline Vector widened(const float *p) { return Vector{p[0], p[1]}; }
inline void store_narrowed(float *p, Vector v) { p[0] = float(v[0]), p[1] = float(v[1]); }

#endif

// A vector that several operations read is loaded once, into a register: compilers prefer to load it with each operation, and then loads
// are what takes the time.
#if defined(MIXKERN_AVX512)
#define MIXKERN_REGISTER "+v"
#elif defined(__SSE2__)
#define MIXKERN_REGISTER "+x"
#elif defined(MIXKERN_NEON)
#define MIXKERN_REGISTER "+w"
#endif
inline Vector in_register(Vector v) {
#if defined(MIXKERN_REGISTER)
    asm("" : MIXKERN_REGISTER(v));
#endif
    return v;
}
inline FloatVector in_register(FloatVector v) {
#if defined(MIXKERN_REGISTER)
    asm("" : MIXKERN_REGISTER(v));
#endif
    return v;
}

// What was streamed is seen by other threads from here on.
inline void finish_streams() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

typedef std::int64_t Integers __attribute__((vector_size(8 * kLanes)));
typedef std::int32_t FloatIntegers __attribute__((vector_size(4 * kFloatLanes)));

// The vectors of one type of numbers, for code that is written once for both.
template <class Real>
struct Simd;

template <>
struct Simd<double> {
    using Type = Vector;
    using Places = Integers;
    static constexpr int kLanes = ::kLanes, kRows = ::kRows, kVectors = ::kVectors;
    static constexpr std::ptrdiff_t kWidth = std::ptrdiff_t(kLanes) * kVectors;
};

template <>
struct Simd<float> {
    using Type = FloatVector;
    using Places = FloatIntegers;
    static constexpr int kLanes = kFloatLanes, kRows = kFloatRows, kVectors = kFloatVectors;
    static constexpr std::ptrdiff_t kWidth = std::ptrdiff_t(kLanes) * kVectors;
};

template <class Real>
using VectorOf = typename Simd<Real>::Type;

// Two rows exchange what belongs to the other, kStep lanes at a time.
template <class Real, int kStep>
inline void exchange(VectorOf<Real> &a, VectorOf<Real> &b) {
    constexpr int lanes = Simd<Real>::kLanes;
#if defined(__clang__)  // has no __builtin_shuffle, but makes shuffles of this loop
    for (int lane = 0; lane < lanes; ++lane) {
        if (lane & kStep) continue;
        const Real of_a = a[lane + kStep];
        a[lane + kStep] = b[lane];
        b[lane] = of_a;
    }
#else
    typename Simd<Real>::Places of_a, of_b;
    for (int lane = 0; lane < lanes; ++lane) {
        of_a[lane] = lane & kStep ? lanes + lane - kStep : lane;
        of_b[lane] = lane & kStep ? lanes + lane : lane + kStep;
    }
    const VectorOf<Real> first = __builtin_shuffle(a, b, of_a);
    b = __builtin_shuffle(a, b, of_b);
    a = first;
#endif
}

template <class Real, int kStep = 1>
inline void transpose(VectorOf<Real> (&square)[Simd<Real>::kLanes]) {
    for (int r = 0; r < Simd<Real>::kLanes; ++r)
        if (!(r & kStep)) exchange<Real, kStep>(square[r], square[r + kStep]);
    if constexpr (2 * kStep < Simd<Real>::kLanes) transpose<Real, 2 * kStep>(square);
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

// The same in floats. What underflows is 0: denormal results would be slow, and common.
inline FloatVector exp_negative(FloatVector x) {
    const FloatVector lowest = spread(-87.0f), magic = spread(0x1.8p23f), given = x;
    x = larger(x, lowest);
    const FloatVector rounded = fma(x, spread(0x1.715476p+0f), magic);
    const FloatVector n = rounded - magic;
    FloatVector r = fma(n, spread(-0x1.62e400p-1f), x);  // 15 bits: the product with n is exact
    r = fma(n, spread(-0x1.7f7d1cp-20f), r);
    constexpr float taylor[] = {1.0f / 5040, 1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f};
    FloatVector p = spread(taylor[0]);
    for (int i = 1; i < 8; ++i) p = fma(p, r, spread(taylor[i]));
#if defined(MIXKERN_AVX512)
    p = _mm512_scalef_ps(p, n);
#else
    p = p * FloatVector((FloatIntegers(rounded) - FloatIntegers(magic) + 127) << 23);
#endif
    return given < lowest ? spread(0.0f) : p;
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
