# The binary and nothing else: no base, hence no digest to pin, no shell and no
# packages. What a base would bring is in the binary: the certificates of public
# authorities, which files in /etc/ssl/certs overrule, and the time zones.
# "make image" lays out the root directories, one for each platform.
FROM scratch
ARG TARGETPLATFORM
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="synthetic" \
      org.opencontainers.image.description="Talks to an LLM deployment as a user does, and exports what the client sees" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
COPY $TARGETPLATFORM/ /
# A number, so that Kubernetes can tell that it is not root.
USER 65532:65532
EXPOSE 9877
ENTRYPOINT ["/usr/bin/synthetic"]
CMD ["run", "--config.file=/etc/synthetic/synthetic.yml"]
