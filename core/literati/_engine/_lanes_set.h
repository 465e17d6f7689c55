/* Every kernel for one instruction set. ISA and TARGET are undefined behind it. */
#define BITS 16
#include "_lanes_body.h"
#include "_lanes_min_rows.h"
#undef BITS
#define BITS 32
#include "_lanes_body.h"
#include "_lanes_min_rows.h"
#undef BITS
#define BITS 64
#include "_lanes_body.h"
#include "_lanes_min_rows.h"
#undef BITS
#define BITS /* counts are doubles here: the names have no width */
#include "_gini_body.h"
#undef BITS
#undef ISA
#undef TARGET
