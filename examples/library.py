# %% [markdown]
# # Find an optimal tree with the library
#
# This example runs without a server. It needs pandas and matplotlib besides the library: `pip install
# 'literati-trees[plot]' pandas`.

# %%
from pathlib import Path

import pandas as pd
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split

from literati import LiteratiClassifier, LiteratiClassifierCV, ShapeTree

loans = pd.read_csv(Path(__file__).with_name("loans.csv"))
X, y = loans.drop(columns="repaid"), loans["repaid"]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
loans.head(3)

# %% [markdown]
# ## The best tree of a given size
#
# Text, booleans and missing values need no preparation. The search minimizes the number of
# misclassified training rows plus `split_penalty` for each split. `verbose=1` shows its bounds while
# it runs; when they meet, no tree of the search space is better.

# %%
clf = LiteratiClassifier(max_depth=3, split_penalty=4, verbose=1).fit(X_train, y_train)
print(f"The tree costs {clf.objective_:g}. Proven optimal: {clf.proven_optimal_}.")
clf

# %% [markdown]
# Every node is a strip over the range of its column, coloured by the side to which a value goes. The
# same tree as rules:

# %%
print(clf.tree_.to_text())

# %% [markdown]
# `explain` says why a row gets its class.

# %%
print(clf.tree_.explain(X_test.iloc[0]))

# %% [markdown]
# ## Let cross-validation choose the size
#
# `LiteratiClassifierCV` measures the optimal tree of every penalty on held-out rows, for each depth
# and number of change points, and takes the smallest tree that is about as good as the best one.

# %%
tuned = LiteratiClassifierCV(max_depth=(2, 3), max_changepoints=(1, 2), verbose=1).fit(X_train, y_train)
print(tuned.choice_)
tuned.tree_

# %%
axes = tuned.plot_cv()

# %% [markdown]
# ## Use it with scikit-learn
#
# Both are classifiers of scikit-learn, so its tools work with them.

# %%
for model in (clf, tuned):
    accuracy = model.score(X_test, y_test)
    print(f"{type(model).__name__}: {model.tree_.n_leaves} leaves, {accuracy:.1%} of new rows right")
found = permutation_importance(tuned, X_test, y_test, n_repeats=5, random_state=0)
pd.Series(found.importances_mean, index=X.columns, name="loss of accuracy").sort_values().tail(3)

# %% [markdown]
# ## Keep the tree
#
# The JSON form is complete and contains no code. Trees can also be exported as SQL, C, Java,
# JavaScript, Python, ONNX and PMML.

# %%
text = tuned.tree_.to_json()
again = ShapeTree.from_json(text)
print((again.predict(X_test) == tuned.predict(X_test)).all())
