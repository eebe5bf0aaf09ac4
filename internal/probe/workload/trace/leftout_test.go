package trace

import (
	"bytes"
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
			s, err := Survey(written(t, text.String()), Options{Skip: true})
			if err != nil || s.Records != good || s.LeftOut.Count != bad || s.LeftOut.Of != 101 {
				t.Fatalf("%s: %+v, %v; %d can be used, %d not", name, s, err, good, bad)
			}
			if known := s.Output == float64(7*good) && s.Prompt == float64(11*good); !known && s.UnknownOutputs != good {
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
		s, err := Survey(written(t, strings.Repeat(good, c.good)+strings.Repeat(bad, c.bad)), Options{Skip: c.skip})
		if c.want == "" && (err != nil || s.LeftOut.Count != c.bad) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d of %d, skip %v: %+v, %v; want %q", c.bad, c.good, c.skip, s.LeftOut, err, c.want)
		}
	}
}

// TestOtherFiles names files that are no trace.
func TestOtherFiles(t *testing.T) {
	const record = `{"messages":[{"role":"user","content":"Why?"}]}`
	wide := func(text string) string {
		var b bytes.Buffer
		for _, c := range text {
			b.Write([]byte{byte(c), 0})
		}
		return b.String()
	}
	for text, want := range map[string]string{
		"PAR1\x15\x04":       "a Parquet file; convert it",
		"ARROW1\x00\x00":     "an Arrow file",
		"PK\x03\x04\x14\x00": "a zip archive; unpack it",
		"7z\xbc\xaf\x27\x1c": "a 7z archive",
		"BZh91AY&SY":         "compressed by bzip2",
		"\xfd7zXZ\x00":       "compressed by xz",
		"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n": "a pointer of Git LFS; run git lfs pull",
		"\n<!DOCTYPE html><html><body>Sign in</body></html>":                  "an HTML page; download the file itself",
		"<html>\n":                "an HTML page",
		"\xff\xfe" + wide(record): "not in UTF-8",
		"\xfe\xff\x00{":           "not in UTF-8",
		wide(record):              "not in UTF-8",
	} {
		if _, err := Survey(written(t, text), Options{}); err == nil || !strings.Contains(err.Error(), "line 1: the file is "+want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
}

// TestUnitOfTheColumn checks that the name of another column says nothing about the unit.
func TestUnitOfTheColumn(t *testing.T) {
	for head, refused := range map[string]bool{
		"timestamp,timestamp_source,input_tokens,output_tokens": true, "timestamp,timestamp_ms_source,input_tokens,output_tokens": true,
		"Timestamp_s ,source,input_tokens,output_tokens": false,
	} {
		text := head + "\n"
		for i := range 20 {
			text += fmt.Sprintf("%d,x,5,3\n", 5*i)
		}
		if _, err := Survey(written(t, text), Options{}); refused != (err != nil && strings.Contains(err.Error(), "rename timestamp")) {
			t.Errorf("%s: %v", head, err)
		}
	}
}

// TestUnitsOfTime checks that times whose unit is in doubt are refused, unless their name says the unit.
func TestUnitsOfTime(t *testing.T) {
	for _, c := range []struct {
		gap     string
		json    bool // in a file of JSON; else CSV
		refused bool
	}{
		{"299", true, false},     // Mooncake: 3 a second; as seconds, one in five minutes
		{"0.17", true, true},     // as seconds 6 a second; as milliseconds 6,000
		{"5", true, true},        // 200 a second, or one in 5 s
		{"5.5", true, true},      // the same
		{"90000", true, false},   // one in 90 s
		{"0.5", false, false},    // 2 a second; as milliseconds 2,000
		{"5", false, true},       // one in 5 s, or 200 a second
		{"299", false, true},     // one in five minutes; as milliseconds 3 a second
		{"0.0001", false, false}, // neither
	} {
		for _, name := range []string{"timestamp", "timestamp_s", "timestamp_ms"} {
			var text strings.Builder
			if !c.json {
				text.WriteString(name + ",input_tokens,output_tokens\n")
			}
			var gap float64
			_, _ = fmt.Sscan(c.gap, &gap)
			for i := range 20 {
				if c.json {
					fmt.Fprintf(&text, `{"%s":%g,"input_length":5,"output_length":3}`+"\n", name, gap*float64(i))
				} else {
					fmt.Fprintf(&text, "%g,5,3\n", gap*float64(i))
				}
			}
			_, err := Survey(written(t, text.String()), Options{})
			if refused := err != nil && strings.Contains(err.Error(), "rename timestamp to timestamp_s or timestamp_ms"); refused != (c.refused && name == "timestamp") || err != nil && !refused {
				t.Errorf("%s with a gap of %s, JSON %v: %v", name, c.gap, c.json, err)
			}
		}
	}
}
