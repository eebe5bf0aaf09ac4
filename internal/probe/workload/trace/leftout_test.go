package trace

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLeftOutRecords mixes records of each format with others that cannot be used, in random positions. Only these are
// missing, and no record changes its meaning: none has 0 tokens, or the length of another one.
func TestLeftOutRecords(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, format := range map[string]struct {
		head, good string
		bad        []string
	}{
		"CSV": {"timestamp_s,input_tokens,output_tokens\n", "%d,11,7\n", []string{"%d,11,0\n", "%d,0,7\n", "%d,11,\n", "%d,0,0\n", "%d,,5\n"}},
		"Mooncake": {"", `{"timestamp_ms":%d,"input_length":11,"output_length":7}` + "\n", []string{
			`{"timestamp_ms":%d,"input_length":11,"output_length":0}` + "\n", `{"timestamp_ms":%d,"input_length":0,"output_length":7}` + "\n",
			`{"timestamp_ms":%d,"messages":[],"output_length":7}` + "\n",
		}},
		"ShareGPT": {"", `{"id":%d,"conversations":[{"from":"human","value":"Why?"},{"from":"gpt","value":"So."}]}` + "\n", []string{
			`{"id":%d,"conversations":[]}` + "\n", `{"id":%d,"conversations":[{"from":"gpt","value":"the rest"}]}` + "\n",
			`{"id":%d,"conversations":[{"from":"human","value":""}]}` + "\n", `{"id":%d,"conversations":[{"from":"cat","value":"Miau."}]}` + "\n",
		}},
		"OpenAI": {"", `{"id":%d,"messages":[{"role":"user","content":"Why?"}]}` + "\n", []string{
			`{"id":%d,"messages":[]}` + "\n", `{"id":%d,"messages":[{"role":"assistant","content":"So."}]}` + "\n",
			`{"id":%d,"messages":[{"role":"user","content":[{"type":"image_url"}]}]}` + "\n",
		}},
	} {
		for range 20 {
			var text strings.Builder
			text.WriteString(format.head)
			good, bad := 1, 0
			fmt.Fprintf(&text, format.good, 0)
			for i := range 100 {
				line := format.good
				if random.IntN(40) == 0 {
					line = format.bad[random.IntN(len(format.bad))]
					bad++
				} else {
					good++
				}
				fmt.Fprintf(&text, line, 1000*(i+1))
			}
			s, err := Survey(written(t, text.String()), Options{Skip: true}, 3)
			if err != nil || s.Records != good || s.LeftOut.Count != bad || s.LeftOut.Of != 101 {
				t.Fatalf("%s: %+v, %v; %d can be used, %d not", name, s, err, good, bad)
			}
			if known := s.Output == float64(7*good) && s.Prompt == float64(11*good); !known && s.Output != float64(3*good) {
				t.Fatalf("%s: %+v of %d records", name, s, good)
			}
		}
	}
}

// TestManyLeftOut checks from which share a trace is refused, and the line that reports the others.
func TestManyLeftOut(t *testing.T) {
	const good, bad = `{"messages":[{"role":"user","content":"Why?"}]}` + "\n", `{"messages":[]}` + "\n"
	for _, c := range []struct {
		good, bad int
		skip      bool
		want      string // of the error
	}{
		{2, 10, false, ""}, {2, 11, false, "11 of 13 records cannot be used and are left out, the first in line 3: the conversation has no user message"},
		{2, 11, true, ""}, {209, 11, false, ""}, {208, 11, false, "skip: true"}, {0, 1, true, "no record can be used"},
	} {
		s, err := Survey(written(t, strings.Repeat(good, c.good)+strings.Repeat(bad, c.bad)), Options{Skip: c.skip}, 0)
		if c.want == "" && (err != nil || s.LeftOut.Count != c.bad) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d of %d, skip %v: %+v, %v; want %q", c.bad, c.good, c.skip, s.LeftOut, err, c.want)
		}
	}
}
