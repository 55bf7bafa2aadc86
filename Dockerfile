# A small image that runs `tarnkappe` as a user without rights, and needs no network once it is built.
#
#   docker build -t tarnkappe .
#   docker run --rm --network none --read-only --tmpfs /tmp -v "$PWD:/data" --user "$(id -u):$(id -g)" tarnkappe run job.yaml
#
# More formats:  docker build --build-arg EXTRAS=excel,statistics -t tarnkappe .

FROM python:3.12-slim AS build
ARG EXTRAS=excel,statistics
COPY pyproject.toml constraints.txt README.md LICENSE /source/
COPY src /source/src
RUN python -m venv /opt/tarnkappe \
 && /opt/tarnkappe/bin/pip install --no-cache-dir -c /source/constraints.txt "/source[${EXTRAS}]" \
 && /opt/tarnkappe/bin/pip uninstall --yes pip

FROM python:3.12-slim
COPY --from=build /opt/tarnkappe /opt/tarnkappe
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin tarnkappe \
 && mkdir /data && chown tarnkappe /data
# Compiled code is kept in the temporary folder: the image itself stays as it is.
ENV PATH=/opt/tarnkappe/bin:$PATH PYTHONDONTWRITEBYTECODE=1 NUMBA_CACHE_DIR=/tmp/numba HOME=/tmp
USER tarnkappe
WORKDIR /data
ENTRYPOINT ["tarnkappe"]
CMD ["--help"]
