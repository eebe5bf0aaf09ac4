package stream

import (
	"strings"
	"testing"
)

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

func BenchmarkReader(b *testing.B) {
	for name, text := range map[string]string{
		"one event a read": typical,
		"ten a read":       strings.Repeat(typical, 10),
		"nothing repeats":  typical + strings.Replace(typical, "1763600000", "1763600001", 1),
	} {
		b.Run(name, func(b *testing.B) {
			r := NewReader(&endless{text: text}, NewChat(), 1<<20)
			b.ReportAllocs()
			for b.Loop() {
				if ev, err := r.Next(); err != nil || ev.Kind != Token {
					b.Fatal(ev, err)
				}
			}
		})
	}
}
