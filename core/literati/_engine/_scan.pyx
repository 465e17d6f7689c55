"""Scores of all cuts of a feature where rows lack a value, or by entropy. The time does not grow with the classes.

Both scans move one row after the other from the right of the cut to the left, and correct their sums for its class.
"""

from libc.math cimport log2
from libc.string cimport memcpy, memset

from literati._engine._types cimport LEGAL_CUT, ROW_MASK

cdef double ALMOST = 1.0 - 1e-14  # rounding of a product: one this close to the best is divided exactly
# Rounding of a sum of x * log2(x), relative to that of all rows: for each row that was moved, and at least.
cdef double ROUNDING = 4e-15
cdef double MIN_ROUNDING = 1e-12
cdef double NO_CUT = -1e300

cdef enum:
    FEW_CLASSES = 4  # up to these it is as fast to score every cut exactly


cdef inline bint offer_cut(BestCut* best, double score, int32_t at, int32_t missing_right) noexcept nogil:
    if score > best.score:
        best[0] = BestCut(score, at, missing_right)
        return True
    return False


cdef inline bint is_cut(const Scan* scan, int32_t i) noexcept nogil:
    """Return whether a cut may lie behind row i; behind the last one the rows without a value are alone."""
    if i == scan.known - 1:
        return scan.n_missing >= scan.min_missing
    return scan.entries[i] & LEGAL_CUT


cdef void start_sides(const Dataset* data, const Scan* scan) noexcept nogil:
    """Set the class weights of the cut before the first row: on the left, on the right, and without a value."""
    cdef int32_t i
    cdef uint32_t row
    memset(scan.below, 0, data.n_classes * sizeof(double))
    memcpy(scan.above, scan.counts, data.n_classes * sizeof(double))
    memset(scan.missing, 0, data.n_classes * sizeof(double))
    for i in range(scan.n_missing):
        row = scan.missing_entries[i] & ROW_MASK
        scan.missing[data.label[row]] += data.real_weight[row]


cdef void scan_missing(const Dataset* data, Control* control, const Scan* scan, BestCut* best) noexcept nogil:
    """Score all cuts by Gini. The sums of squares are whole numbers, so they are exact as long as they fit a double."""
    cdef double* a = scan.below
    cdef double* b = scan.above
    cdef double* m = scan.missing
    cdef double na = 0.0, nb = 0.0, nm = 0.0, sa = 0.0, sb = 0.0  # without a value: right
    cdef double sl = 0.0, sr = 0.0                                # without a value: left
    cdef double w, top, bottom, min_score = best.score * ALMOST
    cdef int32_t i, c
    cdef uint32_t row
    start_sides(data, scan)
    for c in range(data.n_classes):
        nb += b[c]
        nm += m[c]
        sb += b[c] * b[c]
        sl += m[c] * m[c]
        sr += (b[c] - m[c]) * (b[c] - m[c])
    for i in range(scan.known):
        if control.stop:
            return
        row = scan.entries[i] & ROW_MASK
        c = data.label[row]
        w = data.real_weight[row]
        sa += w * (2.0 * a[c] + w)
        sb -= w * (2.0 * b[c] - w)
        sl += w * (2.0 * (a[c] + m[c]) + w)
        sr -= w * (2.0 * (b[c] - m[c]) - w)
        a[c] += w
        b[c] -= w
        na += w
        nb -= w
        if not is_cut(scan, i):
            continue
        top = sa * nb + sb * na
        bottom = na * nb
        if top > min_score * bottom and offer_cut(best, top / bottom, i + 1, 1):
            min_score = best.score * ALMOST
        if i < scan.known - 1:
            top = sl * (nb - nm) + sr * (na + nm)
            bottom = (na + nm) * (nb - nm)
            if top > min_score * bottom and offer_cut(best, top / bottom, i + 1, 0):
                min_score = best.score * ALMOST


# --- entropy ----------------------------------------------------------------------------------------------------------


