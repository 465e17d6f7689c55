"""The AND/OR graph: data states, the shape functions tried at them, primal trees, and the value cache."""

from literati._cart cimport Cut
from literati._intervals cimport Deep
from literati._types cimport (
    Problem, Rows, Shape, cost_t, int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t,
)

# Where the tree behind a state's upper bound comes from.
cdef enum Policy:
    LEAF = 0      # no split
    LOOKAHEAD = 1  # the CART of the state's depth: fitted again when the tree is wanted
    SOLVED = 2    # the exact solver of depth left 1 or 2: run again when the tree is wanted
    SPLIT = 3     # the state's best choice and its children
    TREE = 4      # kept in compact form

# A node of a compact tree, in preorder: the left child follows its parent. Only SPLIT has children.
cdef struct TreeNode:
    cost_t lower         # of the subtree, where it was known
    int32_t feature      # with policy SOLVED and depth left 2: the number of its split, -1: not known
    int32_t right        # offset of the right child from this node
    int32_t cut[8]
    int8_t n_cuts
    int8_t missing_right
    int8_t policy        # LEAF, LOOKAHEAD, SOLVED or SPLIT
    int8_t depth         # depth left
    int8_t proven        # no better subtree in its space

cdef struct Data:        # a data state: rows and depth left
    Choice* parent       # NULL: the root
    Choice** choices     # NULL until expanded
    Choice* best         # the choice of policy SPLIT
    TreeNode* tree       # of policy TREE
    Cut* cuts            # candidates, kept for refinements
    Gap* gaps            # untried change points, in modes where they are opened one by one
    Deep* deep           # a solve that was left half done
    Rows rows            # order is NULL while they are not at hand
    uint64_t hash[2]     # of the set of rows
    cost_t lower         # V: no tree of the state's space costs less
    cost_t upper         # V-bar: cost of the tree of `policy`
    cost_t floor         # least lower bound among pruned choices
    double guess         # V-tilde: what the search expects
    int32_t n
    int32_t n_choices
    int32_t choice_room
    int32_t n_tree       # nodes of `tree`; with policy SOLVED and depth left 2: 1 + number of its split, 0: not known
    int32_t n_cuts
    int32_t n_gaps
    int32_t gap_room
    int8_t depth         # depth left
    int8_t policy
    bint expanded
    bint complete        # lower == upper: nothing left to find

cdef struct Choice:      # a shape state: a shape function at a data state, committed to its two children
    Data* owner
    Choice* prefix       # the choice that this one refines by one change point; NULL for the first
    Data left
    Data right
    Shape shape
    cost_t cost          # penalties of the split
    cost_t refine_lower  # no refinement costs less; read while `refinable`
    bint guessed         # its children have had their lookahead
    bint refinable       # refinements have not been opened
    bint dead            # pruned, but its children's bounds still serve the gaps beside it
    bint turn_right      # round robin: whose turn it is

cdef struct Gap:         # a run of change points, none of which has been tried
    Choice* prefix       # change points already chosen; NULL: none
    Choice* below        # the tried neighbours; NULL at the ends
    Choice* above
    int32_t feature
    int32_t missing_right
    int32_t first        # the run, as positions in the order of the state's rows, both ends included
    int32_t last

cdef struct Entry:       # of the value cache
    uint64_t hash[2]
    cost_t lower
    cost_t upper         # cost of `tree`, or of the solver's tree; read where exact
    TreeNode* tree
    int32_t n_tree       # as in Data
    int8_t depth         # 0: the entry is empty
    bint exact           # lower is the value

cdef struct Cache:
    Entry* entries
    int64_t size         # a power of two
    int64_t used
    int64_t most_bytes   # of entries and their trees
    int64_t bytes
    int64_t hits

cdef struct Counters:
    int64_t live
    int64_t freed

cdef inline cost_t commit_lower(const Choice* c) noexcept nogil:
    return c.cost + c.left.lower + c.right.lower

cdef inline cost_t choice_lower(const Choice* c) noexcept nogil:
    cdef cost_t commit = commit_lower(c)
    return c.refine_lower if c.refinable and c.refine_lower < commit else commit

cdef inline cost_t choice_upper(const Choice* c) noexcept nogil:
    return c.cost + c.left.upper + c.right.upper

cdef inline double choice_guess(const Choice* c) noexcept nogil:
    return c.cost + c.left.guess + c.right.guess

cdef Choice* choice_new(Problem* p, Counters* counters, Data* owner) noexcept nogil
cdef bint data_add(Problem* p, Data* s, Choice* c) noexcept nogil
cdef bint data_add_gap(Problem* p, Data* s, const Gap* gap) noexcept nogil
cdef void choice_free(Problem* p, Counters* counters, Choice* c) noexcept nogil
cdef void data_clear(Problem* p, Counters* counters, Data* s) noexcept nogil

cdef void data_free_values(Problem* p, Data* s) noexcept nogil

cdef bint data_keep_tree(Problem* p, Data* s) noexcept nogil
cdef int32_t tree_size(const Data* s) noexcept nogil
cdef int32_t tree_write(const Data* s, TreeNode* out) noexcept nogil

cdef bint cache_init(Problem* p, Cache* cache, int64_t most_bytes) noexcept nogil
cdef void cache_free(Problem* p, Cache* cache) noexcept nogil
cdef void cache_clear(Problem* p, Cache* cache) noexcept nogil
cdef Entry* cache_find(Cache* cache, const uint64_t* hash, int32_t depth) noexcept nogil
cdef void cache_store(
    Problem* p, Cache* cache, const uint64_t* hash, int32_t depth, cost_t lower, bint exact,
    const TreeNode* tree, int32_t n_tree
) noexcept nogil
