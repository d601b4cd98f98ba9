# the last stage and those that it continues; of a build stage nothing reaches the image
export SOURCE_DATE_EPOCH=1794873600
cp "$ROOT/tests/fuzz/corpus/import/Dockerfile" .
lockstep spec import Dockerfile
echo "-> $?"
cat >Containerfile <<'END'
FROM python:3.11-slim AS base
RUN apt-get update && apt-get install -y curl
FROM gcc:14 AS build
RUN apt-get update && apt-get install -y cmake && make
FROM base
ENV A=1 B="two words"
RUN pip install "fastapi==0.115.0" && python -m pip install --index-url https://pypi.org/simple numpy
END
lockstep spec import Containerfile
echo "-> $?"
echo 'RUN make' >Dockerfile
lockstep spec import Dockerfile
echo "-> $?"
{ for i in $(seq 70); do echo "FROM a$i"; done; } >Dockerfile
lockstep spec import Dockerfile
echo "-> $?"
