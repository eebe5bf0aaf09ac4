package simulate

import (
	"math/rand/v2"
	"net/http"
	"time"
)

// share is the share of the requests that a kind of fault befalls.
type share struct {
	kind IncidentKind
	of   *float64
}

// shares are the faults in the order in which they are drawn.
func (f *Faults) shares() []share {
	return []share{
		{ErrorStatus, &f.HTTP500}, {BusyStatus, &f.HTTP429}, {NoAnswer, &f.Hang},
		{CutStream, &f.Cut}, {StallStream, &f.Stall}, {ErrorEvent, &f.InBandError},
	}
}

// draw returns the fault of one request, "" for none.
func (f Faults) draw(r *rand.Rand) IncidentKind {
	u := r.Float64()
	for _, s := range f.shares() {
		if u < *s.of {
			return s.kind
		}
		u -= *s.of
	}
	return ""
}

// faults adds the shares of the incidents that go on to the standing ones.
// More than all requests cannot fail: the first kinds come first.
func (o Options) faults(elapsed time.Duration) Faults {
	f := o.Faults
	for _, i := range o.Incidents {
		goesOn := elapsed >= i.At && (i.For == 0 || elapsed < i.At+i.For)
		for _, s := range f.shares() {
			if s.kind == i.Kind && goesOn {
				*s.of += i.Share
			}
		}
	}
	return f
}

// engineFailed is the error of a request that the engine gave up.
func engineFailed() *apiError {
	return failure(http.StatusInternalServerError, "InternalServerError", "The engine failed while it served this request (simulated fault).")
}

// queueFull is the error of a request that was refused for load.
func queueFull() *apiError {
	e := failure(http.StatusTooManyRequests, "rate_limit_error", "The queue is full; try again later (simulated fault).")
	e.Code = "rate_limit_exceeded"
	return e
}
