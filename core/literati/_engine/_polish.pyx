"""Tree-alternating optimisation with exact steps: make a tree better one node at a time.

With the rest of the tree fixed, a row that reaches a node cares which side it goes to only if exactly one of
them classifies it right. The best shape function for those that care, over all features and change points,
has a closed form (`_wishes`). A node may also become a leaf or one of its own children; a leaf, or a node
above two leaves, may become the best tree of depth one. Levels go bottom-up, as the nodes of a level do not
see each other, until nothing changes. Every step lowers the objective, or keeps it with a smaller tree.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

import numpy as np

from literati._intervals cimport monotonic

from literati._mutable_tree cimport (
    KEEP, NEW_FUNCTION, ROWS_BETWEEN_LOOKS, TO_LEAF, TO_LEFT, TO_RIGHT, Change, MutableTree, Node, goes_right,
)
from literati._wishes cimport MAX_CHANGEPOINTS, NEW_CODE, Column, Wishes, scan_feature

# Sweeps rarely pass a dozen. A search gives whole weights, with which every step gains; others could go in a circle.
cdef int MAX_SWEEPS = 200
cdef enum:
    SCAN = 8                 # a scan of a row takes as long as eight visits by the search: measured on magic, depth 9
    JOBS_BETWEEN_LOOKS = 64  # whose classes are sorted before the next look at the stop flag

VISITS_PER_SCAN = SCAN


cdef struct Job:          # a node that is looked at
    int32_t node
    bint pairs            # it may become a tree of depth one: the rows of two classes wish to part
    int32_t a, b          # ranks by weight of the two classes of this round
    double error          # weight misclassified now
    double error_left     # if every row went left
    double error_right
    double hopeless       # weight that neither side classifies right
    double right          # weight of the rows that only the right side classifies right
    double cost           # of the subtree now, with penalties


def polish(
    nodes, codes, values, y, n_classes, weights, max_changepoints, split_penalty, changepoint_penalty,
    max_depth, seconds=None,
):
    """Polish one tree; a `Polisher` saves sorting the columns again for the next one."""
    polisher = Polisher(
        codes, values, y, n_classes, weights, max_changepoints=max_changepoints, split_penalty=split_penalty,
        changepoint_penalty=changepoint_penalty, max_depth=max_depth,
    )
    return polisher.polish(nodes, seconds)


cdef void sort_rows(
    const int32_t[::1] codes, int32_t[::1] start, uint32_t[::1] order, int32_t n_rows
) noexcept nogil:
    """Counting sort; start[code + 1] holds how many rows have a code below, and ends as scratch."""
    cdef int32_t row, i, code
    for i in range(start.shape[0]):
        if start[i] < n_rows:
            order[start[i]] = NEW_CODE
    for row in range(n_rows):
        code = codes[row]
        i = start[code + 1]
        start[code + 1] += 1
        order[i] = row | (order[i] & NEW_CODE if code >= 0 else 0)


cdef class Polisher(MutableTree):
    """Polishes trees of one training table; sorts its columns once, when they are first wanted.

    `work` counts the rows that it has visited, but for sorting, which is done once; `finished` says whether the last tree could not be made better still.
    """

    cdef uint32_t[:, ::1] order         # [feature]: rows without a value, then the others by code, flagged
    cdef int32_t[::1] n_missing
    cdef int16_t[::1] want              # [row] 2 * job + side it wishes for, -1: does not care
    cdef int16_t[::1] job_of            # [row] job whose node it reaches, -1: none
    cdef int32_t[:, ::1] ranked         # [job] classes by falling weight
    cdef int32_t max_changepoints
    cdef int32_t n_sorted               # features whose rows are in order
    cdef readonly int64_t work
    cdef int64_t last_work              # where the budget of this call ends
    cdef readonly bint finished
    cdef Wishes* wishes                 # one for each job
    cdef Job* jobs

    def __cinit__(self):
        self.wishes = NULL
        self.jobs = NULL

    def __init__(
        self, codes, values, y, int n_classes, weights, *, int max_changepoints, double split_penalty,
        double changepoint_penalty, int max_depth,
    ):
        super().__init__(
            codes, values, y, n_classes, weights, split_penalty, changepoint_penalty, max_depth
        )
        if not 1 <= max_changepoints <= MAX_CHANGEPOINTS:
            raise ValueError(f"max_changepoints must be 1..{MAX_CHANGEPOINTS}, not {max_changepoints}")
        self.max_changepoints = max_changepoints
        self.want = np.empty(self.n_rows, dtype=np.int16)
        self.job_of = np.empty(self.n_rows, dtype=np.int16)
        self.order = np.zeros((self.n_features, self.n_rows), dtype=np.uint32)
        self.n_missing = np.empty(self.n_features, dtype=np.int32)
        self.wishes = <Wishes*>calloc(1 << max_depth, sizeof(Wishes))
        self.jobs = <Job*>calloc(1 << max_depth, sizeof(Job))
        if self.wishes == NULL or self.jobs == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.wishes)
        free(self.jobs)

    def objective(self, nodes):
        """Weight of misclassified rows plus penalties, with majority labels at the leaves."""
        self.load(nodes)
        return self.relabel()

    def request_stop(self):
        """Make the `polish` that runs, or else the next one, return soon; may be called from any thread."""
        self.stop = 1

    def polish(self, nodes, seconds=None, budget=None):
        """Return a tree that is at least as good, as an array like `nodes`.

        It ends early after `seconds`, after `budget` visits of rows, or at a stop request; `finished` is then False,
        and a call with the tree that it returned goes on.
        """
        self.until = 0.0 if seconds is None else monotonic() + max(seconds, 1e-9)
        self.last_work = -1 if budget is None else self.work + budget
        self.finished = self.broken = False
        try:
            return self.improve(nodes)
        finally:
            self.until, self.last_work, self.broken, self.stop = 0.0, -1, False, 0

    cdef object improve(self, nodes):
        best = nodes.copy()
        if not self.sort_columns():
            return best
        self.load(nodes)
        before = self.relabel()
        # Tidying moves change points within gaps, which is news to the nodes above: so sweep once more.
        for _ in range(MAX_SWEEPS):
            if self.broken:
                break
            if not self.sweep_until_still():
                self.finished = not (self.broken or self.spent())
                break
            self.tidy()
            after = self.relabel()
            if self.broken or after > before:
                break
            best, before = self.dump(nodes), after
            if self.spent():
                break
        return best

    cdef bint spent(self) noexcept:
        return 0 <= self.last_work <= self.work

    cdef bint sort_columns(self) except -1:
        """Sort the columns that are not yet sorted; False when there was no time for all of them."""
        cdef int32_t feature
        cdef int32_t[::1] start
        for feature in range(self.n_sorted, self.n_features):
            if self.over():
                return False
            counts = np.bincount(np.add(self.codes[feature], 1), minlength=self.cardinality[feature] + 1)
            self.n_missing[feature] = counts[0]
            if not np.all(counts[1:]):
                raise ValueError(f"codes: some code of feature {feature} has no row; they must be ranks")
            start = (np.cumsum(counts) - counts).astype(np.int32)
            with nogil:
                sort_rows(self.codes[feature], start, self.order[feature], self.n_rows)
            self.n_sorted += 1
        return True

    cdef bint sweep_until_still(self) except -1:
        """Whether the tree changed; `broken` or `spent` where it might change further."""
        cdef bint changed_ever = False, changed = True
        cdef int32_t level, deepest, n_jobs
        for _ in range(MAX_SWEEPS):
            if not changed:
                break
            changed = False
            deepest = self.place()
            for level in range(deepest, -1, -1):
                n_jobs = self.collect(level)
                if n_jobs == 0:
                    continue
                if not self.solve(level, n_jobs):
                    return changed_ever
                if self.apply(n_jobs):
                    changed = changed_ever = True
                    self.place()
                    self.relabel()
                    if self.broken:
                        return changed_ever
        return changed_ever

    cdef int32_t collect(self, int32_t level) noexcept:
        """A job for every node of the level that may have come to something better."""
        cdef int32_t v, n_jobs = 0
        cdef Node* node
        cdef Job* job
        for v in range(self.capacity):
            node = &self.nodes[v]
            node.job = -1
            if node.parent == -2 or node.depth != level or not node.stale:
                continue
            node.stale = False
            if node.function.feature < 0 and level == self.max_depth:
                continue
            node.job = n_jobs
            job = &self.jobs[n_jobs]
            memset(job, 0, sizeof(Job))
            job.node = v
            job.pairs = node.function.feature < 0 or (
                self.nodes[node.left].function.feature < 0 and self.nodes[node.right].function.feature < 0
            )
            n_jobs += 1
        return n_jobs

    cdef bint solve(self, int32_t level, int32_t n_jobs) except -1:
        """Find the best function for every job; False when time or budget are over."""
        cdef int32_t j, feature, active
        cdef Job* job
        cdef Column column
        with nogil:
            self.gather(level, n_jobs)
        if self.broken or not self.rank_classes(n_jobs):
            return False
        for j in range(n_jobs):
            job = &self.jobs[j]
            job.cost = job.error + self.penalties(job.node, NULL)
            # A function has to beat the tree as it is; equal cost will do if it has fewer change points.
            self.wishes[j].best_cost = job.cost
            self.wishes[j].best.feature = -1
            self.wishes[j].best.count = max(1, self.nodes[job.node].function.count)
        while True:
            active = 0
            for j in range(n_jobs):
                active += self.next_round(j)
            if active == 0:
                return True
            with nogil:
                self.wish()
            for feature in range(self.n_features):
                if self.over():
                    self.broken = True
                if self.broken or self.spent():
                    return False
                column.feature = feature
                column.cardinality = self.cardinality[feature]
                column.n_missing = self.n_missing[feature]
                column.order = &self.order[feature, 0]
                with nogil:
                    scan_feature(
                        self.wishes, n_jobs, &self.want[0], self.weight, &column, self.n_rows,
                        self.max_changepoints, self.changepoint_penalty,
                    )
                self.work += SCAN * self.n_rows

    cdef bint rank_classes(self, int32_t n_jobs) except -1:
        """Sort the classes of every job by falling weight; False when time is over."""
        weights = np.asarray(self.counts)[:n_jobs * self.n_classes].reshape(n_jobs, self.n_classes)
        ranked = np.empty((n_jobs, self.n_classes), dtype=np.int32)
        for first in range(0, n_jobs, JOBS_BETWEEN_LOOKS):
            if self.over():
                self.broken = True
                return False
            some = slice(first, first + JOBS_BETWEEN_LOOKS)
            ranked[some] = np.argsort(-weights[some], axis=1, kind="stable")
        self.ranked = ranked
        return True

    cdef bint next_round(self, int32_t j) noexcept:
        """Set up the wishes of a job's next round; False when it has no more."""
        cdef Job* job = &self.jobs[j]
        cdef Wishes* wishes = &self.wishes[j]
        cdef Node* node = &self.nodes[job.node]
        cdef double* counts = &self.counts[j * self.n_classes]
        cdef int32_t k
        cdef double everything = 0
        wishes.active = False
        if not job.pairs:
            if job.a > 0:
                return False
            job.a = 1
            wishes.right = job.right
            wishes.floor = job.hopeless + self.split_penalty
            wishes.floor += self.penalties(node.left, NULL) + self.penalties(node.right, NULL)
            wishes.active = self.may_pay(wishes)
            return wishes.active
        for k in range(self.n_classes):
            everything += counts[k]
        while job.a + 1 < self.n_classes:
            job.b = max(job.a, job.b) + 1
            if job.b < self.n_classes and counts[self.ranked[j, job.b]] > 0:
                # Two leaves get at most two classes right.
                wishes.floor = everything - counts[self.ranked[j, job.a]] - counts[self.ranked[j, job.b]]
                wishes.floor += self.split_penalty
                wishes.right = counts[self.ranked[j, job.b]]
                if self.may_pay(wishes):
                    wishes.active = True
                    return True
            if job.b == job.a + 1:  # its heaviest partner does not pay: nor does any pair to come
                return False
            job.a += 1
            job.b = 0
        return False

    cdef bint may_pay(self, const Wishes* wishes) noexcept:
        """Could granting every wish be better than what the job has?"""
        return wishes.floor < wishes.best_cost or (
            wishes.floor == wishes.best_cost and wishes.best.count > 1
        )

    cdef void gather(self, int32_t level, int32_t n_jobs) noexcept nogil:
        """Per row its job and its wish, per job the weights that its choices turn on."""
        cdef int32_t row, label
        cdef bint left, right
        cdef Node* node
        cdef Job* job
        cdef double weight
        memset(&self.counts[0], 0, sizeof(double) * n_jobs * self.n_classes)
        self.work += SCAN * self.n_rows
        for row in range(self.n_rows):
            if not row & ROWS_BETWEEN_LOOKS and self.over():
                self.broken = True
                return
            self.want[row] = self.job_of[row] = -1
            node = &self.nodes[self.descend(0, row, level)]
            if node.depth != level or node.job < 0:
                continue
            self.job_of[row] = node.job
            job = &self.jobs[node.job]
            weight = 1.0 if self.weight == NULL else self.weight[row]
            label = self.y[row]
            self.counts[node.job * self.n_classes + label] += weight
            if node.function.feature < 0:
                job.error += 0 if node.label == label else weight
                continue
            left = self.nodes[self.descend(node.left, row, self.max_depth)].label == label
            right = self.nodes[self.descend(node.right, row, self.max_depth)].label == label
            job.error_left += 0 if left else weight
            job.error_right += 0 if right else weight
            if goes_right(&node.function, self.codes[node.function.feature, row]):
                job.error += 0 if right else weight
            else:
                job.error += 0 if left else weight
            if left != right:
                self.want[row] = 2 * node.job + right
                job.right += weight if right else 0
            elif not left:
                job.hopeless += weight

    cdef void wish(self) noexcept nogil:
        """Rows of a job's pair of classes wish to part; those of a job without a round wish nothing."""
        cdef int32_t row, j
        cdef Job* job
        for row in range(self.n_rows):
            j = self.job_of[row]
            if j < 0:
                continue
            job = &self.jobs[j]
            if not self.wishes[j].active:
                self.want[row] = -1
            elif job.pairs:
                if self.y[row] == self.ranked[j, job.a]:
                    self.want[row] = 2 * j
                elif self.y[row] == self.ranked[j, job.b]:
                    self.want[row] = 2 * j + 1
                else:
                    self.want[row] = -1

    cdef bint apply(self, int32_t n_jobs) except -1:
        """Make the cheapest change of every job's node; whether there was one."""
        cdef int32_t j, size = 0, best_size = 0
        cdef double best, cost
        cdef Job* job
        cdef Node* node
        cdef Wishes* wishes
        cdef Change what
        cdef bint changed = False
        for j in range(n_jobs):
            job = &self.jobs[j]
            node = &self.nodes[job.node]
            wishes = &self.wishes[j]
            what, best = KEEP, job.cost
            self.penalties(job.node, &best_size)
            if wishes.best.feature >= 0:
                size = best_size + 1 if node.function.feature < 0 else (
                    best_size + wishes.best.count - node.function.count
                )
                if self.gains(wishes.best_cost, size, &best, &best_size):
                    what = NEW_FUNCTION
            if node.function.feature >= 0:
                # One statement each: C may read an argument before another one's call has written it.
                cost = job.error_left + self.penalties(node.left, &size)
                if self.gains(cost, size, &best, &best_size):
                    what = TO_LEFT
                cost = job.error_right + self.penalties(node.right, &size)
                if self.gains(cost, size, &best, &best_size):
                    what = TO_RIGHT
                if self.gains(self.leaf_error(j), 0, &best, &best_size):
                    what = TO_LEAF
            if what != KEEP:
                changed = True
                self.change(job.node, what, &wishes.best)
        return changed

    cdef bint gains(self, double cost, int32_t size, double* best, int32_t* best_size) noexcept:
        """Keep the choice if it is cheaper, or not dearer and smaller."""
        if cost > best[0] or (cost == best[0] and size >= best_size[0]):
            return False
        best[0], best_size[0] = cost, size
        return True

    cdef double leaf_error(self, int32_t j) noexcept:
        cdef double* counts = &self.counts[j * self.n_classes]
        cdef double most = 0, everything = 0
        cdef int32_t k
        for k in range(self.n_classes):
            everything += counts[k]
            most = max(most, counts[k])
        return everything - most
