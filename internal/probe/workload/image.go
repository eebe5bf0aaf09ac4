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

// ReadImages reads png, jpg, gif and webp files. The file name determines the type.
func ReadImages(files []string) ([]Image, error) {
	var all []Image
	left := int64(maxImages)
	for _, file := range files {
		image, size, err := readImage(file, left)
		if err != nil {
			return nil, err
		}
		left -= size
		all = append(all, image)
	}
	return all, nil
}

func readImage(file string, limit int64) (Image, int64, error) {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(file)), ".")
	switch format {
	case "png", "jpeg", "gif", "webp":
	case "jpg":
		format = "jpeg"
	default:
		return Image{}, 0, fmt.Errorf("the image %q has an unknown type: name a file that ends with .png, .jpg, .gif or .webp", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return Image{}, 0, fmt.Errorf("reading an image: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch size := int64(len(data)); {
	case err != nil:
		return Image{}, 0, fmt.Errorf("reading the image %q: %w", file, err)
	case size > limit:
		return Image{}, 0, fmt.Errorf("the image %q makes the images of the workload more than %d MiB: use smaller ones", file, maxImages>>20)
	case size == 0:
		return Image{}, 0, fmt.Errorf("the image %q is empty: name another", file)
	default:
		return Image{Type: "image/" + format, Data: base64.StdEncoding.EncodeToString(data)}, size, nil
	}
}
