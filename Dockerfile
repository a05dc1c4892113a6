# Two stages: build with the Swift toolchain, run on Debian with the run-time libraries only.
ARG BUILD_IMAGE=swift:6.3-bookworm
ARG RUN_IMAGE=debian:bookworm-slim

FROM ${BUILD_IMAGE} AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      libarchive-dev libavcodec-dev libavformat-dev libavutil-dev libisal-dev \
      libmicrohttpd-dev libswscale-dev pkg-config \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /nalu
COPY . .
RUN swift build -c release --static-swift-stdlib --product nalu \
 && install -s .build/release/nalu /usr/local/bin/nalu

FROM ${RUN_IMAGE}
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      libarchive13 libavcodec59 libavformat59 libavutil57 libisal2 libmicrohttpd12 libswscale6 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin nalu
COPY --from=build /usr/local/bin/nalu /usr/local/bin/nalu
LABEL org.opencontainers.image.title="Nalu" \
      org.opencontainers.image.description="H.264 over HTTP: inspect, encode, decode, transcode, remux" \
      org.opencontainers.image.licenses="GPL-2.0-or-later"
# A number, so that an orchestrator can see that it is not root.
USER 10001
ENV NALU_HOST=0.0.0.0 NALU_PORT=8080
EXPOSE 8080
STOPSIGNAL SIGTERM
# Over TLS it is enough that the port answers: the image has no client for more.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["bash", "-c", \
  "exec 3<>/dev/tcp/127.0.0.1/$NALU_PORT || exit 1; [ -z \"$NALU_TLS_CERT\" ] || exit 0; printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3; read -r line <&3; [[ $line == *' 200 '* ]]"]
ENTRYPOINT ["nalu"]
CMD ["serve"]
