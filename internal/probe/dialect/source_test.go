package dialect

import (
	"io"
	"time"

	"synthetic/internal/probe/wire"
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

func (r *reads) Arrival() wire.Arrival {
	at := r.epoch.Add(time.Duration(r.n) * time.Millisecond)
	return wire.Arrival{At: at, Seen: at}
}

// typical is the chunk that vLLM sends for a token.
const typical = `data: {"id":"chatcmpl-7c1f2a9be0d34f5c8a6b1d2e3f405162","object":"chat.completion.chunk","created":1763600000,"model":"meta-llama/Llama-3.1-8B-Instruct","choices":[{"index":0,"delta":{"content":" latency"},"logprobs":null,"finish_reason":null,"token_ids":null}]}` + "\n\n"

// endless repeats a text. A read returns it whole if it fits.
type endless struct {
	text string
	at   int // where the next read begins
	reads
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}
