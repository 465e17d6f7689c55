"""Predict with the protocols of other servers: the Open Inference Protocol and MLflow's scoring server."""
