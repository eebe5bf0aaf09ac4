package workload

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxImages bounds the images of a workload, in bytes: each conversation sends
// them with every turn.
const maxImages = 8 << 20

// Image is a picture in a message.
type Image struct {
	// Type is its media type, Data its bytes in base64.
	Type, Data string
}

// URL is the image as a data URL.
func (i Image) URL() string { return "data:" + i.Type + ";base64," + i.Data }

// ReadImages reads image files, whose types their names say: png, jpg, gif or
// webp.
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

// readImage reads a file of at most so many bytes.
func readImage(file string, most int64) (Image, int64, error) {
	kind := strings.TrimPrefix(strings.ToLower(filepath.Ext(file)), ".")
	switch kind {
	case "png", "jpeg", "gif", "webp":
	case "jpg":
		kind = "jpeg"
	default:
		return Image{}, 0, fmt.Errorf("the image %q has an unknown type: name a file that ends with .png, .jpg, .gif or .webp", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return Image{}, 0, fmt.Errorf("reading an image: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	switch size := int64(len(data)); {
	case err != nil:
		return Image{}, 0, fmt.Errorf("reading the image %q: %w", file, err)
	case size > most:
		return Image{}, 0, fmt.Errorf("the image %q makes the images of the workload more than %d MiB: use smaller ones", file, maxImages>>20)
	case size == 0:
		return Image{}, 0, fmt.Errorf("the image %q is empty: name another", file)
	default:
		return Image{Type: "image/" + kind, Data: base64.StdEncoding.EncodeToString(data)}, size, nil
	}
}
