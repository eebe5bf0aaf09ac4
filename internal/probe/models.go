package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"synthetic/internal/atomicfile"
	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
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

// errOwnFault wraps errors that the prober itself caused, such as a missing key.
var errOwnFault = errors.New("the prober could not send the request")

// Purpose says why a request is sent that is not a turn.
type Purpose string

const (
	ForModels       Purpose = "models"        // a list of models
	ForRefusedField Purpose = "refused_field" // a turn that is sent again without a field that the server refuses
	ForMetrics      Purpose = "server_metrics"
)

// count counts a request that is no turn.
func (o *Options) count(p Purpose) {
	if o.Sent != nil {
		o.Sent(p)
	}
}

// ListModels returns the models that a target lists, in its order, without invalid names.
func ListModels(ctx context.Context, o Options) ([]string, error) {
	auth := target.NewAuthorizer(o.Target, "")
	defer auth.Close()
	names, err := o.listModels(ctx, auth)
	return slices.DeleteFunc(names, func(name string) bool { return !isModelName(name) }), err
}

func isModelName(name string) bool {
	return name != "" && len(name) <= maxModelName && redact.Text(name) == name &&
		!strings.ContainsFunc(name, unicode.IsControl)
}

// discoverModel returns the first model that the target lists.
func (o *Options) discoverModel(ctx context.Context, auth *target.Authorizer) (string, error) {
	names, err := o.listModels(ctx, auth)
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
	return "", fmt.Errorf("listing the models of %q: %s; set the target's model", o.Target.BaseURL, problem)
}

// listModels asks a target for its models. The error contains no secrets.
func (o *Options) listModels(ctx context.Context, auth *target.Authorizer) (names []string, err error) {
	path := dialect.Of(o.Target.API).ModelList
	if path == "" {
		return nil, fmt.Errorf("the API %s has no list of models; set the target's model", o.Target.API)
	}
	ctx, cancel := context.WithTimeout(ctx, modelsTimeout)
	defer cancel()
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := o.get(ctx, auth, path, &list); err != nil {
		return nil, fmt.Errorf("listing the models of %q: %w", o.Target.BaseURL, err)
	}
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	return names, nil
}

// get requests a path of the target and decodes the answer, of at most maxModelsBytes, into answer.
func (o *Options) get(ctx context.Context, auth *target.Authorizer, path string, answer any) error {
	header, err := auth.Header(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errOwnFault, err)
	}
	header.Set("Accept", "application/json")
	trace := wire.Trace{MaxBytes: maxModelsBytes}
	req, err := http.NewRequestWithContext(wire.WithTrace(ctx, &trace), http.MethodGet, o.Target.BaseURL+path, nil)
	if err != nil {
		return err
	}
	req.Header = header
	client := newClient(&o.Target, o)
	defer client.CloseIdleConnections()
	resp, err := client.RoundTrip(req)
	if trace.Sent() {
		o.count(ForModels)
	}
	if err == nil {
		err = decode(resp, answer)
	}
	switch {
	case err == nil:
		return nil
	case wire.IsLocal(err):
		return fmt.Errorf("%w: %s", errOwnFault, errorText(err.Error()))
	}
	return errors.New(errorText(err.Error()))
}

// decode decodes the body of a response, and closes it.
func decode(resp *http.Response, answer any) error {
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode/100 != 2:
		return statusError(resp, text)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("decoding the answer: %w", atomicfile.InJSONTerms("it", err))
	}
	return nil
}

// statusError describes a response that is not 2xx. It names only the host of a redirect, because the
// rest of the address can contain secrets.
func statusError(resp *http.Response, body []byte) error {
	text := cmp.Or(dialect.ErrorMessage(body), "without an error message")
	switch to, err := resp.Location(); {
	case resp.StatusCode < 200:
		text = "not a final status of HTTP"
	case resp.StatusCode/100 == 3 && err == nil:
		text = fmt.Sprintf("redirect to %s://%s, not followed; set base_url to the address that answers", to.Scheme, to.Host)
	}
	return fmt.Errorf("HTTP %03d: %s", resp.StatusCode, text)
}
