package trace

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

// endless generates a trace of a given size while it is read.
type endless struct {
	form string
	left int
	n    int
	text []byte
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.text) == 0 {
		if e.left <= 0 {
			return 0, io.EOF
		}
		e.text = []byte(e.line())
		e.left -= len(e.text)
	}
	n := copy(p, e.text)
	e.text = e.text[n:]
	return n, nil
}

func (e *endless) line() string {
	e.n++
	switch {
	case e.form == "csv" && e.n == 1:
		return "Timestamp,Session ID,Request tokens,Response tokens\n"
	case e.form == "csv":
		return fmt.Sprintf("%d,s-%d,%d,20\n", e.n, e.n, e.n%9000)
	case e.form == "array" && e.n == 1:
		return "["
	case e.form == "array" && e.left < 1000:
		e.left = 0
		return `{"messages":[{"role":"user","content":"last"}]}]`
	case e.form == "array":
		return `{"messages":[{"role":"user","content":"` + strings.Repeat("word ", 200) + `"}]},` + "\n"
	}
	return fmt.Sprintf(`{"timestamp":%d,"input_length":30720,"output_length":20,"hash_ids":[%s%d]}`+"\n", e.n, strings.Repeat("100000,", 59), e.n)
}

// sampleEvery is how many bytes of a trace are read between two samples of the memory.
const sampleEvery = 1 << 20

// readThrough reads a trace of a given size. It returns the number of records and the peak
// memory in bytes.
func readThrough(tb testing.TB, form string, size int) (records int, peak uint64) {
	from := &endless{form: form, left: size}
	sampled := size
	r, err := newReader(form, from, Options{})
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	var m runtime.MemStats
	for {
		_, err := r.Next()
		if err == io.EOF {
			return records, peak
		}
		if err != nil {
			tb.Fatal(err)
		}
		if records++; from.left <= sampled-sampleEvery {
			sampled = from.left
			runtime.GC()
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
	}
}

// TestConstantMemory checks that the memory does not depend on the length of the trace.
func TestConstantMemory(t *testing.T) {
	const bound = 48 << 20
	for _, form := range []string{"csv", "mooncake", "array"} {
		if n, peak := readThrough(t, form, 8<<20); peak > bound || peak == 0 {
			t.Errorf("%s: %d records took %d MiB", form, n, peak>>20)
		}
	}
}

// FuzzReader checks that any input gives records with content, or an error that names the trace.
func FuzzReader(f *testing.F) {
	for name := range samples() {
		f.Add(sample(f, name))
	}
	f.Add([]byte("[{}]"))
	f.Add([]byte(`{"timestamp":1e300,"input_length":1}`))
	f.Add([]byte("\xef\xbb\xbf timestamp,input_tokens,output_tokens\n1e9,2,3\n\"NaN\",1,1"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := all(bytes.NewReader(text), Options{})
		if err != nil && !strings.HasPrefix(err.Error(), "trace") {
			t.Errorf("the error %q", err)
		}
		for i, r := range got {
			if len(r.Turns) == 0 {
				t.Errorf("record %d of %d: %+v", i, len(got), r)
			}
			for _, turn := range r.Turns {
				if turn.Prompt == 0 && len(turn.Messages) == 0 || turn.Prompt < 0 || turn.Prompt > maxTokens || turn.Output < 0 || turn.Output > maxTokens {
					t.Errorf("record %d: %+v", i, turn)
				}
			}
		}
	})
}
