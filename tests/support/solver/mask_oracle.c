/* A second solver by definition, for problems of up to 63 rows: rows are the bits of a word.
 *
 * It knows one thing only: the least cost of a state (rows, depth left) is the least over its leaf and over every
 * way to part its rows. It keeps the values of states it has solved, and it leaves a split unfinished once the
 * penalty and one child alone cost as much as the best split so far. It uses no other bound and shares no code
 * with the solver or with oracle.py.
 *
 * Costs are doubles. Sums of dyadic numbers of few bits are exact in them, so where the solver's costs are exact
 * the two can be compared for equality.
 */
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 63, MAX_K = 8, NEAR = 1 << 16, ADAPTIVE = 0, SHAPE = 1, QUANTILE = 2, ALL = 3 };

typedef uint64_t rows_t;

typedef struct {
    rows_t rows;
    int32_t depth; /* 0: the entry is empty */
    double value;
} entry_t;

typedef struct oracle {
    int32_t n_rows, n_features, n_classes, max_depth, max_k, mode, entropy, n_leaves, least;
    double split, refine;
    const int32_t *codes;   /* [feature][row], -1 is missing */
    const int32_t *card;    /* [feature] */
    const double *values;   /* [feature][64] */
    const int32_t *label;   /* [row] */
    const double *weight;   /* [row] */
    const double *units;    /* [row] the weight in integer units, for CART */
    const uint64_t *grid;   /* [feature] the allowed cuts of mode "quantile", bit c is the cut below code c */
    const int32_t *leaves;
    rows_t *missing;        /* [feature] */
    rows_t *passing;        /* [feature][64] the rows whose code is at least c */
    int32_t *order;         /* [feature][row] the rows that have a value, by code */
    int32_t *known;         /* [feature] how many */
    double *counts;         /* scratch: 4 * n_classes */
    entry_t *table;         /* values of depth left >= 2 */
    int64_t size, used;
    entry_t *near;          /* values of depth left 1; a newer one may take a place */
    int64_t near_ties;      /* CART decisions that rounding could turn */
    int64_t states;         /* states of depth left >= 2 that were solved */
    int64_t tried, most;    /* splits tried since the last question, and how many may be; 0: any number */
    jmp_buf given_up;
} oracle_t;

static double value(oracle_t *o, rows_t rows, int32_t depth);

static uint64_t mixed(rows_t rows, int32_t depth) {
    uint64_t x = rows * 0x9E3779B97F4A7C15u + (uint64_t)depth * 0xD6E8FEB86659FD93u;
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93u;
    return x ^ (x >> 29);
}

static entry_t *place(oracle_t *o, rows_t rows, int32_t depth) {
    uint64_t i = mixed(rows, depth);
    entry_t *entry;
    for (;; i++) {
        entry = &o->table[i & (uint64_t)(o->size - 1)];
        if (!entry->depth || (entry->rows == rows && entry->depth == depth)) return entry;
    }
}

static void keep(oracle_t *o, rows_t rows, int32_t depth, double found) {
    if (2 * (o->used + 1) > o->size) {
        entry_t *old = o->table;
        int64_t old_size = o->size;
        o->size *= 2;
        o->table = calloc((size_t)o->size, sizeof(entry_t));
        if (!o->table) abort();
        for (int64_t i = 0; i < old_size; i++)
            if (old[i].depth) *place(o, old[i].rows, old[i].depth) = old[i];
        free(old);
    }
    *place(o, rows, depth) = (entry_t){rows, depth, found};
    o->used++;
}

/* Class weights of some rows, in `counts`. */
static void count(const oracle_t *o, rows_t rows, const double *weight, double *counts) {
    memset(counts, 0, (size_t)o->n_classes * sizeof(double));
    for (; rows; rows &= rows - 1) {
        const int row = __builtin_ctzll(rows);
        counts[o->label[row]] += weight[row];
    }
}

static double leaf_error(const oracle_t *o, rows_t rows, double *total) {
    double most = 0;
    count(o, rows, o->weight, o->counts);
    *total = 0;
    for (int32_t c = 0; c < o->n_classes; c++) {
        *total += o->counts[c];
        if (o->counts[c] > most) most = o->counts[c];
    }
    return *total - most;
}

