"""The sentences of the page. Names in braces are filled in by `page`."""

from __future__ import annotations

ABOUT = """\
Limit {limit:g} s for each run on one core, {folds}. A fold has 70 % of the rows for training, 10 % for
validation and 20 % for testing (stratified; the seeds are 0, 1, ...). Rows marked *quoted* are the
paper's: {conditions}. They were not measured here. Finished runs:
"""

ACCURACY_AIMS = """\
Training accuracy beside the paper's average. The paper's average over the datasets that are here is not
known; it is at least what it would be if the other datasets had 100 %. The distance to CART on the same
rows depends less on the datasets. With less than four fifths of the paper's datasets there is no verdict.
"""

TRACEABLE = """\
Traceable numbers: every run is a line of `{file}` with its commit, fold, machine and versions. {dirty} of
{runs} runs are of a changed or unknown commit.
"""

READING = """\
Datasets and folds on which Literati with as many change points has a higher, the same and a lower
training accuracy than a peer (ahead / equal / behind). A peer without a tree counts as one leaf.
"""

PROOFS = """\
A proof says that no tree of the solver's own space has fewer training errors: of adaptive thresholds for
Literati, of quantiles for STreeD and DL8.5, and of every threshold for ConTree. Rates of different spaces
are therefore not comparable, and a proven tree can have more errors than a tree of a larger space that is
not proven. A proof says nothing about rows that were not seen. The paper's rates are after an hour.
"""

NOT_REPRODUCED = """\
- Datasets of the paper that are not used here: {lacking}. They were not replaced.
- PyPI has no distribution of {not_on_pypi}: `dpdt` and `dpdtreeestimator` do not exist there, and
  `branches` is another program. Their rows are quoted only.
- The paper's tables by dataset, its comparison with STreeD over quantiles and its figures are not in the
  text that we have. Only its averages can stand beside ours.
- The paper's runs had an hour and 12 virtual cores; these have {limit:g} s and one core. Seconds of the
  two are not comparable.
- The rows of the paper's folds are not known; these are stratified splits with our seeds.
- The setting of CA-DL8.5 in the paper is not known. Here it is DL8.5 of pytrees-rs with its Top-k rule,
  and LDS-DL8.5 is the same with its discrepancy rule.
- sgtlearn has no `min_samples_split`, which the paper tunes for ShapeCART and ShapeTAO.
- Dummy variables leave out the first category, which gives the paper's numbers of columns of electricity
  and eucalyptus; the table of datasets tells where ours differ.
"""

NO_TREE = """\
Runs without a tree. In averages they count as one leaf with all their time, as in the paper, and are
marked {mark}; absent packages do not count:
"""

CONTRADICTIONS = """\
Runs whose solver reports other errors than its predictions have; the predictions count:
"""

TABLE1 = """\
Literati searches adaptive thresholds (17 leaves, so B_d = 16 at every depth) without polishing. On the
last level it considers every threshold, which the paper's space does not. All methods get the same
numbers. A proof is about the solver's own space. Greedy methods have no time limit and may take longer.
"""

RANKS = """\
Mean ranks by training accuracy (1 is best). Ranks and tests use the mean over folds of each dataset,
because folds of a dataset share rows.
"""

LIGHT = """\
Light: 16, 8, and then 4 thresholds (`candidate_leaves=[17, 9, 5]`). The quoted rows are of the paper's
table of light schedules.
"""

QUANTILE = """\
`candidates="quantile"` with K = 1 over exactly the thresholds of STreeD (16 quantiles). The last column
is the geometric mean of STreeD's seconds divided by ours where both have a proof.
"""

NATIVE = """\
Literati can split text columns as they are. The other methods need dummy variables, and the tables above
use these for all. Fold 0; a star marks a proof.
"""

POLISHED = """\
By default, Literati polishes its trees over every threshold. Polished trees lie outside the space of the
proof.
"""

ABLATIONS = """\
D = {depth}, K = 3: distance of the best tree to the best known one in percent of the training rows, over
time and over expansions. The best known tree is the best of all these runs in the space of adaptive
thresholds. In the last figure it is the best of any run, so a line without polishing may not reach 0.
Tables have the distance at the end, as a mean over folds.
"""

PATHS = """\
Trees of `regularization_path` with the light schedule and a penalty of leaves only, within the limit for
a whole path, on the training rows of fold 0. A proven tree is optimal for its penalties; others are the
best known. The paper fits 100 penalties at depth 6 with an hour for each, and reports that K = 2 needs 25
leaves for the accuracy of 35 with K = 1 on avila, and 20 for that of 40 on rice (quoted).
"""

GENERALIZATION = """\
Random search over the paper's hyperparameters with the same seed for every fold, at most {trials} trials
and {limit:g} s for all trials of a fold (the paper: 200 trials, 15 minutes for a model and fold). A trial
of a solver with a time limit gets at most {share:.1%} of that. The trial with the best mean validation
accuracy over folds counts; its trees were fitted to the training rows. What the paper does not tune has
its default, so our trees are polished. `literati-numbers` gets dummy variables as the others do. `literati`
gets native columns and has no rank, because ranks compare methods with the same columns.

Means over {counted} of {planned} datasets, which all these methods have: {names}.
"""

TUNING = """\
From the form `tuning` with {limit:g} s (`tuning-{limit:g}s.json`, whose runs have no commit): every
method is tuned on the same five folds of the training rows. {splits} of five splits and {counted} of the
paper's datasets with at most 25,000 rows count.
"""

TREES = """\
D = 3, K = 2, without polishing, fitted to the training rows of fold 0.
"""

BY_DATASET = """\
Training accuracy in percent; a star marks a proof, {mark} a run without a tree.
"""