cdef inline double xlog2(double x) noexcept nogil:
    return x * log2(x) if x > 0.0 else 0.0


cdef double entropy_purity(const Dataset* data, const double* counts) noexcept nogil:
    cdef double n = 0.0, total = 0.0
    cdef int32_t c
    for c in range(data.n_classes):
        n += counts[c]
        total += xlog2(counts[c])
    return total - n * log2(n)


cdef double nearly_score(const Dataset* data, Control* control, const Scan* scan) noexcept nogil:
    """Write the score of each cut to `scratch`, up to rounding, and return the highest.

    Entry 2 * i is for the cut behind row i with the rows without a value on the right, the next one for the left.
    """
    cdef double* a = scan.below
    cdef double* b = scan.above
    cdef double* m = scan.missing
    cdef double na = 0.0, nb = 0.0, nm = 0.0, fa = 0.0, fb = 0.0, fl = 0.0, fr = 0.0, w, highest = NO_CUT
    cdef double* scores = scan.scratch
    cdef int32_t i, c
    cdef uint32_t row
    start_sides(data, scan)
    for c in range(data.n_classes):
        nb += b[c]
        nm += m[c]
        fb += xlog2(b[c])
        fl += xlog2(m[c])
        fr += xlog2(b[c] - m[c])
    for i in range(scan.known):
        if control.stop:
            return NO_CUT
        row = scan.entries[i] & ROW_MASK
        c = data.label[row]
        w = data.real_weight[row]
        fa += xlog2(a[c] + w) - xlog2(a[c])
        fb += xlog2(b[c] - w) - xlog2(b[c])
        if scan.n_missing:
            fl += xlog2(a[c] + m[c] + w) - xlog2(a[c] + m[c])
            fr += xlog2(b[c] - m[c] - w) - xlog2(b[c] - m[c])
        a[c] += w
        b[c] -= w
        na += w
        nb -= w
        if not is_cut(scan, i):
            continue
        scores[2 * i] = fa + fb - xlog2(na) - xlog2(nb)
        highest = max(highest, scores[2 * i])
        if scan.n_missing and i < scan.known - 1:
            scores[2 * i + 1] = fl + fr - xlog2(na + nm) - xlog2(nb - nm)
            highest = max(highest, scores[2 * i + 1])
    return highest


cdef void scan_entropy(const Dataset* data, Control* control, const Scan* scan, BestCut* best) noexcept nogil:
    """Score all cuts by entropy, exactly where rounding leaves open which is the best.

    Proof: a cut whose rounded score is lower than the highest by more than twice the rounding is not the best.
    """
    cdef double* a = scan.below
    cdef double* b = scan.above
    cdef double highest, least = NO_CUT, total = 0.0
    cdef int32_t i, c
    cdef uint32_t row
    cdef bint few = data.n_classes <= FEW_CLASSES
    if not few:
        highest = nearly_score(data, control, scan)
        for c in range(data.n_classes):
            total += scan.counts[c]
        least = max(highest, best.score) - 2.0 * xlog2(total + 1.0) * (MIN_ROUNDING + ROUNDING * scan.known)
        if highest < least:
            return
    start_sides(data, scan)
    for i in range(scan.known):
        if control.stop:
            return
        row = scan.entries[i] & ROW_MASK
        a[data.label[row]] += data.real_weight[row]
        if not is_cut(scan, i):
            continue
        if few or scan.scratch[2 * i] >= least:
            for c in range(data.n_classes):
                b[c] = scan.counts[c] - a[c]
            offer_cut(best, entropy_purity(data, a) + entropy_purity(data, b), i + 1, 1)
        if scan.n_missing and i < scan.known - 1 and (few or scan.scratch[2 * i + 1] >= least):
            for c in range(data.n_classes):
                scan.with_missing[c] = a[c] + scan.missing[c]
                b[c] = scan.counts[c] - scan.with_missing[c]
            offer_cut(
                best, entropy_purity(data, scan.with_missing) + entropy_purity(data, b), i + 1, 0
            )
