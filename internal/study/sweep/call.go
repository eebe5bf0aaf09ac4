package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// post sends a request that has an empty answer.
func (w *Workers) post(ctx context.Context, x *worker, path string, body io.Reader) error {
	resp, err := w.call(ctx, http.MethodPost, x.url+path, body)
	if err != nil {
		return err
	}
	return resp.Body.Close() // it is empty
}

// call sends a request. An answer other than 2xx is an error.
func (w *Workers) call(ctx context.Context, method, address string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+w.token)
	req.Header.Set(sweepHeader, w.sweep)
	if w.begins.Load() {
		req.Header.Set(beginsHeader, "true")
	}
	if body != nil {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := w.client.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // without the address, which the name of the worker says
		}
		return nil, err
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // the status says enough
	why := cmp.Or(strings.TrimSpace(string(text)), resp.Status)
	if resp.StatusCode == http.StatusLocked {
		return nil, fmt.Errorf("%w %s", ErrBusy, why)
	}
	if resp.StatusCode/100 == 4 {
		return nil, refusedError(why)
	}
	return nil, errors.New(why)
}

// refusedError says why a worker refuses an order. A retry does not help.
type refusedError string

func (e refusedError) Error() string { return string(e) }
