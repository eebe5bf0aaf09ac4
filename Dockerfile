# Builds a static binary and puts it into an image without a shell. The base
# images are pinned by tag; pin them by digest where you build.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
ENV CGO_ENABLED=0 GOTOOLCHAIN=local

# The modules change seldom: they get a layer of their own.
COPY go.mod go.sum ./
RUN go mod download

COPY cmd cmd
COPY internal internal
ARG VERSION=unknown
ARG REVISION=unknown
ARG BRANCH=unknown
ARG TARGETOS
ARG TARGETARCH
RUN COMMON=github.com/prometheus/common/version && \
    GOOS="$TARGETOS" GOARCH="$TARGETARCH" go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X $COMMON.Version=$VERSION -X $COMMON.Revision=$REVISION -X $COMMON.Branch=$BRANCH" \
    -o /out/synthetic ./cmd/synthetic

FROM gcr.io/distroless/static-debian12:nonroot
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="synthetic" \
      org.opencontainers.image.description="Talks to an LLM deployment as a user does, and exports what the client sees" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
COPY LICENSE /LICENSE
COPY --from=build /out/synthetic /usr/bin/synthetic
# A number, so that Kubernetes can tell that it is not root.
USER 65532:65532
EXPOSE 9877
ENTRYPOINT ["/usr/bin/synthetic"]
CMD ["run", "--config.file=/etc/synthetic/synthetic.yml"]
