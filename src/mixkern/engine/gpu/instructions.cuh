// Instructions of NVIDIA GPUs that CUDA C++ has no functions for, in PTX. This file comes before each file of kernels.

typedef unsigned int u32;
typedef unsigned long long u64;

__device__ __forceinline__ float root(float x) {
    float y;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ __forceinline__ float power_of_two(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ unsigned short half_of(float x) {
    unsigned short h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
}
__device__ __forceinline__ float of_half(unsigned short h) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
    return x;
}

// Barriers in shared memory and copies that they wait for, on Hopper and later. A barrier completes a phase when all of its
// arrivals and the bytes that it expects are there; await returns when the phase of a parity, 0 first, is complete.
#if __CUDA_ARCH__ >= 900
[[maybe_unused]] constexpr bool HAS_BULK_COPIES = true;
__device__ __forceinline__ void initialise(u32 barrier, u32 count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
// Copies that are asked for after this see the barriers.
__device__ __forceinline__ void publish_barriers() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void arrive(u32 barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void expect(u32 barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void await(u32 barrier, u32 parity) {
    asm volatile(
        "{\n"
        ".reg .pred is_complete;\n"
        "AGAIN:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 is_complete, [%0], %1;\n"
        "@is_complete bra COMPLETE;\n"
        "bra AGAIN;\n"
        "COMPLETE:\n"
        "}" ::"r"(barrier), "r"(parity) : "memory");
}
__device__ __forceinline__ void copy_bytes(u32 to, const void* from, u32 bytes, u32 barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}
#else
[[maybe_unused]] constexpr bool HAS_BULK_COPIES = false;
__device__ __forceinline__ void initialise(u32, u32) {}
__device__ __forceinline__ void publish_barriers() {}
__device__ __forceinline__ void arrive(u32) {}
__device__ __forceinline__ void expect(u32, u32) {}
__device__ __forceinline__ void await(u32, u32) {}
__device__ __forceinline__ void copy_bytes(u32, const void*, u32, u32) {}
#endif

// Four matrices of 8 x 8 halves from shared memory, a line from the address of each thread of a warp; and the product of a
// matrix of 16 x 16 halves with one of 16 x 8, added to floats.
__device__ __forceinline__ void read_matrices(u32 (&to)[4], u32 address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address));
}
__device__ __forceinline__ void multiply(float (&sum)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
