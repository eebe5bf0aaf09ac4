package dialect

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// split is a Source that cuts data into reads of the given sizes, in rotation. Without sizes, each read
// fills its buffer.
type split struct {
	reads
	data  []byte
	sizes []byte
}

func (s *split) Read(p []byte) (int, error) {
	if len(s.data) == 0 {
		return 0, io.EOF
	}
	size := len(p)
	if len(s.sizes) > 0 {
		size = min(size, int(s.sizes[s.n%len(s.sizes)])+1)
	}
	n := copy(p[:size], s.data)
	s.data = s.data[n:]
	s.n++
	return n, nil
}

// decoders returns the decoder of every API, by the name of its transcript.
func decoders() map[string]func() Decoder {
	return map[string]func() Decoder{
		"chat": newChat, "azure": newChat, "completions": newChat, "responses": newResponses, "messages": newMessages,
	}
}

// FuzzReader checks for every API that the events of a stream do not depend on how reads cut its bytes, and that
// memory is bounded.
func FuzzReader(f *testing.F) {
	seeds := []string{
		typical + typical + "data: [DONE]\n\n",
		crlf(typical) + "event: error\r\ndata: boom\r\n\r\n",
		"\xEF\xBB\xBFdata:" + say("a") + "\r\r: ping\rdata: x\rdata: y\r\r",
		"{\n\"error\": \"x\"\n\n}",
		"data\n\nerror: x\n\nid: 1\nevent: e\n\ndata: [DONE]",
		`data: {"type":"content_block_start","content_block":{"id":"\u0041","name":"f"},"delta":{"partial_json":"{"}}`,
	}
	for name := range decoders() {
		text, err := os.ReadFile(filepath.Join("..", "testdata", "apis", name+".txt"))
		if err != nil {
			f.Fatal(err)
		}
		seeds = append(seeds, string(text), crlf(string(text)))
	}
	for _, s := range seeds {
		f.Add([]byte(s), []byte{0}, uint16(0))
		f.Add([]byte(s), []byte{6, 0, 1, 200}, uint16(40))
	}
	f.Fuzz(func(t *testing.T, data, sizes []byte, limit uint16) {
		most := int(limit)
		if most == 0 {
			most = 1 << 20
		}
		for name, decoder := range decoders() {
			whole, wholeErr := fuzzRead(t, decoder(), most, data, nil)
			cut, cutErr := fuzzRead(t, decoder(), most, data, sizes)
			if diff := cmp.Diff(whole, cut); diff != "" || (wholeErr == nil) != (cutErr == nil) {
				t.Errorf("%s, cut by %v (-whole, %v, +cut, %v):\n%s", name, sizes, wholeErr, cutErr, diff)
			}
		}
	})
}

func fuzzRead(t *testing.T, decoder Decoder, limit int, data, sizes []byte) ([]seen, error) {
	src := &split{reads: *newReads(), data: bytes.Clone(data), sizes: sizes}
	r := NewReader(src, decoder, limit)
	events, err := all(r, &src.reads)
	var large *TooLargeError
	if err != nil && !errors.As(err, &large) {
		t.Fatal(err)
	}
	if n := cap(r.lines.buf) + cap(r.payload.joined); n > smallBuffer+keptBuffer+4*limit {
		t.Errorf("the reader holds %d bytes with a limit of %d", n, limit)
	}
	last := 0
	for i := range events {
		if events[i].At < last {
			t.Errorf("event %d arrived in read %d, before read %d", i, events[i].At, last)
		}
		last = events[i].At
		events[i].At, events[i].Coalesced = 0, false
		if len(events[i].Message) > maxMessage+64 {
			t.Errorf("event %d has a message of %d bytes", i, len(events[i].Message))
		}
	}
	return events, err
}
