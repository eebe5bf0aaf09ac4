package wire

import (
	"fmt"
	"net/http"
	"strings"
)

// UnfitError says why an answer is not read on: it is longer than
// Trace.MaxBytes, or encoded in a way that nobody asked for.
type UnfitError struct{ Reason string }

func (e *UnfitError) Error() string { return e.Reason }

// receive counts bytes of the answer, whatever they are: interim responses,
// headers, framing, what is compressed, and what that becomes.
func (x *exchange) receive(n int) error {
	sum := x.received.Add(int64(n))
	if most := x.trace.MaxBytes; most > 0 && sum > most {
		return &UnfitError{fmt.Sprintf("the server sent more than %d bytes, framing and comments included", most)}
	}
	return nil
}

// encodingOf says how a body is compressed that this package can read. gzip
// needs not to be asked for: every client knows it.
func encodingOf(h http.Header) (gzip bool, err error) {
	switch coding := strings.ToLower(strings.Join(h.Values("Content-Encoding"), ", ")); coding {
	case "", "identity":
		return false, nil
	case "gzip", "x-gzip":
		return true, nil
	default:
		return false, &UnfitError{fmt.Sprintf("the answer has the Content-Encoding %.40q, which was not asked for", coding)}
	}
}
