# Isoscope without Rust and without development packages: docker build --tag isoscope .
FROM rust:1.88-slim-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /isoscope
COPY requirements/build.txt requirements/
RUN python3 -m venv .venv \
    && .venv/bin/pip install --no-cache-dir --require-hashes --requirement requirements/build.txt
COPY pyproject.toml README.md LICENSE ./
COPY rust rust
COPY src src
RUN .venv/bin/maturin build --release --locked --out dist

FROM python:3.11-slim-bookworm
COPY --from=build /isoscope/dist /dist
RUN pip install --no-cache-dir "$(echo /dist/isoscope-*.whl)[postgresql,mariadb,serve]" \
    && rm -rf /dist \
    && useradd --create-home isoscope \
    && install --directory --owner=isoscope --group=isoscope /data
USER isoscope
WORKDIR /data
ENTRYPOINT ["isoscope"]
CMD ["--help"]