/* --- CART ---------------------------------------------------------------------------------------------------- */

typedef struct {
    double gain;
    int32_t feature, cut;
    rows_t below, above;
} leaf_t;

static double purity(const oracle_t *o, const double *counts) {
    double total = 0, sum = 0;
    for (int32_t c = 0; c < o->n_classes; c++) total += counts[c];
    if (!o->entropy) {
        for (int32_t c = 0; c < o->n_classes; c++) sum += counts[c] * counts[c];
        return sum / total;
    }
    for (int32_t c = 0; c < o->n_classes; c++)
        if (counts[c] > 0) sum += counts[c] * log2(counts[c]);
    return sum - total * log2(total);
}

static double cut_score(oracle_t *o, rows_t below, rows_t above) {
    double *a = o->counts, *b = o->counts + o->n_classes;
    double sum_a = 0, sum_b = 0, square_a = 0, square_b = 0;
    count(o, below, o->units, a);
    count(o, above, o->units, b);
    if (o->entropy) return purity(o, a) + purity(o, b);
    for (int32_t c = 0; c < o->n_classes; c++) {
        sum_a += a[c];
        sum_b += b[c];
        square_a += a[c] * a[c];
        square_b += b[c] * b[c];
    }
    return (square_a * sum_b + square_b * sum_a) / (sum_a * sum_b);
}

/* Whether enough of the rows are there for an interval. */
static int enough(const oracle_t *o, rows_t rows) {
    return __builtin_popcountll(rows) >= o->least;
}

static int nearly(double a, double b) {
    return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b));
}

/* Takes a cut into the best one of a leaf. The first of equals stays. */
static void offer(oracle_t *o, leaf_t *best, int *tried, int32_t feature, int32_t cut, rows_t below, rows_t above) {
    const double score = cut_score(o, below, above);
    if (*tried && nearly(score, best->gain) && below != best->below && below != best->above) o->near_ties++;
    if (!*tried || score > best->gain) *best = (leaf_t){score, feature, cut, below, above};
    *tried = 1;
}

/* The leaf that these rows make, with its best cut; false if it stays as it is. */
static int open_leaf(oracle_t *o, rows_t rows, int32_t first, int32_t last, leaf_t *best) {
    int tried = 0, classes = 0;
    for (int32_t j = first; j < last; j++) {
        const rows_t gone = rows & o->missing[j], have = rows & ~gone;
        const double *values = o->values + 64 * j;
        int32_t below = -1;
        for (int32_t i = 0; i < o->known[j]; i++) {
            const int32_t row = o->order[j * o->n_rows + i], code = o->codes[j * o->n_rows + row];
            if (!(have >> row & 1) || code == below) continue;
            if (below >= 0) {
                const double middle = 0.5 * values[below] + 0.5 * values[code];
                int32_t cut = below + 1;
                while (cut < code && !(values[cut] > middle)) cut++;
                const rows_t right = rows & o->passing[64 * j + cut], left = have & ~right;
                const int both = enough(o, left) && enough(o, right);
                if (both) offer(o, best, &tried, j, cut, left, right | gone);
                if (both && gone) offer(o, best, &tried, j, cut, left | gone, right);
            }
            below = code;
        }
        if (gone && have && enough(o, gone) && enough(o, have)) offer(o, best, &tried, j, o->card[j], have, gone);
    }
    count(o, rows, o->units, o->counts);
    for (int32_t c = 0; c < o->n_classes; c++) classes += o->counts[c] > 0;
    if (!tried || classes < 2) return 0;
    best->gain -= purity(o, o->counts);
    return 1;
}

/* Adds the cuts of a best-first CART on some features. */
static void cart_cuts(oracle_t *o, rows_t rows, int32_t first, int32_t last, int32_t most_leaves, uint64_t *cuts) {
    leaf_t leaves[MAX_ROWS + 2], chosen;
    int32_t n = 0, at;
    n += open_leaf(o, rows, first, last, &leaves[n]);
    for (int32_t made = 1; made < most_leaves && n; made++) {
        at = 0;
        for (int32_t i = 1; i < n; i++) {
            if (nearly(leaves[i].gain, leaves[at].gain)) o->near_ties++;
            if (leaves[i].gain > leaves[at].gain) at = i;
        }
        chosen = leaves[at];
        n--;
        memmove(leaves + at, leaves + at + 1, (size_t)(n - at) * sizeof(leaf_t));
        cuts[chosen.feature] |= (uint64_t)1 << chosen.cut;
        n += open_leaf(o, chosen.below, first, last, &leaves[n]);
        n += open_leaf(o, chosen.above, first, last, &leaves[n]);
    }
}

