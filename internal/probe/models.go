package probe

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"synthetic/internal/probe/dialect"
	"synthetic/internal/redact"
)

const (
	modelsTimeout = 10 * time.Second
	// maxModelName bounds the name of a discovered model in bytes.
	maxModelName = 256
	// maxModelsBytes bounds a list of models. The longest known ones have a few hundred
	// kilobytes.
	maxModelsBytes = 4 << 20
)

// ListModels returns the models that a target lists, in its order, without invalid names.
func ListModels(ctx context.Context, o Options) ([]string, error) {
	client := newUntimedClient(o.Target, "", o, ForModels)
	defer client.close()
	names, err := listModels(ctx, client)
	var valid []string
	for _, name := range names {
		if isModelName(name) {
			valid = append(valid, name)
		}
	}
	return valid, err
}

func isModelName(name string) bool {
	return name != "" && len(name) <= maxModelName && redact.Text(name) == name &&
		!strings.ContainsFunc(name, unicode.IsControl)
}

// discoverModel returns the first model that the target lists.
func discoverModel(ctx context.Context, client *untimedClient) (string, error) {
	names, err := listModels(ctx, client)
	problem := ""
	switch {
	case err != nil:
		return "", err
	case len(names) == 0:
		problem = "the list is empty"
	case len(names[0]) > maxModelName:
		problem = fmt.Sprintf("the first name has %d bytes", len(names[0]))
	case !isModelName(names[0]):
		problem = fmt.Sprintf("the first name, %.60q, is invalid", redact.Text(names[0]))
	default:
		return names[0], nil
	}
	return "", fmt.Errorf("listing the models of %q: %s; set the target's model", client.target.BaseURL, problem)
}

func listModels(ctx context.Context, client *untimedClient) ([]string, error) {
	t := client.target
	list := dialect.Of(t.API).ModelList
	if list == "" {
		return nil, fmt.Errorf("the API %s has no list of models; set the target's model", t.API)
	}
	ctx, cancel := context.WithTimeout(ctx, modelsTimeout)
	defer cancel()
	var answer struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := client.get(ctx, list, &answer, maxModelsBytes); err != nil {
		return nil, fmt.Errorf("listing the models of %q: %w", t.BaseURL, err)
	}
	var names []string
	for _, m := range answer.Data {
		names = append(names, m.ID)
	}
	return names, nil
}
