/* One build of the lane kernels, for one count type and one instruction set.
 *
 * _lanes_set.h includes it for each width of the counts (BITS); _lanes_table.h defines the other macros. The range of a
 * count (T) holds twice the weight of the rows swept. Sixteen lanes are PARTS vectors (VEC) of WIDTH lanes; a sweep
 * takes one part after the other.
 */
typedef T NAME(vec) __attribute__((vector_size(BYTES)));

static inline __attribute__((always_inline)) TARGET VEC NAME(broadcast)(T x) {
    return x - (VEC){0};
}

/* All ones in the lanes whose bit of `bits` is set. */
static inline __attribute__((always_inline)) TARGET VEC NAME(expand)(uint16_t bits, int part) {
    VEC select;
    for (int lane = 0; lane < WIDTH; lane++) select[lane] = (T)(1u << (part * WIDTH + lane));
    return (NAME(broadcast)((T)bits) & select) == select;
}

/* One update of the alternating-segment programs of both sides at a cut.
 * high[k] is the largest, low[k] the smallest sum of the walk over the left segments of k + 1 change points so far. */
#define AT_CUT(walk, high, low)                                                        \
    for (int k = K - 1; k > 0; k--) {                                                  \
        if (k & 1) {                                                                   \
            high[k] = VMAX(high[k], high[k - 1] - walk);                               \
            low[k] = VMIN(low[k], low[k - 1] - walk);                                  \
        } else {                                                                       \
            high[k] = VMAX(high[k], high[k - 1] + walk);                               \
            low[k] = VMIN(low[k], low[k - 1] + walk);                                  \
        }                                                                              \
    }                                                                                  \
    high[0] = VMAX(high[0], walk);                                                     \
    low[0] = VMIN(low[0], walk);

static inline __attribute__((always_inline)) TARGET void NAME(walk_part)(
        const uint32_t *order, int32_t known, int32_t n, const uint16_t *bits, const T *signed_weight,
        const int K, T *best, const volatile int32_t *stop, const int part) {
    const VEC zero = {0};
    VEC left = zero, right = zero;
    VEC left_high[MAX_K], left_low[MAX_K], right_high[MAX_K], right_low[MAX_K];
    for (int k = 0; k < K; k++) left_high[k] = left_low[k] = right_high[k] = right_low[k] = zero;
    for (int32_t block = 0; block < known; block += BLOCK_ROWS) {
        const int32_t end = known - block < BLOCK_ROWS ? known : block + BLOCK_ROWS;
        if (*stop) return;
        for (int32_t i = block; i < end; i++) {
            const uint32_t entry = order[i], row = entry & ROW_MASK;
            const VEC side = NAME(expand)(bits[row], part), step = NAME(broadcast)(signed_weight[row]);
            left += step & side;
            right += step & ~side;
            if (entry & LEGAL_CUT) {
                AT_CUT(left, left_high, left_low)
                AT_CUT(right, right_high, right_low)
            }
        }
    }
    AT_CUT(left, left_high, left_low)
    AT_CUT(right, right_high, right_low)
    VEC left_missing = zero, right_missing = zero;
    for (int32_t i = known; i < n; i++) {
        const uint32_t row = order[i] & ROW_MASK;
        const VEC side = NAME(expand)(bits[row], part), step = NAME(broadcast)(signed_weight[row]);
        left_missing += step & side;
        right_missing += step & ~side;
    }
    /* right minus wrong = 2 * (sum over left segments) - total, or its negative with the labels swapped */
    for (int k = 0; k < K; k++) {
        const VEC left_tail = (k & 1) ? left : zero, right_tail = (k & 1) ? right : zero;
        const VEC left_total = left + left_missing, right_total = right + right_missing;
        const VEC left_up = left_high[k] + left_tail + VMAX(left_missing, zero);
        const VEC left_down = left_low[k] + left_tail + VMIN(left_missing, zero);
        const VEC right_up = right_high[k] + right_tail + VMAX(right_missing, zero);
        const VEC right_down = right_low[k] + right_tail + VMIN(right_missing, zero);
        VEC *left_best = (VEC *)(best + k * LANES) + part;
        VEC *right_best = (VEC *)(best + (MAX_K + k) * LANES) + part;
        *left_best = VMAX(*left_best, VMAX(left_up + left_up - left_total, left_total - left_down - left_down));
        *right_best = VMAX(*right_best, VMAX(right_up + right_up - right_total, right_total - right_down - right_down));
    }
}
#undef AT_CUT

/* Both children of sixteen candidates, split on one feature between two labels with at most 1..K change points.
 * best[side][k][lane] keeps the largest (right minus wrong) weight over the calls. */
