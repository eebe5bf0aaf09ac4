package node

import (
	"context"
	"fmt"
	"path"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	apitest "k8s.io/cri-api/pkg/apis/testing"
)

// images are directories of this machine. Other images cannot be pulled.
type images struct {
	*apitest.FakeImageService
	roots map[string]string
}

func newImages(roots map[string]string) *images {
	return &images{apitest.NewFakeImageService(), roots}
}

// root returns the directory of an image by the last part of its repository.
func (i *images) root(image string) (string, error) {
	repository, _, _ := strings.Cut(path.Base(image), "@")
	repository, _, _ = strings.Cut(repository, ":")
	root, ok := i.roots[repository]
	if !ok {
		return "", fmt.Errorf("there is no image %q on this machine", image)
	}
	return root, nil
}

// PullImage fails for unknown images.
func (i *images) PullImage(ctx context.Context, image *runtimeapi.ImageSpec, auth *runtimeapi.AuthConfig, pod *runtimeapi.PodSandboxConfig) (string, error) {
	if _, err := i.root(image.Image); err != nil {
		return "", err
	}
	return i.FakeImageService.PullImage(ctx, image, auth, pod)
}
