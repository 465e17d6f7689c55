/* One build of the Gini scan of unit-weight rows, for one instruction set: see _lanes_table.h for the macros.
 *
 * The class counts in front of each row are a serial sum; the scores that follow from them are not, so they are worked
 * out four at a time, without a branch: whether a cut is worth scoring is as good as random.
 */
typedef double NAME(real4) __attribute__((vector_size(32)));
typedef int64_t NAME(long4) __attribute__((vector_size(32)));
typedef uint32_t NAME(word4) __attribute__((vector_size(16)));

/* The best legal cut by squares of class counts on both sides; ties go to the first. */
static inline __attribute__((always_inline)) TARGET double NAME(best_cut)(
        const uint32_t *entries, int32_t n, const double *below, const double *above, double bar, int32_t *at) {
    NAME(real4) best = {bar, bar, bar, bar}, na = {1.0, 2.0, 3.0, 4.0};
    NAME(long4) where = {-1, -1, -1, -1}, here = {1, 2, 3, 4};
    const double total = n;
    for (int32_t i = 0; i + 1 < n; i += 4) {
        NAME(word4) word;
        NAME(real4) sa, sb;
        memcpy(&word, entries + i, sizeof word);
        memcpy(&sa, below + i, sizeof sa);
        memcpy(&sb, above + i, sizeof sb);
        const NAME(long4) legal = -(__builtin_convertvector(word, NAME(long4)) >> 31);
        const NAME(real4) nb = total - na;
        const NAME(real4) score = (sa * nb + sb * na) / (na * nb);
        const NAME(long4) better = (score > best) & legal & (here < (int64_t)n);
        best = (NAME(real4))(((NAME(long4))score & better) | ((NAME(long4))best & ~better));
        where = (here & better) | (where & ~better);
        na += 4.0;
        here += 4;
    }
    *at = -1;
    for (int lane = 0; lane < 4; lane++) {
        if (where[lane] >= 0 && (best[lane] > bar || (best[lane] == bar && *at >= 0 && where[lane] < *at))) {
            bar = best[lane];
            *at = (int32_t)where[lane];
        }
    }
    return bar;
}

static TARGET double NAME(gini_two)(const uint32_t *entries, int32_t n, const int32_t *label, const double *counts,
                                    double *scratch, double bar, int32_t *at) {
    double *below = scratch, *above = scratch + n + 4;
    const double t0 = counts[0], t1 = counts[1];
    int32_t *ones = (int32_t *)above, sum = 0;
    for (int32_t i = 0; i < n; i++) ones[i] = sum += label[entries[i] & ROW_MASK];
    /* backwards: `above` grows over the counts it is made from */
    for (int32_t i = n - 1; i >= 0; i--) {
        const double a1 = ones[i], a0 = (i + 1) - a1, b1 = t1 - a1, b0 = t0 - a0;
        below[i] = a0 * a0 + a1 * a1;
        above[i] = b0 * b0 + b1 * b1;
    }
    return NAME(best_cut)(entries, n, below, above, bar, at);
}

static TARGET double NAME(gini_many)(const uint32_t *entries, int32_t n, const int32_t *label, const double *counts,
                                     int32_t n_classes, double *scratch, double bar, int32_t *at) {
    double *below = scratch, *above = scratch + n + 4, total = 0.0, both = 0.0;
    int64_t *seen = (int64_t *)(above + n + 4), squares = 0;
    for (int c = 0; c < n_classes; c++) {
        seen[c] = 0;
        total += counts[c] * counts[c];
    }
    /* Whole numbers, because the count of a class waits for its last increment: 30 % faster than doubles. */
    for (int32_t i = 0; i < n; i++) {
        const int32_t c = label[entries[i] & ROW_MASK];
        const int64_t had = seen[c]++;
        squares += 2 * had + 1;
        both += counts[c];
        below[i] = (double)squares;
        above[i] = total - 2.0 * both + (double)squares; /* sum of (count - seen) squared */
    }
    return NAME(best_cut)(entries, n, below, above, bar, at);
}
