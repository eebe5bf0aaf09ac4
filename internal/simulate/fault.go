package simulate

import "math/rand/v2"

// fault is one way in which a request ends badly.
type fault uint8

const (
	healthy fault = iota
	http500
	http429
	hang
	cut
	stall
	inBandError
)

// draw returns the fault of one request.
func (f Faults) draw(r *rand.Rand) fault {
	u := r.Float64()
	for i, rate := range []float64{f.HTTP500, f.HTTP429, f.Hang, f.Cut, f.Stall, f.InBandError} {
		if u < rate {
			return http500 + fault(i)
		}
		u -= rate
	}
	return healthy
}

// engineFailed is the error of a request that the engine gave up.
func engineFailed() *apiError {
	return &apiError{status: 500, kind: "InternalServerError", code: 500,
		message: "The engine failed while it served this request (simulated fault)."}
}

// queueFull is the error of a request that was refused for load.
func queueFull() *apiError {
	return &apiError{status: 429, kind: "rate_limit_error", code: "rate_limit_exceeded",
		message: "The queue is full; try again later (simulated fault)."}
}
