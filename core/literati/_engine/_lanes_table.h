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
#define LANES_PASTE(a, b, c) a##b##c
#define LANES_JOIN(a, b, c) LANES_PASTE(a, b, c)

/* Macros of the kernels. BITS is the width of the counts. Every instruction set below defines its name (ISA), the
 * function attribute that switches it on (TARGET), the size of its vectors (BYTES), and the larger and the smaller of
 * each lane of two vectors (MAX16, MIN16 ... MAX64, MIN64).
 */
#define T LANES_JOIN(int, BITS, _t)
#define NAME(x) LANES_JOIN(x##_, ISA, BITS)
#define VMAX LANES_JOIN(MAX, BITS, )
#define VMIN LANES_JOIN(MIN, BITS, )
#define VEC NAME(vec)
#define WIDTH ((int)(BYTES / sizeof(T)))
#define PARTS ((int)(LANES / WIDTH))

#define ISA plain
#define TARGET
#define BYTES 16
#define MAX16 PICK_MAX
#define MIN16 PICK_MIN
#define MAX32 PICK_MAX
#define MIN32 PICK_MIN
#define MAX64 PICK_MAX
#define MIN64 PICK_MIN
#include "_lanes_set.h"
#undef BYTES
#undef MAX16
#undef MIN16
#undef MAX32
#undef MIN32

#if defined(__x86_64__) && defined(__GNUC__)
#define LITERATI_X86 1
#include <immintrin.h>
#define OF_256(call, a, b) ((NAME(vec))call((__m256i)(a), (__m256i)(b)))
#define BYTES 32
#define MAX16(a, b) OF_256(_mm256_max_epi16, a, b)
#define MIN16(a, b) OF_256(_mm256_min_epi16, a, b)
#define MAX32(a, b) OF_256(_mm256_max_epi32, a, b)
#define MIN32(a, b) OF_256(_mm256_min_epi32, a, b)

#define ISA avx2_
#define TARGET __attribute__((target("avx2")))
#include "_lanes_set.h"
#undef MAX64
#undef MIN64

/* The same 32-byte vectors, but with AVX-512's mask registers and twice as many vector registers. */
#define ISA avx512_
#define TARGET __attribute__((target("avx2,avx512f,avx512bw,avx512vl,avx512dq")))
#define MAX64(a, b) OF_256(_mm256_max_epi64, a, b)
#define MIN64(a, b) OF_256(_mm256_min_epi64, a, b)
#include "_lanes_set.h"
#include "_narrow_kernels.h"
#include "_rows_kernels.h"
#endif
#undef T
#undef NAME
#undef VEC
#undef WIDTH

/* The kernels for this machine; LITERATI_SIMD (none, avx2, avx512, vbmi2) in the environment lowers the choice. */
static const lanes_t *lanes_table(void) {
    static const lanes_t plain = {{walk_plain16, walk_plain32, walk_plain64},
                                  {classes_plain16, classes_plain32, classes_plain64},
                                  gini_two_plain, gini_many_plain, "none", NULL, NULL, NULL, NULL};
#ifdef LITERATI_X86
    static const lanes_t avx2 = {{walk_avx2_16, walk_avx2_32, walk_avx2_64},
                                 {classes_avx2_16, classes_avx2_32, classes_avx2_64},
                                 gini_two_avx2_, gini_many_avx2_, "avx2", NULL, NULL, NULL, NULL};
    static const lanes_t avx512 = {{walk_avx512_16, walk_avx512_32, walk_avx512_64},
                                   {classes_avx512_16, classes_avx512_32, classes_avx512_64},
                                   gini_two_avx512_, gini_many_avx512_, "avx512", NULL, NULL, NULL,
                                   keep_side_avx512};
    static const lanes_t vbmi2 = {{walk_avx512_16, walk_avx512_32, walk_avx512_64},
                                  {classes_avx512_16, classes_avx512_32, classes_avx512_64},
                                  gini_two_avx512_, gini_many_avx512_, "vbmi2", narrow_gini, narrow_partition,
                                  narrow_walk, keep_side_avx512};
    const char *level = getenv("LITERATI_SIMD");
    if (level && !strcmp(level, "none")) return &plain;
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("bmi2")
        && !(level && !strcmp(level, "avx2"))) {
        if (__builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vpopcntdq")
            && !(level && !strcmp(level, "avx512"))) return &vbmi2;
        return &avx512;
    }
    if (__builtin_cpu_supports("avx2")) return &avx2;
#endif
    return &plain;
}
#include "_lanes_min_rows_table.h"
#endif
