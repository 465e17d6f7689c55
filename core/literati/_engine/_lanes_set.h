/* Every kernel for one instruction set: ISA names it, TARGET compiles for it, BYTES is its vector, and MAX16, MIN16 ...
 * MAX64, MIN64 take the larger or smaller of two vectors of a width. ISA and TARGET are undefined behind it.
 */
#define T int16_t
#define NAME(x) LANES_JOIN(x, ISA, 16)
#define VMAX MAX16
#define VMIN MIN16
#include "_lanes_body.h"
#undef T
#undef NAME
#undef VMAX
#undef VMIN
#define T int32_t
#define NAME(x) LANES_JOIN(x, ISA, 32)
#define VMAX MAX32
#define VMIN MIN32
#include "_lanes_body.h"
#undef T
#undef NAME
#undef VMAX
#undef VMIN
#define T int64_t
#define NAME(x) LANES_JOIN(x, ISA, 64)
#define VMAX MAX64
#define VMIN MIN64
#include "_lanes_body.h"
#undef T
#undef NAME
#undef VMAX
#undef VMIN
#define NAME(x) LANES_JOIN(x, ISA, )
#include "_gini_body.h"
#undef NAME
#undef ISA
#undef TARGET
