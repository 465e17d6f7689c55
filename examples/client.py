# %% [markdown]
# # Search on a server with the client
#
# Start the service with `make serve`, and install `literati-trees[client]` and pandas. `Client()`
# finds the server at `LITERATI_URL`, or at `http://127.0.0.1:8000`.

# %%
from pathlib import Path

import pandas as pd

from literati.client import Client, InvalidRequestError, RemoteClassifier

client = Client()
loans = pd.read_csv(Path(__file__).with_name("loans.csv"))
dataset = client.datasets.upload(loans, target="repaid")
dataset

# %% [markdown]
# ## Start a job and wait for its model
#
# The server searches; `progress=True` shows how far it is. Ctrl-C (or the stop button of a notebook)
# ends the waiting and not the job.

# %%
job = client.jobs.create(dataset, max_depth=3, split_penalty=4, time_limit=60)
model = job.wait(progress=True)
print(job.state, "proven optimal:", model.proven_optimal)
model

# %% [markdown]
# ## Predict
#
# The model predicts on the server, and `explain=True` asks for reasons. Its tree predicts here.

# %%
found = model.predictions(loans.head(2), explain=True)
print(found.labels)
print(found.explanations[0]["text"])

# %%
tree = model.tree()
print((tree.predict(loans.drop(columns="repaid")) == model.predict(loans)).all())

# %% [markdown]
# ## Stop when the tree is good enough
#
# `until` ends the search as soon as a condition holds and makes a model of the best tree so far.
# Every event of a job can also be read one by one.

# %%
job = client.jobs.create(dataset, max_depth=6, time_limit=600)
job.wait(progress=True, until="gap<=1% or trees>=2")
print(job["stop_reason"], [event.type for event in job.events()][-1])

# %% [markdown]
# ## Errors say what to do

# %%
try:
    client.jobs.create(dataset, max_depth=99)
except InvalidRequestError as error:
    print(error.status, error.errors[0].pointer, error.fixes[0].label)

# %% [markdown]
# ## A classifier that searches on the server
#
# `RemoteClassifier` is a classifier of scikit-learn. With `keep=False`, it leaves nothing on the
# server.

# %%
X, y = loans.drop(columns="repaid"), loans["repaid"]
classifier = RemoteClassifier(client, keep=False, max_depth=3, split_penalty=4).fit(X, y)
print(classifier.tree_.objective == tree.objective, f"{classifier.score(X, y):.1%} of the rows right")

# %%
client.close()
