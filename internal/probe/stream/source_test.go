package stream

import (
	"io"
	"time"
)

// reads is a Source that returns one text per Read, and then err. Read n returns at n milliseconds.
type reads struct {
	texts []string
	err   error
	n     int
	epoch time.Time
}

func newReads(texts ...string) *reads {
	return &reads{texts: texts, err: io.EOF, epoch: time.Unix(1000, 0)}
}

func (r *reads) Read(p []byte) (int, error) {
	for len(r.texts) > 0 && r.texts[0] == "" {
		r.texts = r.texts[1:]
	}
	if len(r.texts) == 0 {
		return 0, r.err
	}
	n := copy(p, r.texts[0])
	r.texts[0] = r.texts[0][n:]
	r.n++
	return n, nil
}

func (r *reads) Arrival() Arrival {
	at := r.epoch.Add(time.Duration(r.n) * time.Millisecond)
	return Arrival{At: at, Seen: at}
}