/* --- candidates ---------------------------------------------------------------------------------------------- */

void oracle_cuts(oracle_t *o, rows_t rows, int32_t depth, uint64_t *cuts) {
    const int32_t level = o->max_depth - depth;
    for (int32_t j = 0; j < o->n_features; j++) {
        cuts[j] = 0;
        if (o->mode == QUANTILE) cuts[j] = o->grid[j];
        else if (o->mode == ALL || depth == 1) cuts[j] = (((uint64_t)1 << (o->card[j] - 1)) - 1) << 1;
        else continue;
        if (rows & o->missing[j]) cuts[j] |= (uint64_t)1 << o->card[j];
    }
    if (o->mode == QUANTILE || o->mode == ALL || depth == 1) return;
    cart_cuts(o, rows, 0, o->n_features, o->leaves[level < o->n_leaves ? level : o->n_leaves - 1], cuts);
    if (o->mode == SHAPE)
        for (int32_t j = 0; j < o->n_features; j++) cart_cuts(o, rows, j, j + 1, o->max_k + 1, cuts);
}

/* --- depth left 1 -------------------------------------------------------------------------------------------- */

/* The least cost of one shape function on a feature, with label a where it is 0 and b where it is 1.
 * right[k] is the most weight that k change points so far get right. */
static double best_pair(const oracle_t *o, rows_t rows, int32_t j, uint64_t cuts, int32_t a, int32_t b, double total) {
    double right[MAX_K + 1], missing[2] = {0, 0}, best, found;
    int32_t before = -1;
    for (int32_t k = 0; k <= o->max_k; k++) right[k] = k ? -INFINITY : 0;
    for (int32_t i = 0; i < o->known[j]; i++) {
        const int32_t row = o->order[j * o->n_rows + i];
        if (!(rows >> row & 1)) continue;
        const int32_t code = o->codes[j * o->n_rows + row];
        if (code != before) {
            const uint64_t between = (((uint64_t)2 << code) - 1) & ~(((uint64_t)2 << before) - 1);
            if (before >= 0 && cuts & between)
                for (int32_t k = o->max_k; k > 0; k--)
                    if (right[k - 1] > right[k]) right[k] = right[k - 1];
            before = code;
        }
        if (o->label[row] == a)
            for (int32_t k = 0; k <= o->max_k; k += 2) right[k] += o->weight[row];
        else if (o->label[row] == b)
            for (int32_t k = 1; k <= o->max_k; k += 2) right[k] += o->weight[row];
    }
    for (rows_t gone = rows & o->missing[j]; gone; gone &= gone - 1) {
        const int row = __builtin_ctzll(gone);
        if (o->label[row] == a) missing[0] += o->weight[row];
        if (o->label[row] == b) missing[1] += o->weight[row];
    }
    if (missing[1] > missing[0]) missing[0] = missing[1];
    /* No change point among the values: the cut above them all, for the rows without one. */
    best = rows & o->missing[j] ? o->split + total - (right[0] + missing[0]) : INFINITY;
    for (int32_t k = 1; k <= o->max_k; k++) {
        found = o->split + (k - 1) * o->refine + total - (right[k] + missing[0]);
        if (found < best) best = found;
    }
    return best;
}

static double weight_of(const oracle_t *o, rows_t rows, int32_t label) {
    double sum = 0;
    for (; rows; rows &= rows - 1) {
        const int row = __builtin_ctzll(rows);
        if (o->label[row] == label) sum += o->weight[row];
    }
    return sum;
}

/* The same if every interval needs several rows. right[k][i] is the most weight that k change points get right before
 * cut i, which is the last of them. */
