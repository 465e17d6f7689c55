# This image runs the API, the workers and the service that creates the secrets; docker-compose.yml selects the command.
# Python 3.11 on Debian 12 is the oldest version that the lock file supports, and `make test-compose` uses it.
ARG BASE=python:3.11-slim-bookworm

# This stage compiles and installs everything into a virtual environment, which the last stage copies.
FROM ${BASE} AS builder
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
# The compiler builds one wheel and is not part of the final image, so its version is not pinned.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
COPY requirements/service.txt /build/requirements/
RUN python -m venv --without-pip /opt/literati \
    && python -m pip --python /opt/literati/bin/python install --require-hashes --no-compile \
       -r /build/requirements/service.txt
COPY pyproject.toml setup.py README.md LICENSE /build/
COPY core /build/core
WORKDIR /build
# Timestamps are kept out of the compiled modules, so the same sources give the same wheel.
RUN CFLAGS=-g0 SOURCE_DATE_EPOCH=0 python -m pip --python /opt/literati/bin/python wheel \
      --no-build-isolation --no-deps --wheel-dir /build/dist . \
    && python -m pip --python /opt/literati/bin/python install --no-deps --no-compile /build/dist/*.whl
# Remove what only building, testing and AWS services other than S3 need. Compile all bytecode now, because the running
# container cannot write any. Existing bytecode is compiled again, because it contains timestamps.
WORKDIR /opt/literati/lib
RUN python -m pip --python /opt/literati/bin/python uninstall -y -q cython setuptools \
    && find . -type d \( -name tests -o -name include \) -prune -exec rm -rf {} + \
    && find . \( -name '*.pyx' -o -name '*.pxd' -o -name '*.pxi' \) -delete \
    && rm -r python*/site-packages/onnx/backend/test \
    && find . -path '*/pyarrow/*' \( -name '*flight*' -o -name '*_s3*' -o -name '*_cpp_tests*' \) -delete \
    && find . -path '*/botocore/data/*/*' -type f \
       ! -path '*/data/s3/*' ! -path '*/data/sso*/*' ! -path '*/data/sts/*' -delete \
    && /opt/literati/bin/python -m compileall -q -f -j 0 --invalidation-mode unchecked-hash .
WORKDIR /app
COPY worker worker
COPY service service
# Check that nothing that is needed was removed.
RUN /opt/literati/bin/python -m compileall -q --invalidation-mode unchecked-hash . \
    && /opt/literati/bin/python -c "import boto3, onnx.helper, pyarrow.csv, pyarrow.parquet, service.server, worker.tasks; \
boto3.client('s3', region_name='us-east-1')"

FROM ${BASE}
# The time of every file that is made below, and of the password's last change in /etc/shadow.
ARG SOURCE_DATE_EPOCH=0
ARG VERSION=0.2.0.dev0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Literati" \
      org.opencontainers.image.description="Optimal shape-generalized decision trees: training service" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="MIT"
# A new volume takes its owner from the folder on which it is mounted.
RUN groupadd --gid 10001 literati \
    && useradd --uid 10001 --gid 10001 --home-dir /var/lib/literati --no-create-home --shell /usr/sbin/nologin literati \
    && install -d -o literati -g literati -m 0700 /var/lib/literati /run/literati /run/literati/secrets \
       /run/literati/backup /backups \
    && install -d -o literati -g literati -m 0755 /run/literati/redis /run/literati/prometheus /run/literati/grafana
COPY --from=builder /opt/literati /opt/literati
COPY --from=builder /app /app
ENV PATH=/opt/literati/bin:$PATH \
    PYTHONPATH=/app \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    LITERATI_STATE_DIR=/var/lib/literati \
    LITERATI_HOST=0.0.0.0 \
    REMAP_SIGTERM=SIGQUIT
WORKDIR /app
USER 10001:10001
EXPOSE 8000
# The command checks the API or the worker's heartbeat, depending on what the container runs.
HEALTHCHECK --interval=15s --timeout=10s --start-period=60s --retries=4 CMD ["python", "-m", "service.healthcheck"]
CMD ["python", "-m", "service.server"]
