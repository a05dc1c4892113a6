# Two stages: build with the Swift toolchain, run on Debian with the run-time libraries only.
FROM swift:6.3-bookworm AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      libarchive-dev libavcodec-dev libavformat-dev libavutil-dev libisal-dev \
      libmicrohttpd-dev libswscale-dev pkg-config \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /nalu
COPY . .
RUN swift build -c release --static-swift-stdlib --product nalu \
 && install -s .build/release/nalu /usr/local/bin/nalu

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      libarchive13 libavcodec59 libavformat59 libavutil57 libisal2 libmicrohttpd12 libswscale6 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --no-create-home --shell /usr/sbin/nologin nalu
COPY --from=build /usr/local/bin/nalu /usr/local/bin/nalu
USER nalu
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["nalu"]
CMD ["serve", "--host", "0.0.0.0"]
