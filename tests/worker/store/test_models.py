"""Test the records of models and their aliases."""

from __future__ import annotations

import json

import pytest

from tests.support.records.store_records import TENANT, look, progress_update, start
from worker.domain.base import new_id
from worker.domain.datasets import CsvStyle
from worker.domain.errors import AliasNotFoundError, InvalidTokenError, ModelInUseError, ModelNotFoundError
from worker.domain.jobs import JobState, Outcome, StopReason
from worker.domain.models import Model
from worker.domain.parameters import Parameters
from worker.store import Store


def make_model(store: Store, **fields: object) -> Model:
    job_id = start(store, **fields).spec.id
    store.jobs.publish_progress(job_id, 1, progress_update(upper=9, lower=1, objective=8.5))
    outcome = Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.GAP_REACHED)
    store.jobs.finish(job_id, 1, outcome, progress_update(upper=9, lower=4.25))
    model_id = look(store, job_id).model_id
    assert model_id is not None
    model = store.models.get(TENANT, model_id)
    assert model is not None
    return model


def test_a_model_says_where_it_comes_from(store: Store) -> None:
    model = make_model(store, name="mine", parameters=Parameters(candidates="shape"))
    job = look(store, model.job_id)
    assert (model.tenant, model.name, model.dataset_id) == (TENANT, "mine", job.spec.dataset_id)
    assert model.dataset_sha256 == job.spec.dataset_sha256
    assert model.parameters == job.spec.parameters
    assert model.proven_space == "shape"
    assert (model.objective, model.upper_bound, model.lower_bound) == (8.5, 9.0, 4.25)
    assert (model.stop_reason, model.proven_optimal) == (StopReason.GAP_REACHED, False)
    assert model.metrics == {"accuracy": 0.085}
    assert model.incumbent_revision == 1
    assert model.created_at == job.finished_at


def test_a_model_knows_how_its_csv_was_written(store: Store) -> None:
    style = CsvStyle(decimal=",", columns={"share": "."}, null_words=["?"])
    assert make_model(store, csv_style=style).csv_style == style


def test_a_model_of_before_does_not_know_it(store: Store) -> None:
    """Records of earlier versions do not have this field."""
    model = make_model(store)
    client = store.client
    for key in (f"literati:model:{model.id}", f"literati:job:{model.job_id}"):
        spec = json.loads(client.hget(key, "spec") or b"")
        assert "csv_style" in spec
        del spec["csv_style"]
        client.hset(key, "spec", json.dumps(spec))
    found = store.models.get(TENANT, model.id)
    assert found is not None
    assert found.csv_style is None
    assert look(store, model.job_id).spec.csv_style is None


def test_the_tree_has_the_final_bounds(store: Store) -> None:
    model = make_model(store)
    tree = store.models.tree(TENANT, model.id)
    assert tree is not None
    assert tree["proof"] == {
        "objective": 8.5,
        "upper_bound": 9.0,
        "lower_bound": 4.25,
        "proven_optimal": False,
        "beyond_space": True,
    }
    assert tree["nodes"] == [{"cost": 8.5, "bound": 4.25, "proven": False}]
    found = store.jobs.incumbent(TENANT, model.job_id)
    assert found is not None
    assert found.tree["proof"]["lower_bound"] == 0, "the incumbent stays as it was found"


def test_other_tenants_see_nothing(store: Store) -> None:
    model = make_model(store)
    store.models.set_alias(TENANT, "best", model.id)
    for name in (model.id, "best"):
        assert store.models.get("other", name) is None
        assert store.models.resolve("other", name) is None
        assert store.models.tree("other", name) is None
    assert store.models.list("other").items == []
    assert store.models.aliases("other") == {}
    with pytest.raises(ModelNotFoundError):
        store.models.delete("other", model.id)
    with pytest.raises(ModelNotFoundError):
        store.models.set_alias("other", "best", model.id)
    with pytest.raises(AliasNotFoundError):
        store.models.delete_alias("other", "best")


def test_aliases_name_a_model_and_move(store: Store) -> None:
    first, second = make_model(store), make_model(store)
    store.models.set_alias(TENANT, "best", first.id)
    store.models.set_alias(TENANT, "also", first.id)
    assert store.models.resolve(TENANT, "best") == first.id
    assert store.models.get(TENANT, "best") == first
    store.models.set_alias(TENANT, "best", second.id)
    assert store.models.resolve(TENANT, "best") == second.id
    assert store.models.tree(TENANT, "best") == store.models.tree(TENANT, second.id)
    assert store.models.aliases(TENANT) == {"also": first.id, "best": second.id}
    store.models.delete_alias(TENANT, "best")
    assert store.models.resolve(TENANT, "best") is None
    with pytest.raises(AliasNotFoundError):
        store.models.delete_alias(TENANT, "best")