static double best_long_pair(const oracle_t *o, rows_t rows, int32_t j, uint64_t cuts, int32_t a, int32_t b,
                             double total) {
    const rows_t gone = rows & o->missing[j], have = rows & ~gone;
    const double gone_a = weight_of(o, gone, a), gone_b = weight_of(o, gone, b);
    const double missing = gone_a > gone_b ? gone_a : gone_b;
    double right[MAX_K + 1][66], best = INFINITY, found;
    double behind[2][66]; /* [label b or a][cut] weight behind the cut */
    rows_t above[66];
    int32_t n = 1;
    above[0] = have; /* the first interval begins here, without a change point */
    for (int32_t c = 1; c < o->card[j]; c++) {
        above[n] = rows & o->passing[64 * j + c];
        n += cuts >> c & 1 && above[n] != above[n - 1];
    }
    for (int32_t i = 0; i < n; i++) {
        behind[0][i] = weight_of(o, above[i], b);
        behind[1][i] = weight_of(o, above[i], a);
    }
    for (int32_t k = 0; k <= o->max_k; k++)
        for (int32_t i = 0; i < n; i++) {
            right[k][i] = k == 0 && i == 0 ? 0 : -INFINITY;
            for (int32_t before = 0; k && before < i; before++) {
                if (right[k - 1][before] == -INFINITY || !enough(o, above[before] & ~above[i])) continue;
                found = right[k - 1][before] + behind[k & 1][before] - behind[k & 1][i];
                if (found > right[k][i]) right[k][i] = found;
            }
            if (!k || !enough(o, above[i])) continue;
            found = o->split + (k - 1) * o->refine + total;
            found -= right[k][i] + behind[!(k & 1)][i] + missing;
            if (found < best) best = found;
        }
    if (enough(o, have) && enough(o, gone)) {
        found = o->split + total - (behind[1][0] + gone_b);
        if (found < best) best = found;
    }
    return best;
}

static double one_split(oracle_t *o, rows_t rows, double best, double total) {
    uint64_t cuts[o->n_features];
    int32_t present[MAX_ROWS], n = 0;
    double found;
    for (int32_t c = 0; c < o->n_classes; c++)
        if (o->counts[c] > 0) present[n++] = c;
    oracle_cuts(o, rows, 1, cuts);
    for (int32_t j = 0; j < o->n_features; j++)
        for (int32_t a = 0; a < n; a++)
            for (int32_t b = 0; b < n; b++) {
                if (a == b) continue;
                found = (o->least > 1 ? best_long_pair : best_pair)(
                    o, rows, j, cuts[j], present[a], present[b], total);
                if (found < best) best = found;
            }
    return best;
}

/* --- depth left 2 and more ----------------------------------------------------------------------------------- */

static double part(oracle_t *o, rows_t one, rows_t other, double penalty, int32_t depth, double best) {
    rows_t swap;
    double cost;
    if (!one || !other || penalty >= best) return best;
    if (o->most && ++o->tried > o->most) longjmp(o->given_up, 1);
    if (__builtin_popcountll(one) < __builtin_popcountll(other)) {
        swap = one;
        one = other;
        other = swap;
    }
    cost = penalty + value(o, one, depth - 1);
    if (cost >= best) return best;
    cost += value(o, other, depth - 1);
    return cost < best ? cost : best;
}

/* Every set of change points that begins with those in `right` and goes on behind the first `next` ones. `open` is
 * what lies behind the last of them: each interval needs enough rows, and behind all values those without one. */
static double every_shape(oracle_t *o, rows_t rows, rows_t missing, const rows_t *above, int32_t n, int32_t next,
                          int32_t k, rows_t right, rows_t open, int32_t depth, double best) {
    const double penalty = o->split + k * o->refine;
    for (int32_t i = next; i < n; i++) {
        const rows_t side = right ^ above[i];
        const int alone = k == 0 && !above[i], last = enough(o, alone ? missing : above[i]);
        if (o->least > 1 && !enough(o, open & ~above[i])) continue;
        if (o->least == 1 || last) {
            best = part(o, rows & ~side, side, penalty, depth, best);
            if (missing) best = part(o, rows & ~(side | missing), side | missing, penalty, depth, best);
        }
        if (k + 1 < o->max_k)
            best = every_shape(o, rows, missing, above, n, i + 1, k + 1, side, above[i], depth, best);
    }
    return best;
}