static TARGET void NAME(walk)(const uint32_t *order, int32_t known, int32_t n, const uint16_t *bits,
                              const void *signed_weight, int K, void *best, const volatile int32_t *stop) {
    const T *w = (const T *)signed_weight;
    T *b = (T *)best;
    for (int part = 0; part < PARTS; part++) {
        switch (K) {
            case 1: NAME(walk_part)(order, known, n, bits, w, 1, b, stop, part); break;
            case 2: NAME(walk_part)(order, known, n, bits, w, 2, b, stop, part); break;
            case 3: NAME(walk_part)(order, known, n, bits, w, 3, b, stop, part); break;
            default: NAME(walk_part)(order, known, n, bits, w, K, b, stop, part); break;
        }
    }
}

/* Adds the weight of a row to its class on both sides; returns through left and right the new class weights. */
#define COUNT_ROW(counts, row, left, right)                                            \
    VEC *count = counts + 2 * label[row];                                              \
    const VEC side = NAME(expand)(bits[row], part), step = NAME(broadcast)(weight[row]); \
    const VEC left = count[0] += step & side, right = count[1] += step & ~side;

static inline __attribute__((always_inline)) TARGET void NAME(classes_part)(
        const uint32_t *order, int32_t known, int32_t n, const uint16_t *bits, const T *weight,
        const int32_t *label, int32_t n_classes, VEC *counts, VEC *prefix, T *best, const volatile int32_t *stop,
        const int part) {
    const VEC zero = {0};
    VEC left_best = ((VEC *)best)[part], right_best = ((VEC *)(best + MAX_K * LANES))[part];
    /* Missing rows, if any, lie beyond the last value in one round and before the first in the other. */
    for (int round = 0; round < (known < n ? 2 : 1); round++) {
        const int32_t first = round ? known : 0, last = round ? n : known;
        VEC left_top = zero, right_top = zero;
        for (int c = 0; c < 2 * n_classes; c++) counts[c] = zero;
        if (round) {
            for (int32_t i = first; i < last; i++) {
                const uint32_t row = order[i] & ROW_MASK;
                COUNT_ROW(counts, row, left, right)
                left_top = VMAX(left_top, left);
                right_top = VMAX(right_top, right);
            }
        }
        VEC *slot = prefix;
        for (int32_t block = 0; block < known; block += BLOCK_ROWS) {
            const int32_t end = known - block < BLOCK_ROWS ? known : block + BLOCK_ROWS;
            if (*stop) return;
            for (int32_t i = block; i < end; i++) {
                const uint32_t entry = order[i], row = entry & ROW_MASK;
                COUNT_ROW(counts, row, left, right)
                left_top = VMAX(left_top, left);
                right_top = VMAX(right_top, right);
                if (entry & LEGAL_CUT) {
                    *slot++ = left_top;
                    *slot++ = right_top;
                }
            }
        }
        const VEC left_all = left_top, right_all = right_top;
        left_top = right_top = zero;
        for (int c = 0; c < 2 * n_classes; c++) counts[c] = zero;
        if (!round) {
            for (int32_t i = known; i < n; i++) {
                const uint32_t row = order[i] & ROW_MASK;
                COUNT_ROW(counts, row, left, right)
                left_top = VMAX(left_top, left);
                right_top = VMAX(right_top, right);
            }
            left_best = VMAX(left_best, left_all + left_top);
            right_best = VMAX(right_best, right_all + right_top);
        }
        for (int32_t block = known; block > 0; block -= BLOCK_ROWS) {
            const int32_t end = block < BLOCK_ROWS ? 0 : block - BLOCK_ROWS;
            if (*stop) return;
            for (int32_t i = block - 1; i >= end; i--) {
                const uint32_t entry = order[i], row = entry & ROW_MASK;
                if (entry & LEGAL_CUT) {
                    slot -= 2;
                    left_best = VMAX(left_best, slot[0] + left_top);
                    right_best = VMAX(right_best, slot[1] + right_top);
                }
                COUNT_ROW(counts, row, left, right)
                left_top = VMAX(left_top, left);
                right_top = VMAX(right_top, right);
            }
        }
    }
    ((VEC *)best)[part] = left_best;
    ((VEC *)(best + MAX_K * LANES))[part] = right_best;
}
#undef COUNT_ROW

/* Both children of sixteen candidates, split on one feature by one threshold, any number of classes.
 * best[side][0][lane] keeps the largest weight classified right over the calls.
 * Scratch: 64 bytes for each class and 64 for each row. */
static TARGET void NAME(classes)(const uint32_t *order, int32_t known, int32_t n, const uint16_t *bits,
                                 const void *weight, const int32_t *label, int32_t n_classes,
                                 void *scratch, void *best, const volatile int32_t *stop) {
    VEC *counts = (VEC *)scratch, *prefix = counts + 2 * n_classes;
    const T *w = (const T *)weight;
    for (int part = 0; part < PARTS; part++)
        NAME(classes_part)(order, known, n, bits, w, label, n_classes, counts, prefix, (T *)best, stop, part);
}