def test_an_alias_names_only_models_that_are_there(store: Store) -> None:
    with pytest.raises(ModelNotFoundError):
        store.models.set_alias(TENANT, "best", new_id("mdl"))
    model = make_model(store)
    store.models.set_alias(TENANT, "best", model.id)
    with pytest.raises(ModelNotFoundError):
        store.models.set_alias(TENANT, "other", "best")


def test_a_model_with_an_alias_is_kept(store: Store) -> None:
    model = make_model(store)
    store.models.set_alias(TENANT, "best", model.id)
    with pytest.raises(ModelInUseError):
        store.models.delete(TENANT, model.id)
    with pytest.raises(ModelNotFoundError):
        store.models.delete(TENANT, "best")  # by its id only
    store.models.delete_alias(TENANT, "best")
    store.models.delete(TENANT, model.id)
    for absent in (store.models.get, store.models.resolve, store.models.tree):
        assert absent(TENANT, model.id) is None
    assert store.models.list(TENANT).items == []
    with pytest.raises(ModelNotFoundError):
        store.models.delete(TENANT, model.id)
    assert look(store, model.job_id).model_id == model.id


def test_pages(store: Store) -> None:
    models = [make_model(store) for _ in range(3)]
    first = store.models.list(TENANT, page_size=2)
    rest = store.models.list(TENANT, page_size=2, page_token=first.next_page_token)
    listed = [dict(item) for item in first.items + rest.items]
    more = {"metrics", "validation", "sweep", "csv_style"}
    assert listed == [{name: value for name, value in model if name not in more} for model in models[::-1]]
    assert rest.next_page_token is None
    with pytest.raises(InvalidTokenError):
        store.models.list(TENANT, page_token="?")


def test_tags_are_those_of_the_job_until_they_change(store: Store) -> None:
    model = make_model(store, tags={"team": "a"})
    assert model.tags == {"team": "a"}
    assert store.models.change(TENANT, model.id, lambda now: {"notes": "n"}).tags == {"team": "a"}
    changed = store.models.change(TENANT, model.id, lambda now: {"tags": {**now.tags, "né": "ja"}})
    assert changed.tags == {"team": "a", "né": "ja"}
    assert store.models.list(TENANT).items[0].tags == changed.tags
    assert store.models.change(TENANT, model.id, lambda now: {"tags": {}}).tags == {}
    assert store.models.list(TENANT).items[0].tags == {}
    assert look(store, model.job_id).settings.tags == {"team": "a"}
    for tenant, name in (("other", model.id), (TENANT, new_id("mdl"))):
        with pytest.raises(ModelNotFoundError):
            store.models.change(tenant, name, lambda now: {"tags": {"x": "y"}})


@pytest.mark.parametrize("before", [None, {"old": ""}])
def test_two_who_change_the_tags_at_once_lose_nothing(store: Store, before: dict[str, str] | None) -> None:
    model = make_model(store, tags={"team": "a"})
    if before is not None:
        store.models.change(TENANT, model.id, lambda now: {"tags": before})
    calls = 0

    def slowly(now: Model) -> dict[str, object]:
        nonlocal calls
        calls += 1
        if calls == 1:
            store.models.change(TENANT, model.id, lambda now: {"name": "x", "tags": {**now.tags, "b": "2"}})
        return {"notes": "mine", "tags": {**now.tags, "c": "3"}}

    found = store.models.change(TENANT, model.id, slowly)
    assert (found.name, found.notes, calls) == ("x", "mine", 2)
    assert found.tags == {**(before or {"team": "a"}), "b": "2", "c": "3"}


def test_another_tenants_model_cannot_be_changed(store: Store) -> None:
    """Not even by a script that runs after the model was read."""
    model = make_model(store, name="mine")
    with pytest.raises(ModelNotFoundError):
        store.models._scripts.run("change_model", "other", model.id, "", "name", '"theirs"')
    with pytest.raises(ModelNotFoundError):
        store.models.change("other", model.id, lambda now: {"name": "theirs"})
    assert store.models.get(TENANT, model.id) == model
