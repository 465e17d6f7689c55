# %% [markdown]
# # Serve a model behind an alias
#
# Programs that predict should not change when the model does. They use an *alias*, a name that you
# move from one model to the next. Start the service with `make serve`, and install
# `literati-trees[client]` and pandas.

# %%
import json
from pathlib import Path
from urllib.request import Request, urlopen

import pandas as pd

from literati.client import Client, ConflictError

client = Client()
loans = pd.read_csv(Path(__file__).with_name("loans.csv"))
earlier, later, newest = loans[:200], loans[:450], loans[450:]

# %% [markdown]
# ## Find the best tree
#
# A sweep tries depths, numbers of change points and all penalties on held-out rows, chooses the
# smallest tree that is about as good as the best one, and fits it to all rows. `space` keeps this
# example short; without it, a sweep tries more.


# %%
def best_model(table, name):
    """Find the best tree for a table on the server."""
    dataset = client.datasets.upload(table, target="repaid", name=name)
    sweep = client.sweeps.create(
        dataset,
        name=name,
        space={"max_depth": [2, 3], "max_changepoints": [2], "split_penalty": "path"},
        limits={"time_limit": 60},
    )
    model = sweep.wait(progress=True)
    print(sweep.choice["explanation"])
    return model


first = best_model(earlier, "loans of the first year")
first

# %% [markdown]
# ## Give it a name
#
# From now on, the model has an address that stays: `/v1/models/loans/predict`.

# %%
client.models.aliases.set("loans", first)
print(client.models.predict("loans", newest.head(3)))

# %% [markdown]
# Any program can use the address, with an API key in `Authorization: Bearer ...` if the server asks
# for one. Columns may come in any order, and `null` is a missing value.

# %%
applicant = {"age": 44, "income": None, "debt_ratio": 0.31, "amount": 12, "employment": "salaried"}
applicant |= {"years_at_address": 3, "earlier_loans": 1, "has_savings": True}
request = Request(
    f"{client.url}/v1/models/loans/predict",
    data=json.dumps({"records": [applicant]}).encode(),
    headers={"Content-Type": "application/json"},
)
with urlopen(request) as response:
    answer = json.load(response)
print(answer["predictions"], round(answer["probabilities"][0]["yes"], 3))

# %% [markdown]
# ## Replace the model
#
# More rows have come. Train on them, and compare both models on rows that neither has seen.

# %%
second = best_model(later, "loans of two years")
second

# %%
for name, model in (("first", first), ("second", second)):
    scores = model.score(newest)["scores"]
    low, high = scores["accuracy_interval"].values()
    print(f"{name}: {scores['accuracy']:.1%} right, 95 % interval {low:.1%} to {high:.1%}")

# %% [markdown]
# Move the alias. This happens at once for all later requests, and a request that is being answered
# keeps its model. Remember the model that the alias had.

# %%
previous = client.models.aliases.list()["loans"]
client.models.aliases.set("loans", second)
print(client.models.get("loans").id == second.id)

# %% [markdown]
# ## Take it back
#
# The earlier model is still there, so undoing is moving the alias back. A model with an alias cannot
# be deleted by mistake.

# %%
client.models.aliases.set("loans", previous)
print(client.models.get("loans").id == first.id)
try:
    first.delete()
except ConflictError as error:
    print(error.detail)

# %%
client.models.aliases.delete("loans")
client.close()
