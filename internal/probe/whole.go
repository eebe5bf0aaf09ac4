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

	openai "github.com/sashabaranov/go-openai"

	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/wire"
)

// whole asks for the answer to the history without streaming, and counts what it
// cost.
func (d *dialogue) whole(ctx context.Context, c *Comparison) (said, error) {
	if total := d.p.opts.Workload.Timeouts.Total; total > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, total)
		defer cancel()
	}
	req, scrub, err := d.request(ctx, d.p.limitField(), d.trace(&Result{}))
	var answer openai.ChatCompletionResponse
	if err == nil {
		answer, err = d.fetch(ctx, req)
	}
	if err != nil {
		return said{}, errors.New(scrub.clean(err.Error()))
	}
	c.Tokens += tokens(answer.Usage.PromptTokens).V + tokens(answer.Usage.CompletionTokens).V
	return saidBy(answer.Choices[0]), nil
}

// fetch sends the request of a turn for an answer in one piece, which has a choice.
func (d *dialogue) fetch(ctx context.Context, req *http.Request) (answer openai.ChatCompletionResponse, err error) {
	if req, err = unstreamed(req); err != nil {
		return answer, err
	}
	most := amountsOf(d.spec().MaxOutputTokens, int(req.ContentLength)).event
	resp, err := d.client.RoundTrip(req.WithContext(wire.WithTrace(ctx, &wire.Trace{MaxBytes: int64(most)})))
	if err != nil {
		return answer, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return answer, err
	case resp.StatusCode != http.StatusOK:
		return answer, fmt.Errorf("HTTP %d: %s", resp.StatusCode, cmp.Or(stream.ErrorMessage(body), "no further word"))
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return answer, fmt.Errorf("the whole answer cannot be read: %w", err)
	}
	if len(answer.Choices) == 0 {
		return answer, errors.New("the whole answer has no choices")
	}
	return answer, nil
}

// unstreamed is the request for the same answer in one piece.
func unstreamed(req *http.Request) (*http.Request, error) {
	sent, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(sent, &fields); err != nil {
		return nil, err
	}
	fields["stream"] = json.RawMessage("false")
	delete(fields, "stream_options")
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	out, err := http.NewRequestWithContext(req.Context(), req.Method, req.URL.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out.Header = req.Header
	out.Header.Set("Accept", "application/json")
	return out, nil
}
