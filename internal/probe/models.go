package probe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"
	"unicode"

	openai "github.com/sashabaranov/go-openai"

	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
)

// defaultModelsTimeout bounds the discovery of a model.
const defaultModelsTimeout = 10 * time.Second

const (
	// maxModelName bounds a discovered model's name in bytes: it becomes the
	// value of a label.
	maxModelName = 256
	// maxModels bounds a list of models in bytes: go-openai reads it whole,
	// however long. The longest have some hundreds of kilobytes.
	maxModels = 4 << 20
)

// errNotAsked is why a model is not known that the target would name.
var errNotAsked = errors.New("the prober could not ask")

// ListModels returns the models that a target lists, in its order. What is no name
// is left out.
func ListModels(ctx context.Context, o Options) ([]string, error) {
	auth, client := target.NewAuthorizer(o.Target, ""), newClient(o.Target, o)
	defer auth.Close()
	defer client.CloseIdleConnections()
	list, scrub, err := listModels(ctx, o.Target, auth, client)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, m := range list {
		if isModel(m.ID, scrub) {
			out = append(out, m.ID)
		}
	}
	return out, nil
}

// isModel reports whether a text of a server is a name.
func isModel(name string, scrub scrubber) bool {
	return name != "" && len(name) <= maxModelName && scrub.hide(name) == name && !strings.ContainsFunc(name, unicode.IsControl)
}

// discoverModel returns the first model that the target lists.
func discoverModel(ctx context.Context, t target.Target, auth *target.Authorizer, client *wire.Client) (string, error) {
	list, scrub, err := listModels(ctx, t, auth, client)
	switch {
	case err != nil:
		return "", err
	case len(list) == 0:
		return "", fmt.Errorf("listing the models of %q: the list is empty; set the target's model", t.BaseURL)
	case !isModel(list[0].ID, scrub):
		name := list[0].ID
		if len(name) > maxModelName {
			return "", fmt.Errorf("listing the models of %q: the first has a name of %d bytes; set the target's model", t.BaseURL, len(name))
		}
		return "", fmt.Errorf("listing the models of %q: the first is called %.60q, which is no name; set the target's model", t.BaseURL, scrub.hide(name))
	}
	return list[0].ID, nil
}

// listModels asks the target for its list.
func listModels(ctx context.Context, t target.Target, auth *target.Authorizer, client *wire.Client) ([]openai.Model, scrubber, error) {
	timeout := t.ModelsTimeout
	if timeout <= 0 {
		timeout = defaultModelsTimeout
	}
	if !t.API.ListsModels() {
		return nil, nil, fmt.Errorf("the API %s has no list of models; set the target's model", t.API)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	base := t.BaseURL
	if t.API == target.Ollama { // whose own list has another form
		base += "/v1"
	}
	api, scrub, err := newAPI(ctx, base, auth, client, maxModels)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errNotAsked, err)
	}
	list, err := api.ListModels(ctx)
	switch {
	case wire.IsLocal(err):
		return nil, nil, fmt.Errorf("listing the models of %q: %w: %s", t.BaseURL, errNotAsked, scrub.clean(err.Error()))
	case err != nil:
		return nil, nil, fmt.Errorf("listing the models of %q: %s", t.BaseURL, scrub.clean(err.Error()))
	}
	return list.Models, scrub, nil
}

// newAPI returns a go-openai client over our own transport, for the calls that
// are not timed, with answers of at most so many bytes.
func newAPI(ctx context.Context, base string, auth *target.Authorizer, client *wire.Client, most int64) (*openai.Client, scrubber, error) {
	header, err := auth.Header(ctx)
	if err != nil {
		return nil, nil, err
	}
	cfg := openai.DefaultConfig("")
	cfg.BaseURL = base
	cfg.HTTPClient = &http.Client{
		Transport:     headerTransport{header, most, client},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("redirects are not followed") },
	}
	return openai.NewClientWithConfig(cfg), newScrubber(header), nil
}

// headerTransport adds the target's headers and bounds the answers.
type headerTransport struct {
	header http.Header
	most   int64 // bytes of an answer
	next   http.RoundTripper
}

func (h headerTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(wire.WithTrace(req.Context(), &wire.Trace{MaxBytes: h.most}))
	req.Header.Del("Authorization") // go-openai sends an empty one without a key
	maps.Copy(req.Header, h.header)
	return h.next.RoundTrip(req)
}
