# docker build -t recuse . ; docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" recuse run mine.yaml
FROM python:3.13-slim
COPY envs/requirements.txt /tmp/requirements.txt
RUN pip install --no-cache-dir --require-hashes --requirement /tmp/requirements.txt
COPY . /tmp/recuse
RUN pip install --no-cache-dir --no-deps --no-build-isolation /tmp/recuse && rm -r /tmp/recuse /tmp/requirements.txt
# Of any user, also one without a name here: Snakemake asks for it, and writes to the home folder, as Matplotlib does.
ENV HOME=/tmp USER=recuse MPLCONFIGDIR=/tmp/matplotlib
WORKDIR /data
ENTRYPOINT ["recuse"]
CMD ["--help"]
