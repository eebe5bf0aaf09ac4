package stream

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// decoders returns the decoder of every API, by the name of its transcript.
func decoders() map[string]func() Decoder {
	return map[string]func() Decoder{
		"chat": NewChat, "azure": NewChat, "completions": NewChat, "responses": NewResponses, "messages": NewMessages,
	}
}

// FuzzDecoders checks for every API that the events of a stream do not depend on how reads cut its
// bytes, that memory is bounded, and that only valid JSON has tokens.
func FuzzDecoders(f *testing.F) {
	for name := range decoders() {
		text, err := os.ReadFile(filepath.Join("..", "testdata", "apis", name+".txt"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, []byte{0})
		f.Add(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")), []byte{6, 0, 1, 200})
	}
	f.Add([]byte(`data: {"type":"content_block_start","content_block":{"id":"\u0041","name":"f"},"delta":{"partial_json":"{"}}`), []byte{3})
	f.Fuzz(func(t *testing.T, data, sizes []byte) {
		for name, decoder := range decoders() {
			whole, wholeErr := fuzzRead(t, decoder(), 1<<20, data, nil)
			cut, cutErr := fuzzRead(t, decoder(), 1<<20, data, sizes)
			if diff := cmp.Diff(whole, cut); diff != "" || (wholeErr == nil) != (cutErr == nil) {
				t.Errorf("%s, cut by %v (-whole, %v, +cut, %v):\n%s", name, sizes, wholeErr, cutErr, diff)
			}
		}
	})
}

func TestDecodersDoNotAllocate(t *testing.T) {
	for name, data := range map[string]string{
		"responses": `{"type":"response.output_text.delta","sequence_number":7,"item_id":"m","output_index":1,"content_index":0,"delta":"It"}`,
		"messages":  `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"It"}}`,
	} {
		d := decoders()[name]()
		var ev Event
		if n := testing.AllocsPerRun(100, func() {
			ev = Event{}
			if !d.Decode(&ev, []byte(data), false) || ev.Kind != Token || string(ev.Content) != "It" {
				t.Fatalf("%s: got %+v", name, ev)
			}
		}); n > 1 { // one for the copy of data
			t.Errorf("%s: %v allocations per event", name, n)
		}
	}
}
