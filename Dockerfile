# The image that `lil-serve render` and `lil-serve up` run: a serving environment with lilserve in it.
#
#   docker build --build-arg ENGINE_IMAGE=registry.example/lil-engine@sha256:... -t lilserve:latest .
#
# BASE_IMAGE    what the wheel is built on; any image with Python 3.11 or newer and pip or venv
# ENGINE_IMAGE  the engine layer: a GPU image with vLLM in its serving environment; any Python image for tests
# VENV          that environment; it is made where the engine layer has none
# WHEELHOUSE    a directory of the build context with wheels of all dependencies, for builds without a network
#
# No setting of a model or a machine is in here: documents own those, and a test reads the image's config.
ARG BASE_IMAGE=python:3.12-slim-bookworm
ARG ENGINE_IMAGE=vllm/vllm-openai:v0.33.0

FROM ${BASE_IMAGE} AS build
ARG WHEELHOUSE=
WORKDIR /src
COPY . .
RUN python3 -m venv /build \
 && if [ -n "${WHEELHOUSE}" ]; then from="--no-index --find-links=${WHEELHOUSE}"; fi \
 && /build/bin/python -m pip wheel --no-cache-dir --no-deps ${from:-} --wheel-dir /wheel .

FROM ${ENGINE_IMAGE} AS serve
ARG VENV=/opt/venv
ARG WHEELHOUSE=
ARG VERSION=0.1.0
ARG REVISION=unknown
COPY --from=build /wheel /tmp/wheel
# The context's own wheels when the build has them; the copy needs one file that is always there.
COPY pyproject.toml ${WHEELHOUSE} /tmp/wheelhouse/
RUN if [ ! -x "${VENV}/bin/python" ]; then python3 -m venv --system-site-packages "${VENV}"; fi \
 && if [ -n "${WHEELHOUSE}" ]; then from="--no-index --find-links=/tmp/wheelhouse"; fi \
 && { "${VENV}/bin/python" -m pip --version >/dev/null 2>&1 || "${VENV}/bin/python" -m ensurepip; } \
 && "${VENV}/bin/python" -m pip install --no-cache-dir ${from:-} /tmp/wheel/*.whl \
 && ln -sf "${VENV}/bin/lil-serve" /usr/local/bin/lil-serve \
 && install -d -m 0755 /var/cache/lil-serve/models /var/cache/lil-serve/kernels \
 && rm -rf /tmp/wheel /tmp/wheelhouse

# Where models and compiled kernels are kept: paths alone. Which kernels those are is the volume's business, whose name
# is keyed by engine build and by what of the policy a compiler sees (lilserve/render/kernels.py).
ENV PATH=${VENV}/bin:${PATH} \
    HF_HOME=/var/cache/lil-serve/models \
    XDG_CACHE_HOME=/var/cache/lil-serve/kernels \
    TRITON_CACHE_DIR=/var/cache/lil-serve/kernels/triton \
    TORCHINDUCTOR_CACHE_DIR=/var/cache/lil-serve/kernels/inductor \
    FLASHINFER_WORKSPACE_BASE=/var/cache/lil-serve/kernels

LABEL org.opencontainers.image.title="lilserve" \
      org.opencontainers.image.description="What will run, and who said so: vLLM behind a resolved launch policy" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

# LIL_SERVE_PROFILE, LIL_SERVE_HARDWARE and LIL_SERVE_CACHE_MODE select a launch without arguments.
ENTRYPOINT ["lil-serve"]
