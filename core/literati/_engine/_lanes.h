/* Sixteen candidate splits swept at once over the rows of a state in the order of one feature.
 *
 * Each row carries sixteen bits: bit l says that candidate l sends the row left. A sweep scores the best split on the
 * feature for both children of all sixteen candidates. The kernels themselves are in _lanes_table.h.
 */
#ifndef LITERATI_LANES_H
#define LITERATI_LANES_H
#include <stdint.h>

#define LANES 16                 /* candidates swept at once: their 16-bit counts fill one AVX2 register */
#define MAX_K 8                  /* change points a shape function may have */
#define LEGAL_CUT 0x80000000u    /* a cut may lie behind this row */
#define ROW_MASK 0x7fffffffu

#define BLOCK_ROWS 65536         /* rows visited between two reads of the stop flag: a safe default */

/* The last argument is the stop flag: once it is set, a kernel returns soon and what it has written means nothing. */
typedef void (*walk_fn)(const uint32_t *, int32_t, int32_t, const uint16_t *, const void *, int, void *,
                        const volatile int32_t *);
typedef void (*classes_fn)(const uint32_t *, int32_t, int32_t, const uint16_t *, const void *, const int32_t *,
                           int32_t, void *, void *, const volatile int32_t *);
typedef double (*gini_two_fn)(const uint32_t *, int32_t, const int32_t *, const double *, double *, double, int32_t *);
typedef double (*gini_many_fn)(const uint32_t *, int32_t, const int32_t *, const double *, int32_t, double *, double,
                               int32_t *);
typedef struct {
    walk_fn walk[3];       /* by width of the counts: 0 is 16 bits, 1 is 32, 2 is 64 */
    classes_fn classes[3];
    gini_two_fn gini_two;   /* best cut of one feature's order, unit weights; scratch: 16 bytes a row, 8 a class, 64 */
    gini_many_fn gini_many;
    const char *name;
} lanes_t;
#endif
