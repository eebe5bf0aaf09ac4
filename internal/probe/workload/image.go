package workload

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxImages bounds the images of a workload in bytes. Each turn sends them again.
const maxImages = 8 << 20

// Image is an image in a message, with its media type and its base64 text.
type Image struct{ Type, Data string }

// URL returns the image as a data URL.
func (i Image) URL() string { return "data:" + i.Type + ";base64," + i.Data }

// imageTypes are the media types by file name extension.
var imageTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
}

// ReadImages reads png, jpg, gif and webp files. The file name determines the type.
func ReadImages(files []string) (all []Image, err error) {
	left := maxImages
	for _, file := range files {
		mediaType := imageTypes[strings.ToLower(filepath.Ext(file))]
		if mediaType == "" {
			return nil, fmt.Errorf("the image %q has an unknown type: name a file that ends with .png, .jpg, .gif or .webp", file)
		}
		data, err := readStart(file, left+1)
		left -= len(data)
		switch {
		case err != nil:
			return nil, fmt.Errorf("reading an image: %w", err)
		case left < 0:
			return nil, fmt.Errorf("the image %q makes the images of the workload more than %d MiB: use smaller ones",
				file, maxImages>>20)
		case len(data) == 0:
			return nil, fmt.Errorf("the image %q is empty: name another", file)
		}
		all = append(all, Image{Type: mediaType, Data: base64.StdEncoding.EncodeToString(data)})
	}
	return all, nil
}

func readStart(path string, limit int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(limit)))
}
