package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// written writes an image whose binary is a text, and returns the archive.
func written(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join(dir, "linux/arm64")
	for path, mode := range map[string]os.FileMode{"usr/bin": 0o755, "tmp": 0o777 | os.ModeSticky} {
		if err := errors.Join(os.MkdirAll(filepath.Join(root, path), 0o755), os.Chmod(filepath.Join(root, path), mode)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "usr/bin/synthetic"), []byte("binary"), 0o755); err != nil {
		t.Fatal(err)
	}
	f := flags{
		dockerfile: "../../Dockerfile", context: dir, platform: "linux/arm64", tag: "synthetic:v1", version: "v1",
		revision: "abc", created: 1_700_000_000, output: filepath.Join(dir, "image.tar"),
	}
	if err := f.write(); err != nil {
		t.Fatal(err)
	}
	return f.output
}

func load(t *testing.T, file string) v1.Image {
	t.Helper()
	image, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(image); err != nil {
		t.Fatal(err)
	}
	return image
}

// TestArchive: the archive has the name, the configuration of the Dockerfile and the files.
func TestArchive(t *testing.T) {
	file := written(t)
	tag, err := name.NewTag("synthetic:v1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tarball.ImageFromPath(file, &tag); err != nil {
		t.Errorf("the image is not named synthetic:v1: %v", err)
	}
	image := load(t, file)
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := config.Config
	got := fmt.Sprintln(config.OS, config.Architecture, c.User, c.Entrypoint, c.Cmd, c.ExposedPorts, c.Labels["org.opencontainers.image.version"], c.Labels["org.opencontainers.image.title"])
	if want := "linux arm64 65532:65532 [/usr/bin/synthetic] [run --config.file=/etc/synthetic/synthetic.yml] map[9877/tcp:{}] v1 synthetic\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	files := map[string]string{}
	each(t, image, func(h *tar.Header, _ io.Reader) {
		files[h.Name] = fmt.Sprintf("%o %d:%d %d", h.Mode, h.Uid, h.Gid, h.ModTime.Unix())
	})
	for path, want := range map[string]string{"tmp": "1777 0:0 1700000000", "usr/bin/synthetic": "755 0:0 1700000000"} {
		if files[path] != want {
			t.Errorf("%s: %q, want %q; all: %v", path, files[path], want, files)
		}
	}
}

// each calls f with every file of the image.
func each(t *testing.T, image v1.Image, f func(*tar.Header, io.Reader)) {
	t.Helper()
	stream := mutate.Extract(image)
	defer stream.Close()
	for r := tar.NewReader(stream); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		h.Name = strings.TrimSuffix(h.Name, "/")
		f(h, r)
	}
}

// TestReproducible: the same files give the same bytes.
func TestReproducible(t *testing.T) {
	var texts []string
	for range 2 {
		text, err := os.ReadFile(written(t))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] {
		t.Error("two archives of the same files differ")
	}
}

// TestUnknownInstructions: what only a container engine can do is rejected.
func TestUnknownInstructions(t *testing.T) {
	for _, text := range []string{"FROM debian\nCOPY a/ /", "FROM scratch\nRUN true\nCOPY a/ /", "FROM scratch", "COPY a/ /\nCOPY b/ /", "COPY a/ /\nLABEL a=b"} {
		if _, err := parse(text, nil); err == nil {
			t.Errorf("%q is not rejected", text)
		}
	}
}

// TestBinaryRuns runs the binary of the archive that "make image-archive" has written.
func TestBinaryRuns(t *testing.T) {
	file := os.Getenv("ARCHIVE")
	if file == "" {
		t.Skip(`ARCHIVE names no file: run "make image-archive"`)
	}
	image := load(t, file)
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.OS != runtime.GOOS || config.Architecture != runtime.GOARCH {
		t.Skipf("the binary is one for %s", config.Platform())
	}
	binary := filepath.Join(t.TempDir(), "synthetic")
	each(t, image, func(h *tar.Header, r io.Reader) {
		if "/"+h.Name == config.Config.Entrypoint[0] {
			text, err := io.ReadAll(r)
			if err := errors.Join(err, os.WriteFile(binary, text, h.FileInfo().Mode())); err != nil {
				t.Fatal(err)
			}
		}
	})
	out, err := exec.Command(binary, "--version").CombinedOutput()
	if version := config.Config.Labels["org.opencontainers.image.version"]; err != nil || !strings.Contains(string(out), version) {
		t.Errorf("%v: the version is not %s: %s", err, version, out)
	}
}