static double value(oracle_t *o, rows_t rows, int32_t depth) {
    double total, best = leaf_error(o, rows, &total);
    entry_t *entry = NULL;
    if (best == 0 || depth == 0) return best;
    entry = depth == 1 ? &o->near[mixed(rows, 1) & (NEAR - 1)] : place(o, rows, depth);
    if (entry->depth == depth && entry->rows == rows) return entry->value;
    if (depth == 1) {
        best = one_split(o, rows, best, total);
        *entry = (entry_t){rows, 1, best};
        return best;
    }
    uint64_t cuts[o->n_features];
    oracle_cuts(o, rows, depth, cuts);
    for (int32_t j = 0; j < o->n_features; j++) {
        rows_t above[64];
        int32_t n = 0;
        for (int32_t c = 1; c <= o->card[j]; c++) {
            if (!(cuts[j] >> c & 1)) continue;
            above[n] = rows & o->passing[64 * j + c];
            /* A cut that no row of the state lies behind, or between it and the last one, is no other cut. */
            if (n == 0 || above[n] != above[n - 1]) n++;
        }
        best = every_shape(o, rows, rows & o->missing[j], above, n, 0, 0, 0, rows & ~o->missing[j], depth, best);
    }
    keep(o, rows, depth, best);
    o->states++;
    return best;
}

/* Not a number if that takes more than so many splits (0: any number). */
double oracle_value(oracle_t *o, rows_t rows, int32_t depth, int64_t most) {
    o->tried = 0;
    o->most = most;
    return setjmp(o->given_up) ? NAN : value(o, rows, depth);
}

int64_t oracle_near_ties(const oracle_t *o) {
    return o->near_ties;
}

int64_t oracle_states(const oracle_t *o) {
    return o->states;
}

void oracle_free(oracle_t *o) {
    if (!o) return;
    free(o->missing);
    free(o->passing);
    free(o->order);
    free(o->known);
    free(o->counts);
    free(o->table);
    free(o->near);
    free(o);
}

/* The arrays must live as long as the oracle. NULL when there is no memory. */
oracle_t *oracle_new(int32_t n_rows, int32_t n_features, int32_t n_classes, int32_t max_depth, int32_t max_k,
                     int32_t mode, int32_t entropy, double split, double refine, const int32_t *codes,
                     const int32_t *card, const double *values, const int32_t *label, const double *weight,
                     const double *units, const uint64_t *grid, const int32_t *leaves, int32_t n_leaves,
                     int32_t least) {
    oracle_t *o = calloc(1, sizeof(oracle_t));
    if (!o) return NULL;
    const size_t m = (size_t)n_features;
    *o = (oracle_t){.n_rows = n_rows, .n_features = n_features, .n_classes = n_classes, .max_depth = max_depth,
                    .max_k = max_k, .mode = mode, .entropy = entropy, .n_leaves = n_leaves, .least = least,
                    .split = split, .refine = refine, .codes = codes, .card = card, .values = values, .label = label,
                    .weight = weight, .units = units, .grid = grid, .leaves = leaves, .size = 1 << 10};
    o->missing = calloc(m, sizeof(rows_t));
    o->passing = calloc(64 * m, sizeof(rows_t));
    o->order = calloc(m * (size_t)n_rows, sizeof(int32_t));
    o->known = calloc(m, sizeof(int32_t));
    o->counts = calloc(2 * (size_t)n_classes, sizeof(double));
    o->table = calloc((size_t)o->size, sizeof(entry_t));
    o->near = calloc(NEAR, sizeof(entry_t));
    if (!o->missing || !o->passing || !o->order || !o->known || !o->counts || !o->table || !o->near) {
        oracle_free(o);
        return NULL;
    }
    for (int32_t j = 0; j < n_features; j++)
        for (int32_t c = -1; c < card[j]; c++)
            for (int32_t row = 0; row < n_rows; row++) {
                const int32_t code = codes[j * n_rows + row];
                if (c < 0) {
                    if (code < 0) o->missing[j] |= (rows_t)1 << row;
                    continue;
                }
                if (code >= c) o->passing[64 * j + c] |= (rows_t)1 << row;
                if (code == c) o->order[j * n_rows + o->known[j]++] = row;
            }
    return o;
}
