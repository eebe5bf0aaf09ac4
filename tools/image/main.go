// Command image does what "docker build" does with the Dockerfile of this repository, without a
// container engine. It writes an archive that "docker load" reads. It is a module of its own, so
// that its go.sum pins the library and the program does not depend on it.
package main

import (
	"archive/tar"
	"bytes"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

type flags struct {
	dockerfile, context, platform, tag, version, revision, output string
	created                                                       int64
}

func main() {
	var f flags
	flag.StringVar(&f.dockerfile, "file", "Dockerfile", "the Dockerfile")
	flag.StringVar(&f.context, "context", "bin/image", "the directory from which it copies")
	flag.StringVar(&f.platform, "platform", "linux/amd64", "operating system and architecture of the binary")
	flag.StringVar(&f.tag, "tag", "synthetic:latest", "name and tag of the image")
	flag.StringVar(&f.version, "version", "unknown", "the argument VERSION of the Dockerfile")
	flag.StringVar(&f.revision, "revision", "unknown", "the argument REVISION of the Dockerfile")
	flag.Int64Var(&f.created, "created", 0, "time of the image and of its files, in seconds since 1970")
	flag.StringVar(&f.output, "output", "image.tar", "the archive to write")
	flag.Parse()
	if err := f.write(); err != nil {
		fmt.Fprintf(os.Stderr, "image: %v\n", err)
		os.Exit(1)
	}
}

func (f flags) write() error {
	tag, err := name.NewTag(f.tag)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(f.dockerfile)
	if err != nil {
		return err
	}
	b, err := parse(string(text), map[string]string{"TARGETPLATFORM": f.platform, "VERSION": f.version, "REVISION": f.revision})
	if err != nil {
		return fmt.Errorf("%s: %w", f.dockerfile, err)
	}
	image, err := b.image(f.context, f.platform, time.Unix(f.created, 0).UTC())
	if err != nil {
		return err
	}
	return tarball.WriteToFile(f.output, tag, image)
}

// image returns the image whose only layer is the copied directory.
func (b build) image(context, platform string, created time.Time) (v1.Image, error) {
	p, err := v1.ParsePlatform(platform)
	if err != nil {
		return nil, err
	}
	files, err := archive(filepath.Join(context, b.source), created)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil })
	if err != nil {
		return nil, err
	}
	image, err := mutate.Append(empty.Image, mutate.Addendum{
		Layer: layer, History: v1.History{Created: v1.Time{Time: created}, CreatedBy: "COPY " + b.source + " /"},
	})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = p.OS, p.Architecture, p.Variant
	config.Created, config.Config = v1.Time{Time: created}, b.config
	return mutate.ConfigFile(image, config)
}

// archive returns a tar of a directory. Everything belongs to root and has the same time, so that
// the same files give the same bytes.
func archive(dir string, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		return add(w, dir, path, entry, at)
	})
	if err != nil {
		return nil, err
	}
	return b.Bytes(), w.Close()
}

func add(w *tar.Writer, dir, path string, entry fs.DirEntry, at time.Time) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	header, err := tar.FileInfoHeader(info, "")
	if err != nil {
		return err
	}
	inside, err := filepath.Rel(dir, path)
	if err != nil {
		return err
	}
	if header.Name = filepath.ToSlash(inside); entry.IsDir() {
		header.Name += "/"
	}
	*header = tar.Header{Typeflag: header.Typeflag, Name: header.Name, Size: header.Size, Mode: header.Mode, ModTime: at}
	if err := w.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
		return err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, err = w.Write(content)
	return err
}
