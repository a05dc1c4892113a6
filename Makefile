# Everything a person needs: `make run`, `make test`; `make help` lists the rest.
SHELL := /bin/bash
.DEFAULT_GOAL := help
BUILD := swift build --explicit-target-dependency-import-check error
PACKAGES := libmicrohttpd-dev libavcodec-dev libavformat-dev libavutil-dev libswscale-dev \
  libarchive-dev libisal-dev pkg-config
HOST ?= 127.0.0.1
PORT ?= 8080

SECONDS_OF_SOAK ?= 600

.PHONY: help run test build lint format bench sanitize fuzz image deps openapi \
  checks strictness overload lifecycle disconnects connections commands remux soak contract image-check

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

run: build ## Build the release binary and serve on HOST:PORT (127.0.0.1:8080)
	@printf 'Try, from another terminal:\n  %s\n  %s\n  %s\n\n' \
	  "curl -X POST --data-binary @clip.h264 http://$(HOST):$(PORT)/inspect" \
	  "curl -X POST --data-binary @clip.yuv 'http://$(HOST):$(PORT)/encode?width=176&height=144&fps=15' -o out.h264" \
	  "curl -X POST --data-binary @out.h264 'http://$(HOST):$(PORT)/decode?frames=0' -o frame.png"
	exec .build/release/nalu serve --host $(HOST) --port $(PORT)

test: deps ## Run the whole test suite
	swift build --build-tests --explicit-target-dependency-import-check error
	swift test --disable-xctest --skip-build

build: deps ## Build the release binary, .build/release/nalu
	$(BUILD) -c release

lint: ## Check the format of every source file
	swift format lint --strict -r Sources Tests Package.swift

format: ## Format every source file in place
	swift format -i -r Sources Tests Package.swift

bench: deps ## Measure against ffprobe and ffmpeg in the same run
	NALU_BENCH=1 $(BUILD) -c release
	Benchmarks/run $(BENCH)

sanitize: deps ## Run the tests under the address and the thread sanitizer
	SWIFT_BACKTRACE=enable=no timeout 1500 swift test --disable-xctest --sanitize=address --scratch-path .build/asan
	SWIFT_BACKTRACE=enable=no timeout 1500 swift test --disable-xctest --sanitize=thread --scratch-path .build/tsan

fuzz: deps ## Run every fuzz target for a bounded time
	Fuzz/run

checks: strictness overload lifecycle disconnects connections commands remux ## All of the following seven, against the release binary

strictness: build ## HTTP forms over raw sockets
	Checks/strictness

overload: build ## A full queue
	Checks/overload

lifecycle: build ## Signals, crashes, full and read-only disks
	Checks/lifecycle

disconnects: build ## A thousand clients that leave in the middle
	Checks/disconnects

connections: build ## Two thousand open connections
	Checks/connections

commands: build ## Signals and options of the commands
	Checks/commands

remux: build ## Every form of video into every other, read by ffmpeg, MediaInfo and Chromium
	Checks/remux

soak: build ## A mix of everything for SECONDS_OF_SOAK (600)
	Checks/soak --seconds $(SECONDS_OF_SOAK)

contract: build ## Compare the service with openapi.yaml, by schemathesis
	Checks/contract

image-check: ## Build the image from a clean clone and try it
	Checks/image

image: ## Build the container image, nalu:latest
	$${CONTAINER:-docker} build -t nalu:latest .

openapi: build ## Write openapi.yaml anew from the tables in the code
	.build/release/nalu openapi > openapi.yaml

deps:
	@dpkg -s $(PACKAGES) > /dev/null 2>&1 || { \
	  sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	  $$sudo apt-get update -qq && $$sudo apt-get install -y -qq --no-install-recommends $(PACKAGES); }
