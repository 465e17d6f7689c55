/* One build of the lane kernels for intervals of at least min_rows rows, beside those of _lanes_body.h.
 *
 * A split has one threshold here. A lane counts the rows of its child before each cut, and takes a cut only if enough
 * rows of the child with a value lie before and behind it. Rows without a value alone on a side are enough, too.
 */

/* The rows of both children of each lane. */
typedef struct {
    VEC left, right;
} NAME(rows);

/* How many of some rows each child has. */
static inline __attribute__((always_inline)) TARGET NAME(rows) NAME(count_rows)(
        const uint32_t *order, int32_t begin, int32_t end, const uint16_t *bits, const int part) {
    const VEC zero = {0};
    NAME(rows) found = {zero, zero};
    for (int32_t i = begin; i < end; i++) {
        const VEC side = NAME(expand)(bits[order[i] & ROW_MASK], part);
        found.left -= side; /* all ones is -1 */
        found.right += side + 1;
    }
    return found;
}

#define PICK(mask, a, b) (((a) & (mask)) | ((b) & ~(mask)))
/* The lanes in which a cut has enough rows before it and behind it. */
#define LONG_ENOUGH(before, known) (((before) >= least) & ((known) - (before) >= least))

/* The larger of (right minus wrong) with either label on the left, given the extreme sums of the left interval. */
#define BOTH_WAYS(high, low, total) VMAX((high) + (high) - (total), (total) - (low) - (low))

/* Walks one child of every lane: its sum, its extreme sums at the cuts, and whether there was a cut. */
typedef struct {
    VEC walk, high, low, any, before;
} NAME(long_walk);

static inline __attribute__((always_inline)) TARGET void NAME(long_cut)(
        NAME(long_walk) *child, const VEC known, const VEC least) {
    const VEC take = LONG_ENOUGH(child->before, known);
    const VEC high = VMAX(child->high, child->walk), low = VMIN(child->low, child->walk);
    child->high = PICK(take, PICK(child->any, high, child->walk), child->high);
    child->low = PICK(take, PICK(child->any, low, child->walk), child->low);
    child->any |= take;
}

/* The best of a child: a cut if there was one, the rows without a value alone, or a leaf. */
static inline __attribute__((always_inline)) TARGET VEC NAME(long_best)(
        const NAME(long_walk) *child, const VEC missing, const VEC known, const VEC n_missing, const VEC least) {
    const VEC zero = {0}, total = child->walk + missing;
    const VEC more = VMAX(missing, zero), less = VMIN(missing, zero), alone = (known >= least) & (n_missing >= least);
    VEC high = PICK(alone, VMAX(child->walk, zero) + more, VMAX(total, zero));
    VEC low = PICK(alone, VMIN(child->walk, zero) + less, VMIN(total, zero));
    high = PICK(child->any, VMAX(high, child->high + more), high);
    low = PICK(child->any, VMIN(low, child->low + less), low);
    return BOTH_WAYS(high, low, total);
}

static inline __attribute__((always_inline)) TARGET void NAME(long_walk_part)(
        const uint32_t *order, int32_t known, int32_t n, const uint16_t *bits, const T *signed_weight, const VEC least,
        T *best, const volatile int32_t *stop, const int part) {
    const VEC zero = {0};
    const NAME(rows) have = NAME(count_rows)(order, 0, known, bits, part);
    const NAME(rows) lack = NAME(count_rows)(order, known, n, bits, part);
    NAME(long_walk) left = {zero, zero, zero, zero, zero}, right = left;
    for (int32_t block = 0; block < known; block += BLOCK_ROWS) {
        const int32_t end = known - block < BLOCK_ROWS ? known : block + BLOCK_ROWS;
        if (*stop) return;
        for (int32_t i = block; i < end; i++) {
            const uint32_t entry = order[i], row = entry & ROW_MASK;
            const VEC side = NAME(expand)(bits[row], part), step = NAME(broadcast)(signed_weight[row]);
            left.walk += step & side;
            right.walk += step & ~side;
            left.before -= side;
            right.before += side + 1;
            if (entry & LEGAL_CUT) {
                NAME(long_cut)(&left, have.left, least);
                NAME(long_cut)(&right, have.right, least);
            }
        }
    }
    VEC left_missing = zero, right_missing = zero;
    for (int32_t i = known; i < n; i++) {
        const uint32_t row = order[i] & ROW_MASK;
        const VEC side = NAME(expand)(bits[row], part), step = NAME(broadcast)(signed_weight[row]);
        left_missing += step & side;
        right_missing += step & ~side;
    }
    VEC *left_best = (VEC *)best + part, *right_best = (VEC *)(best + MAX_K * LANES) + part;
    *left_best = VMAX(*left_best, NAME(long_best)(&left, left_missing, have.left, lack.left, least));
    *right_best = VMAX(*right_best, NAME(long_best)(&right, right_missing, have.right, lack.right, least));
}

