package simulate

import (
	"context"
	"net/http"

	"synthetic/internal/simulate/cluster"
)

// blockSize is the size of the blocks that prompts are hashed by, in tokens.
func blockSize(d *driver) int {
	if d == nil {
		return blockTokens
	}
	return d.config.Engine.BlockTokens
}

// share lets the cluster produce the answer, beside those of all others.
func (d *Deployment) share(ctx context.Context, t *turn, out responder) error {
	// The cluster caches the answer as it grows, so it has to know its blocks
	// before. What comes back as history has the same ones.
	t.prompt.text(t.text.peek(t.output))
	work := cluster.Request{Prompt: t.promptTokens, Output: t.output, Chain: t.prompt.blocks, Rank: t.prompt.hash}
	send := d.sender(ctx, t, out)
	return t.driver.serve(ctx, work, t.finish, func(e cluster.Event) error {
		if e.Kind != cluster.Tokens {
			return t.ended(e)
		}
		if t.sent == 0 {
			d.looked(t, e.Cached)
		}
		return send(e.Tokens)
	})
}

// ended says how a request's last event looks to its client.
func (t *turn) ended(e cluster.Event) error {
	switch e.Kind {
	case cluster.Done:
		return nil
	case cluster.Refused:
		return queueFull()
	case cluster.Unavailable:
		return failure(http.StatusServiceUnavailable, "service_unavailable", "There is no worker for this request; try again later.")
	case cluster.Expired:
		return failure(http.StatusGatewayTimeout, "timeout_error", "The request was not complete within %v.", t.driver.config.Frontend.Deadline)
	}
	if t.sent > 0 {
		return errCut // a lost worker says no more
	}
	return engineFailed()
}
