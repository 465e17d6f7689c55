"""Tree-alternating optimization with exact steps: improve a tree one node at a time.

With the rest of the tree fixed, a row has a target side at a node if exactly one of the two subtrees classifies it
right. The best shape function for these rows, over all features and change points, has a closed form (`_best_shape`).
A node may also become a leaf or one of its own children; a leaf, or a node above two leaves, may become the best tree
of depth 1. Levels are visited bottom-up, because the nodes of one level do not depend on each other, until no node
changes. Every change lowers the cost, or keeps it with a smaller tree; costs are whole numbers, so this ends.
"""

from libc.stdint cimport int16_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

import numpy as np

from literati._engine._best_shape cimport SideScan, end_group, is_better, offer_shapes, start_scan
from literati._engine._mutable_tree cimport (
    KEEP, NEW_SHAPE, STOP_CHECK_MASK, TO_LEAF, TO_LEFT_CHILD, TO_RIGHT_CHILD, Change, MutableNode, MutableTree,
)
from literati._engine._polish_min_rows cimport LongIntervals, make_long_intervals
from literati._engine._types cimport (
    LEGAL_CUT, ROW_MASK, Shape, cost_t, feature_order, int32_t, int64_t, monotonic, uint32_t,
)

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define PREFETCH(data) __builtin_prefetch(data)
    #else
    #define PREFETCH(data)
    #endif
    """
    void PREFETCH(const void*) noexcept nogil

cdef enum:
    SCAN_VISITS = 8       # a scan of a row takes as long as eight visits by the search: measured on magic, depth 9
    FITS_PER_CHECK = 64   # nodes whose classes are sorted between two checks of the stop flag
    PREFETCH_ROWS = 24    # the targets of a million rows do not fit into the near caches

VISITS_PER_SCAN = SCAN_VISITS


cdef struct NodeFit:      # the best shape function for one node
    int32_t node
    bint two_leaves       # the node is a leaf or has two: it may become any tree of depth 1, one pair of labels a round
    bint active           # this round may lower the cost
    int32_t a, b          # the labels of this round, as ranks by weight
    int64_t weight        # of the rows that reach the node
    int64_t error         # weight misclassified now
    int64_t target[2]     # weight of the rows whose target is the left, and the right side
    int64_t unavoidable   # weight of the rows that both subtrees misclassify
    cost_t cost           # of the subtree now
    cost_t all_left       # cost of this round's subtree if every row went left
    cost_t best_cost
    Shape best            # feature -1: none is better than the node as it is
    bint swapped          # `best` is for the children in the other order


cdef object make_polisher(const Dataset* data, const Rows* rows, object owner):
    cdef Polisher polisher = Polisher.__new__(Polisher)
    polisher.data, polisher.rows, polisher.owner = data, rows, owner
    polisher.capacity = (2 << data.max_depth) + 1
    polisher.nodes = <MutableNode*>calloc(polisher.capacity, sizeof(MutableNode))
    polisher.target = np.empty(data.n_rows, dtype=np.int16)
    polisher.fit_of = np.empty(data.n_rows, dtype=np.int16)
    polisher.scans = <SideScan*>calloc(1 << data.max_depth, sizeof(SideScan))
    polisher.fits = <NodeFit*>calloc(1 << data.max_depth, sizeof(NodeFit))
    if polisher.nodes == NULL or polisher.scans == NULL or polisher.fits == NULL:
        raise MemoryError("no memory to polish trees")
    polisher.long_intervals = make_long_intervals(polisher)
    return polisher


cdef class Polisher(MutableTree):
    """Polishes trees on the data of an engine; `Engine.polisher` makes it.

    `work` counts visits of rows. `finished` says whether the last tree cannot be improved further.
    """

    cdef int16_t[::1] target            # [row] 2 * fit + target side, -1: none
    cdef int16_t[::1] fit_of            # [row] fit whose node it reaches, -1: none
    cdef int32_t[:, ::1] ranked         # [fit] classes by falling weight
    cdef readonly int64_t work
    cdef int64_t max_work               # where the budget of this call ends, -1: no budget
    cdef readonly bint finished
    cdef LongIntervals long_intervals   # None where min_rows is 1
    cdef SideScan* scans                # one for each fit
    cdef NodeFit* fits

    def __init__(self):
        raise TypeError("Engine.polisher() makes a Polisher")

    def __dealloc__(self):
        free(self.scans)
        free(self.fits)

    def request_stop(self):
        """Make the running `polish`, or else the next one, return soon; may be called from any thread."""
        self.stop = 1

    def clear_stop(self):
        """Forget a request that came after the last `polish` had ended."""
        self.stop = 0

    def polish(self, nodes, seconds=None, budget=None):
        """Return a tree that is at least as good, as an array like `nodes`.

        The call ends early after `seconds`, after `budget` visits of rows, or at a stop request; `finished` is then
        False, and a call with the returned tree continues.
        """
        self.deadline = 0.0 if seconds is None else monotonic() + max(seconds, 1e-9)
        self.max_work = -1 if budget is None else self.work + budget
        self.finished = self.interrupted = False
        try:
            return self.improve(nodes)
        finally:
            self.deadline, self.max_work, self.interrupted, self.stop = 0.0, -1, False, 0

    cdef object improve(self, nodes):
        best = nodes.copy()
        self.load(nodes)
        with nogil:
            self.label_leaves()
        # Simplifying moves change points within gaps, which may help the nodes above: sweep again afterwards.
        while not self.interrupted:
            if not self.improve_nodes():
                self.finished = not (self.interrupted or self.out_of_budget())
                break
            self.simplify()
            with nogil:
                self.label_leaves()
            if self.interrupted:
                break
            best = self.dump(nodes)
            if self.out_of_budget():
                break
        return best

    cdef bint out_of_budget(self) noexcept:
        return 0 <= self.max_work <= self.work

    cdef bint improve_nodes(self) except -1:
        """Change nodes until none changes any more, or time or budget are over; return whether any changed."""
        cdef bint changed_ever = False, changed = True
        cdef int32_t level, n_fits
        while changed:
            changed = False
            for level in range(self.number_nodes(), -1, -1):
                n_fits = self.start_fits(level)
                if n_fits == 0:
                    continue
                if not self.solve(level, n_fits):
                    return changed_ever
                if self.apply(n_fits):
                    changed = changed_ever = True
                    self.number_nodes()
                    with nogil:
                        self.label_leaves()
                    if self.interrupted:
                        return changed_ever
        return changed_ever

    cdef int32_t start_fits(self, int32_t level) noexcept:
        """Start a fit for every node of the level that may have become improvable; return their number."""
        cdef int32_t v, n_fits = 0
        cdef MutableNode* node
        cdef NodeFit* fit
        for v in range(self.capacity):
            node = &self.nodes[v]
            node.fit = -1
            if node.parent == -2 or node.depth != level or not node.stale:
                continue
            node.stale = False
            if node.shape.feature < 0 and level == self.data.max_depth:
                continue
            node.fit = n_fits
            fit = &self.fits[n_fits]
            memset(fit, 0, sizeof(NodeFit))
            fit.node = v
            fit.two_leaves = node.shape.feature < 0 or (
                self.nodes[node.left].shape.feature < 0 and self.nodes[node.right].shape.feature < 0
            )
            n_fits += 1
        return n_fits

    cdef bint solve(self, int32_t level, int32_t n_fits) except -1:
        """Find the best shape function of every fit; False when time or budget are over."""
        cdef int32_t j, feature, n_active
        cdef NodeFit* fit
        with nogil:
            self.sum_weights(level, n_fits)
        if self.interrupted or not self.rank_classes(n_fits):
            return False
        for j in range(n_fits):
            fit = &self.fits[j]
            # A shape has to cost less than the subtree as it is, or as much with fewer change points.
            fit.cost = fit.best_cost = fit.error * self.data.weight_cost + self.penalties(fit.node)
            fit.best.feature = -1
            fit.best.n_cuts = max(1, self.nodes[fit.node].shape.n_cuts)
        while True:
            n_active = 0
            for j in range(n_fits):
                n_active += self.next_round(j)
            if n_active == 0:
                return True
            with nogil:
                self.set_targets()
            for feature in range(self.data.n_features):
                if self.should_stop():
                    self.interrupted = True
                if self.interrupted or self.out_of_budget():
                    return False
                with nogil:
                    if self.data.min_rows > 1:
                        self.scan_intervals(feature, n_fits)
                    else:
                        self.scan_feature(feature, n_fits)
                self.work += SCAN_VISITS * self.data.n_rows

    cdef void sum_weights(self, int32_t level, int32_t n_fits) noexcept nogil:
        """Set the fit and the target side of every row, and the weights of every fit."""
        cdef int32_t row, label, n_classes = self.data.n_classes
        cdef bint left, right
        cdef MutableNode* node
        cdef NodeFit* fit
        cdef int64_t weight
        memset(&self.counts[0], 0, sizeof(int64_t) * n_fits * n_classes)
        self.work += SCAN_VISITS * self.data.n_rows
        for row in range(self.data.n_rows):
            if not row & STOP_CHECK_MASK and self.should_stop():
                self.interrupted = True
                return
            self.target[row] = self.fit_of[row] = -1
            node = &self.nodes[self.descend(0, row, level)]
            if node.depth != level or node.fit < 0:
                continue
            self.fit_of[row] = node.fit
            fit = &self.fits[node.fit]
            weight = self.data.weight[row]
            label = self.data.label[row]
            self.counts[node.fit * n_classes + label] += weight
            fit.weight += weight
            if node.shape.feature < 0:
                fit.error += 0 if node.label == label else weight
                continue
            left = self.nodes[self.descend(node.left, row, self.data.max_depth)].label == label
            right = self.nodes[self.descend(node.right, row, self.data.max_depth)].label == label
            if left != right:
                self.target[row] = 2 * node.fit + right
                fit.target[right] += weight
                fit.error += 0 if self.goes_right(&node.shape, row) == right else weight
            elif not left:
                fit.unavoidable += weight
                fit.error += weight

    cdef bint rank_classes(self, int32_t n_fits) except -1:
        """Sort the classes of every fit by falling weight; False when time is over."""
        weights = np.asarray(self.counts)[:n_fits * self.data.n_classes].reshape(n_fits, self.data.n_classes)
        ranked = np.empty((n_fits, self.data.n_classes), dtype=np.int32)
        for first in range(0, n_fits, FITS_PER_CHECK):
            if self.should_stop():
                self.interrupted = True
                return False
            some = slice(first, first + FITS_PER_CHECK)
            ranked[some] = np.argsort(-weights[some], axis=1, kind="stable")
        self.ranked = ranked
        return True

    cdef int64_t weight_of_rank(self, int32_t j, int32_t rank) noexcept nogil:
        return self.counts[j * self.data.n_classes + self.ranked[j, rank]]

    cdef bint next_round(self, int32_t j) noexcept:
        """Set up the next round of a fit; False when no further round may lower its cost.

        Two leaves classify two labels right at most. The pairs come by falling weight, so a pair that cannot pay ends
        those of its heavier label, and the whole fit if it is the heaviest pair left.
        """
        cdef NodeFit* fit = &self.fits[j]
        cdef MutableNode* node = &self.nodes[fit.node]
        cdef cost_t penalties
        cdef int64_t b
        if not fit.two_leaves:
            if fit.a > 0:
                return False
            fit.a = 1
            penalties = self.data.split_cost + self.penalties(node.left) + self.penalties(node.right)
            return self.start_round(fit, penalties, fit.unavoidable, fit.target[1])
        fit.active = False
        while fit.a + 1 < self.data.n_classes:
            fit.b = max(fit.a, fit.b) + 1
            if fit.b < self.data.n_classes and self.weight_of_rank(j, fit.b) > 0:
                b = self.weight_of_rank(j, fit.b)
                if self.start_round(fit, self.data.split_cost, fit.weight - self.weight_of_rank(j, fit.a) - b, b):
                    return True
            if fit.b == fit.a + 1:
                return False
            fit.a += 1
            fit.b = 0
        return False

    cdef bint start_round(self, NodeFit* fit, cost_t penalties, int64_t unavoidable, int64_t right) noexcept:
        """Return whether the cost falls, or the tree shrinks, if every row goes to its target side."""
        cdef cost_t lowest = penalties + unavoidable * self.data.weight_cost
        fit.all_left = lowest + right * self.data.weight_cost
        fit.active = lowest < fit.best_cost or (lowest == fit.best_cost and fit.best.n_cuts > 1)
        return fit.active

    cdef void set_targets(self) noexcept nogil:
        """Set the targets of this round: none in an inactive fit, left and right for a pair of labels."""
        cdef int32_t row, j
        cdef NodeFit* fit
        for row in range(self.data.n_rows):
            j = self.fit_of[row]
            if j < 0:
                continue
            fit = &self.fits[j]
            if not fit.active:
                self.target[row] = -1
            elif fit.two_leaves:
                if self.data.label[row] == self.ranked[j, fit.a]:
                    self.target[row] = 2 * j
                elif self.data.label[row] == self.ranked[j, fit.b]:
                    self.target[row] = 2 * j + 1
                else:
                    self.target[row] = -1

    cdef void scan_feature(self, int32_t feature, int32_t n_fits) noexcept nogil:
        """Offer every active fit its best shape function on one feature, in one pass over the rows of all of them."""
        cdef const Dataset* data = self.data
        cdef const uint32_t* entries = feature_order(self.rows, feature)
        cdef const int32_t* codes = data.codes + feature * <int64_t>data.n_rows
        cdef const int64_t* weights = data.weight if data.weighted else NULL
        cdef const int16_t* targets = &self.target[0]
        cdef SideScan* scans = self.scans
        cdef SideScan* scan
        cdef int64_t weight = 1
        cdef int32_t i, row, target, at, next_at = 0, known = self.rows.known[feature], max_k = data.max_k
        for i in range(n_fits):
            if self.fits[i].active:
                start_scan(&scans[i], max_k)
        for i in range(known):
            if i + PREFETCH_ROWS < known:
                PREFETCH(&targets[entries[i + PREFETCH_ROWS] & ROW_MASK])
            row = entries[i] & ROW_MASK
            at = next_at
            next_at = i + 1 if entries[i] & LEGAL_CUT else next_at
            # A grid has fewer flags, but polishing may cut between any two values.
            if data.grid != NULL and i + 1 < known and codes[row] != codes[entries[i + 1] & ROW_MASK]:
                next_at = i + 1
            target = targets[row]
            if target < 0:
                continue
            scan = &scans[target >> 1]
            if scan.at != at:
                end_group(scan, max_k)
                scan.at = at
            if weights != NULL:
                weight = weights[row]
            scan.group += weight if target & 1 else -weight
        for i in range(known, data.n_rows):
            row = entries[i] & ROW_MASK
            target = targets[row]
            if target >= 0:
                scans[target >> 1].missing += data.weight[row] if target & 1 else -data.weight[row]
        for i in range(n_fits):
            if self.fits[i].active:
                end_group(&scans[i], max_k)
                self.offer(&self.fits[i], &scans[i], feature)

    cdef void offer(self, NodeFit* fit, const SideScan* scan, int32_t feature) noexcept nogil:
        cdef const uint32_t* entries = feature_order(self.rows, feature)
        cdef int32_t i, known = self.rows.known[feature], first
        first = offer_shapes(
            self.data, scan, known, known < self.rows.n, fit.all_left, &fit.best_cost, fit.best.n_cuts, &fit.best
        )
        if first < 0:
            return
        fit.swapped = first
        fit.best.feature = feature
        for i in range(fit.best.n_cuts):
            if fit.best.at[i] == known:
                fit.best.cut[i] = self.data.cardinality[feature]
            else:
                fit.best.cut[i] = self.data.codes[
                    feature * <int64_t>self.data.n_rows + (entries[fit.best.at[i]] & ROW_MASK)
                ]

    cdef void scan_intervals(self, int32_t feature, int32_t n_fits) noexcept nogil:
        """Do the same as `scan_feature` where every interval of the tree must hold min_rows rows."""
        cdef int32_t j, first
        cdef NodeFit* fit
        cdef Shape shape
        cdef cost_t cost
        self.long_intervals.list_rows(self, feature, &self.fit_of[0], n_fits)
        for j in range(n_fits):
            fit = &self.fits[j]
            if not fit.active:
                continue
            cost = fit.best_cost
            first = self.long_intervals.offer(
                self, feature, j, &self.target[0], fit.all_left, &cost, fit.best.n_cuts, &shape
            )
            if first >= 0 and (
                fit.two_leaves or self.long_intervals.holds_below(self, j, fit.node, &shape, first)
            ):
                fit.best_cost = cost
                fit.best = shape
                fit.swapped = first

    cdef bint apply(self, int32_t n_fits) except -1:
        """Make the cheapest change of every fit's node; return whether any node changed."""
        cdef int32_t j, size
        cdef cost_t cost
        cdef NodeFit* fit
        cdef MutableNode* node
        cdef Change change
        cdef bint changed = False
        for j in range(n_fits):
            fit = &self.fits[j]
            node = &self.nodes[fit.node]
            change, cost, size = KEEP, fit.cost, self.size(fit.node)
            if fit.best.feature >= 0:
                if is_better(fit.best_cost, size + fit.best.n_cuts - node.shape.n_cuts, &cost, &size):
                    change = NEW_SHAPE
            if node.shape.feature >= 0:
                if self.child_is_better(node.left, fit.unavoidable + fit.target[1], &cost, &size):
                    change = TO_LEFT_CHILD
                if self.child_is_better(node.right, fit.unavoidable + fit.target[0], &cost, &size):
                    change = TO_RIGHT_CHILD
                if is_better((fit.weight - self.weight_of_rank(j, 0)) * self.data.weight_cost, 0, &cost, &size):
                    change = TO_LEAF
            if change != KEEP:
                changed = True
                self.change(fit.node, change, &fit.best, fit.swapped)
        return changed

    cdef bint child_is_better(self, int32_t child, int64_t error, cost_t* cost, int32_t* size) noexcept:
        """Compare with the child's subtree for all rows of its parent, of which it misclassifies `error`."""
        return is_better(error * self.data.weight_cost + self.penalties(child), self.size(child), cost, size)