/* The same as `walk` with one change point. */
static TARGET void NAME(long_walk2)(const uint32_t *order, int32_t known, int32_t n, const uint16_t *bits,
                                    const void *signed_weight, int64_t min_rows, void *best,
                                    const volatile int32_t *stop) {
    const VEC least = NAME(broadcast)((T)min_rows);
    for (int part = 0; part < PARTS; part++)
        NAME(long_walk_part)(order, known, n, bits, (const T *)signed_weight, least, (T *)best, stop, part);
}

/* Adds the weight of a row to its class on both sides and keeps the heaviest class of each. */
#define COUNT_ROW(row, left_top, right_top)                                                \
    do {                                                                                   \
        VEC *count = counts + 2 * label[row];                                              \
        const VEC side = NAME(expand)(bits[row], part), step = NAME(broadcast)(weight[row]); \
        const VEC left = count[0] += step & side, right = count[1] += step & ~side;        \
        left_top = VMAX(left_top, left);                                                   \
        right_top = VMAX(right_top, right);                                                \
    } while (0)

static inline __attribute__((always_inline)) TARGET void NAME(long_classes_part)(
        const uint32_t *order, int32_t known, int32_t n, const uint16_t *bits, const T *weight,
        const int32_t *label, int32_t n_classes, const VEC least, VEC *counts, VEC *prefix, T *best,
        const volatile int32_t *stop, const int part) {
    const VEC zero = {0};
    const NAME(rows) have = NAME(count_rows)(order, 0, known, bits, part);
    const NAME(rows) lack = NAME(count_rows)(order, known, n, bits, part);
    VEC left_best = ((VEC *)best)[part], right_best = ((VEC *)(best + MAX_K * LANES))[part];
    /* Missing rows, if any, lie behind the last value in one round and before the first in the other. */
    for (int round = 0; round < (known < n ? 2 : 1); round++) {
        VEC left_top = zero, right_top = zero, *slot = prefix;
        for (int c = 0; c < 2 * n_classes; c++) counts[c] = zero;
        for (int32_t i = known; round && i < n; i++) COUNT_ROW(order[i] & ROW_MASK, left_top, right_top);
        for (int32_t i = 0; i < known; i++) {
            if (i % BLOCK_ROWS == 0 && *stop) return;
            COUNT_ROW(order[i] & ROW_MASK, left_top, right_top);
            if (order[i] & LEGAL_CUT) {
                *slot++ = left_top;
                *slot++ = right_top;
            }
        }
        const VEC left_all = left_top, right_all = right_top;
        VEC left_behind = zero, right_behind = zero; /* rows of the child behind the cut */
        left_top = right_top = zero;
        for (int c = 0; c < 2 * n_classes; c++) counts[c] = zero;
        for (int32_t i = known; !round && i < n; i++) COUNT_ROW(order[i] & ROW_MASK, left_top, right_top);
        if (!round) { /* the rows without a value alone */
            left_best = VMAX(left_best, (left_all + left_top) & (have.left >= least) & (lack.left >= least));
            right_best = VMAX(right_best, (right_all + right_top) & (have.right >= least) & (lack.right >= least));
        }
        for (int32_t i = known - 1; i >= 0; i--) {
            if (i % BLOCK_ROWS == 0 && *stop) return;
            if (order[i] & LEGAL_CUT) {
                slot -= 2;
                left_best = VMAX(left_best, (slot[0] + left_top) & LONG_ENOUGH(left_behind, have.left));
                right_best = VMAX(right_best, (slot[1] + right_top) & LONG_ENOUGH(right_behind, have.right));
            }
            COUNT_ROW(order[i] & ROW_MASK, left_top, right_top);
            const VEC side = NAME(expand)(bits[order[i] & ROW_MASK], part);
            left_behind -= side;
            right_behind += side + 1;
        }
        if (!round) { /* a leaf */
            left_best = VMAX(left_best, left_top);
            right_best = VMAX(right_best, right_top);
        }
    }
    ((VEC *)best)[part] = left_best;
    ((VEC *)(best + MAX_K * LANES))[part] = right_best;
}
#undef COUNT_ROW
#undef BOTH_WAYS
#undef LONG_ENOUGH
#undef PICK

/* The same as `classes`, with the same scratch memory. */
static TARGET void NAME(long_classes)(const uint32_t *order, int32_t known, int32_t n, const uint16_t *bits,
                                      const void *weight, const int32_t *label, int32_t n_classes, int64_t min_rows,
                                      void *scratch, void *best, const volatile int32_t *stop) {
    const VEC least = NAME(broadcast)((T)min_rows);
    VEC *counts = (VEC *)scratch, *prefix = counts + 2 * n_classes;
    for (int part = 0; part < PARTS; part++)
        NAME(long_classes_part)(order, known, n, bits, (const T *)weight, label, n_classes, least, counts, prefix,
                                (T *)best, stop, part);
}
