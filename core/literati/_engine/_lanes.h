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

#define NARROW_ROWS 32767        /* most rows of a CART on narrow entries: see _narrow_kernels.h */
#define NARROW_CLASSES 16        /* most classes of it */
#define NARROW_PAD 64            /* bytes that its kernels may read behind the last entry */
typedef struct {
    int32_t first, length;       /* the numbers of its rows in the state */
    int32_t total;               /* its rows in the node */
} narrow_class;
/* The best cut of one feature's order by Gini: its score, if that is larger than the given one, and the number of rows
 * before it, else -1. The classes are those that the node has, but only one of them where it has two; the last argument
 * gets their rows before the cut. The scores that are given are those of the node without a split and of the best cut.
 */
typedef double (*narrow_gini_fn)(const uint16_t *, int32_t, const narrow_class *, int32_t, double, double, int32_t *,
                                 int32_t *);
/* Writes the entries of both sides in order; returns how many go left. The table has a bit for each of the given number
 * of rows of the state, set for those that go right, in whole kilobits. */
typedef int32_t (*narrow_partition_fn)(const uint16_t *, int32_t, const uint16_t *, int32_t, uint16_t *, uint16_t *);

/* Scores the best splits of both children of sixteen candidates on one feature, as walk does for 16-bit counts, from
 * narrow entries of two classes. children[number] has a bit for each child that gets the row: sixteen left ones, then
 * sixteen right ones. The rows of the first class come first; the second count says how many they are. */
typedef void (*narrow_walk_fn)(const uint16_t *, int32_t, const uint32_t *, int32_t, int, void *);
/* Copies the entries of one side: see keep_side in _rows.pyx. */
typedef int32_t (*keep_side_fn)(const uint32_t *, int32_t, const uint8_t *, uint8_t, uint32_t *);

typedef struct {
    walk_fn walk[3];       /* by width of the counts: 0 is 16 bits, 1 is 32, 2 is 64 */
    classes_fn classes[3];
    gini_two_fn gini_two;   /* best cut of one feature's order, unit weights; scratch: 16 bytes a row, 8 a class, 64 */
    gini_many_fn gini_many;
    const char *name;
    narrow_gini_fn narrow_gini;            /* NULL where the instruction set has no such kernels */
    narrow_partition_fn narrow_partition;
    narrow_walk_fn narrow_walk;
    keep_side_fn keep_side;                /* NULL: _rows.pyx has its own */
} lanes_t;

/* The same for trees whose intervals hold at least min_rows rows: see _lanes_min_rows.h. */
typedef void (*long_walk_fn)(const uint32_t *, int32_t, int32_t, const uint16_t *, const void *, int64_t, void *,
                             const volatile int32_t *);
typedef void (*long_classes_fn)(const uint32_t *, int32_t, int32_t, const uint16_t *, const void *, const int32_t *,
                                int32_t, int64_t, void *, void *, const volatile int32_t *);
typedef struct {
    long_walk_fn walk[3];       /* by width of the counts */
    long_classes_fn classes[3];
} long_lanes_t;
#endif
