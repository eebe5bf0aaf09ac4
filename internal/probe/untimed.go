package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"synthetic/internal/atomicfile"
	"synthetic/internal/probe/dialect"
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

// get requests a path of the target and decodes the answer, of at most maxBytes, into answer. The error contains
// no secrets.
func (c *untimedClient) get(ctx context.Context, path string, answer any, maxBytes int64) error {
	header, err := c.auth.Header(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errOwnFault, err)
	}
	header.Set("Accept", "application/json")
	trace := wire.Trace{MaxBytes: maxBytes}
	req, err := http.NewRequestWithContext(wire.WithTrace(ctx, &trace), http.MethodGet, c.target.BaseURL+path, nil)
	if err != nil {
		return err
	}
	req.Header = header
	resp, err := c.wire.RoundTrip(req)
	if trace.Sent() {
		c.sent()
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
