"""The routers of all resources."""

from __future__ import annotations

from fastapi import APIRouter

from service.datasets import routes as datasets
from service.datasets import upload_routes as dataset_upload
from service.jobs import control_routes as job_control
from service.jobs import event_routes as job_events
from service.jobs import incumbent_routes as job_incumbents
from service.jobs import routes as jobs
from service.models import alias_routes as aliases
from service.models import creation_routes as model_creation
from service.models import export_routes as model_exports
from service.models import routes as models
from service.nodes import routes as nodes
from service.ops import routes as system
from service.predict import routes as predict
from service.predict import score_routes as score
from service.protocols import inference_routes as inference
from service.protocols import metadata_routes as inference_metadata
from service.protocols import mlflow_routes as mlflow
from service.sweeps import control_routes as sweep_control
from service.sweeps import event_routes as sweep_events
from service.sweeps import routes as sweeps
from service.sweeps import tree_routes as sweep_trees
from service.tenants import routes as tenants
from service.web import routes as pages

# Routes are matched in this order, the most frequent first.
ROUTERS: tuple[APIRouter, ...] = (
    predict.router,
    inference.router,
    jobs.router,
    job_incumbents.router,
    job_events.router,
    job_control.router,
    model_creation.router,
    sweeps.router,
    sweep_events.router,
    sweep_control.router,
    sweep_trees.router,
    datasets.router,
    dataset_upload.router,
    aliases.router,  # before models: they are below its path
    models.router,
    model_exports.router,
    nodes.router,
    score.router,
    inference_metadata.router,
    mlflow.router,
    tenants.router,
    system.router,
    pages.router,
)
