package probe

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"synthetic/internal/atomicfile"
	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
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

// untimedClient sends requests that are not measured: for lists of models. It is safe for concurrent use.
type untimedClient struct {
	target target.Target
	auth   *target.Authorizer
	wire   *wire.Client
	// sent counts each request.
	sent func()
}

func newUntimedClient(t target.Target, workload string, o Options, p Purpose) *untimedClient {
	return &untimedClient{target: t, auth: target.NewAuthorizer(t, workload), wire: newClient(&t, &o), sent: o.counter(p)}
}

// counter returns a function that counts a request.
func (o *Options) counter(p Purpose) func() {
	return func() {
		if o.Sent != nil {
			o.Sent(p)
		}
	}
}

func (c *untimedClient) close() {
	c.auth.Close()
	c.wire.CloseIdleConnections()
}

// do requests a path of the target and decodes the answer, of at most maxBytes, into answer. A
// nil body means a GET request. The error contains no secrets.
func (c *untimedClient) do(ctx context.Context, path string, body, answer any, maxBytes int64) (int, error) {
	header, err := c.auth.Header(ctx)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errOwnFault, err)
	}
	method, content := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		if content, err = json.Marshal(body); err != nil {
			return 0, fmt.Errorf("encoding the extra body fields: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.target.BaseURL+path, bytes.NewReader(content))
	if err != nil {
		return 0, err
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := fetchJSON(c.wire, req, answer, maxBytes, c.sent)
	status := 0
	if resp != nil {
		status = resp.StatusCode
	}
	switch {
	case err == nil:
		return status, nil
	case wire.IsLocal(err):
		return status, fmt.Errorf("%w: %s", errOwnFault, errorText(err.Error()))
	}
	return status, errors.New(errorText(err.Error()))
}

// fetchJSON sends a request and decodes the answer, of at most maxBytes. It calls sent if a part of
// the request was sent. The response, whose body is closed, is nil if there was none.
func fetchJSON(client *wire.Client, req *http.Request, answer any, maxBytes int64, sent func()) (resp *http.Response, err error) {
	trace := wire.Trace{MaxBytes: maxBytes}
	resp, err = client.RoundTrip(req.WithContext(wire.WithTrace(req.Context(), &trace)))
	if trace.Sent() {
		sent()
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return resp, err
	case resp.StatusCode/100 != 2:
		return resp, statusError(resp, text)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return resp, fmt.Errorf("decoding the answer: %w", atomicfile.InJSONTerms("it", err))
	}
	return resp, nil
}

// statusError describes a response that is not 2xx. It names only the host of a redirect, because the
// rest of the address can contain secrets.
func statusError(resp *http.Response, body []byte) error {
	text := cmp.Or(stream.ErrorMessage(body), "without an error message")
	switch to, err := resp.Location(); {
	case resp.StatusCode < 200:
		text = "not a final status of HTTP"
	case resp.StatusCode/100 == 3 && err == nil:
		text = fmt.Sprintf("redirect to %s://%s, not followed; set base_url to the address that answers", to.Scheme, to.Host)
	}
	return fmt.Errorf("HTTP %03d: %s", resp.StatusCode, text)
}
