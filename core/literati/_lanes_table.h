/* The lane kernels for counts of 16, 32 and 64 bits and, on x86-64, for SSE2, AVX2 and AVX-512 registers.
 * lanes_table() picks at run time, so one binary serves every machine.
 */
#ifndef LITERATI_LANES_TABLE_H
#define LITERATI_LANES_TABLE_H
#include <stdlib.h>
#include <string.h>
#include "_lanes.h"

#define PICK_MAX(a, b) (((a) & ((a) > (b))) | ((b) & ~((a) > (b))))
#define PICK_MIN(a, b) (((a) & ((a) < (b))) | ((b) & ~((a) < (b))))
#define TARGET
#define BYTES 16
#define VMAX PICK_MAX
#define VMIN PICK_MIN
#define T int16_t
#define NAME(x) x##_plain16
#include "_lanes_body.h"
#undef T
#undef NAME
#define T int32_t
#define NAME(x) x##_plain32
#include "_lanes_body.h"
#undef T
#undef NAME
#define T int64_t
#define NAME(x) x##_plain64
#include "_lanes_body.h"
#undef T
#undef NAME
#define NAME(x) x##_plain
#include "_gini_body.h"
#undef NAME
#undef TARGET
#undef BYTES
#undef VMAX
#undef VMIN

#if defined(__x86_64__) && defined(__GNUC__)
#define LITERATI_X86 1
#include <immintrin.h>
#define M256(a) ((__m256i)(a))

#define BYTES 32
#define TARGET __attribute__((target("avx2")))
#define T int16_t
#define NAME(x) x##_avx2_16
#define VMAX(a, b) ((NAME(vec))_mm256_max_epi16(M256(a), M256(b)))
#define VMIN(a, b) ((NAME(vec))_mm256_min_epi16(M256(a), M256(b)))
#include "_lanes_body.h"
#undef T
#undef NAME
#undef VMAX
#undef VMIN
#define T int32_t
#define NAME(x) x##_avx2_32
#define VMAX(a, b) ((NAME(vec))_mm256_max_epi32(M256(a), M256(b)))
#define VMIN(a, b) ((NAME(vec))_mm256_min_epi32(M256(a), M256(b)))
#include "_lanes_body.h"
#undef T
#undef NAME
#undef VMAX
#undef VMIN
#define T int64_t
#define NAME(x) x##_avx2_64
#define VMAX PICK_MAX
#define VMIN PICK_MIN
#include "_lanes_body.h"
#undef T
#undef NAME
#undef VMAX
#undef VMIN
#define NAME(x) x##_avx2
#include "_gini_body.h"
#undef NAME
#undef TARGET

/* The same 32-byte vectors, but with AVX-512's mask registers and twice as many vector registers. */
#define TARGET __attribute__((target("avx2,avx512f,avx512bw,avx512vl,avx512dq")))
#define T int16_t
#define NAME(x) x##_avx512_16
#define VMAX(a, b) ((NAME(vec))_mm256_max_epi16(M256(a), M256(b)))
#define VMIN(a, b) ((NAME(vec))_mm256_min_epi16(M256(a), M256(b)))
#include "_lanes_body.h"
#undef T
#undef NAME
#undef VMAX
#undef VMIN
#define T int32_t
#define NAME(x) x##_avx512_32
#define VMAX(a, b) ((NAME(vec))_mm256_max_epi32(M256(a), M256(b)))
#define VMIN(a, b) ((NAME(vec))_mm256_min_epi32(M256(a), M256(b)))
#include "_lanes_body.h"
#undef T
#undef NAME
#undef VMAX
#undef VMIN
#define T int64_t
#define NAME(x) x##_avx512_64
#define VMAX(a, b) ((NAME(vec))_mm256_max_epi64(M256(a), M256(b)))
#define VMIN(a, b) ((NAME(vec))_mm256_min_epi64(M256(a), M256(b)))
#include "_lanes_body.h"
#undef T
#undef NAME
#undef VMAX
#undef VMIN
#define NAME(x) x##_avx512
#include "_gini_body.h"
#undef NAME
#undef TARGET
#endif

/* The kernels for this machine; LITERATI_SIMD (none, avx2, avx512) in the environment lowers the choice. */
static const lanes_t *lanes_table(void) {
    static const lanes_t plain = {{walk_plain16, walk_plain32, walk_plain64},
                                  {classes_plain16, classes_plain32, classes_plain64},
                                  gini_two_plain, gini_many_plain, "none"};
#ifdef LITERATI_X86
    static const lanes_t avx2 = {{walk_avx2_16, walk_avx2_32, walk_avx2_64},
                                 {classes_avx2_16, classes_avx2_32, classes_avx2_64},
                                 gini_two_avx2, gini_many_avx2, "avx2"};
    static const lanes_t avx512 = {{walk_avx512_16, walk_avx512_32, walk_avx512_64},
                                   {classes_avx512_16, classes_avx512_32, classes_avx512_64},
                                 gini_two_avx512, gini_many_avx512, "avx512"};
    const char *wish = getenv("LITERATI_SIMD");
    if (wish && !strcmp(wish, "none")) return &plain;
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")
        && !(wish && !strcmp(wish, "avx2"))) return &avx512;
    if (__builtin_cpu_supports("avx2")) return &avx2;
#endif
    return &plain;
}
#endif
