package serverside

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"synthetic/internal/probe/target"
)

// counters is the content of the page that the tests look for.
const counters = "vllm:spec_decode_num_draft_tokens_total 10\nvllm:spec_decode_num_accepted_tokens_total 6\n"

// repeated is a reader of a text that is repeated.
type repeated struct {
	text  string
	times int
	rest  string
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.rest == "" {
		if r.times == 0 {
			return 0, io.EOF
		}
		r.rest, r.times = r.text, r.times-1
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func zipped(t testing.TB, page io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.Copy(w, page); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// hostile returns pages that would cost much without limits. says is the expected error; "" if the
// counters at the end must be found.
func hostile() map[string]struct {
	page func() io.Reader
	says string
} {
	many := func(text string, size int) func() io.Reader {
		return func() io.Reader {
			return io.MultiReader(&repeated{text: text, times: size / len(text)}, strings.NewReader("\n"+counters))
		}
	}
	type page = struct {
		page func() io.Reader
		says string
	}
	return map[string]page{
		"other families":            {many("other_metric{a=\"b\",c=\"d\"} 1\n", 12<<20), "larger than 4 MiB"},
		"one line":                  {many(strings.Repeat("x", 4096), 12<<20), "longer than 64 KiB"},
		"comments":                  {many("# HELP vllm:generation_tokens_total so many\n", 12<<20), "larger than 4 MiB"},
		"labels of a known family":  {many("vllm:generation_tokens_total{"+strings.Repeat("a=\"\",", 5000)+"} 1\n", 3<<20), "more than 100 labels"},
		"series of a known family":  {many("vllm:generation_tokens_total 1\n", 3<<20), "more than 1 MiB"},
		withinLimits:                {many("vllm:generation_tokens_total{a=\"b\"} 1\n", maxKept-4<<10), ""},
		"another format":            {many("vllm:generation_tokens_total lots\n", 1<<10), "a known family is not in the Prometheus text format"},
		"two TYPE lines":            {many("# TYPE vllm:generation_tokens_total counter\nvllm:generation_tokens_total 1\n", 1<<10), "has two TYPE lines"},
		"other families, not large": {many("other_metric{a=\"b\",c=\"d\"} 1\n", 3<<20), ""},
	}
}

// withinLimits is the page that is parsed whole, and so costs the most memory.
const withinLimits = "series of a known family, not large"

// TestHostilePages checks how much memory a page costs, and that a page above the limits is an error. Compression must
// not change that.
func TestHostilePages(t *testing.T) {
	for name, tc := range hostile() {
		for _, encoding := range []string{"", "gzip"} {
			t.Run(name+encoding, func(t *testing.T) {
				var whole []byte
				if encoding != "" {
					whole = zipped(t, tc.page())
				}
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if encoding == "" {
						_, _ = io.Copy(w, tc.page())
						return
					}
					w.Header().Set("Content-Encoding", encoding)
					_, _ = w.Write(whole)
				}))
				defer server.Close()
				c, err := NewClient(target.Target{BaseURL: server.URL + "/v1"}, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				s, err := c.Scrape(t.Context(), server.URL+"/metrics")
				runtime.ReadMemStats(&after)
				most := map[bool]uint64{true: 40 << 20, false: 8 << 20}[name == withinLimits]
				if cost := after.TotalAlloc - before.TotalAlloc; cost > most {
					t.Errorf("%d MiB were allocated", cost>>20)
				}
				if tc.says == "" {
					if d := s.number(drafted); err != nil || d.V != 10 {
						t.Errorf("read %+v, %v", s, err)
					}
				} else if err == nil || !strings.Contains(err.Error(), tc.says) {
					t.Errorf("error %v, want %q", err, tc.says)
				}
			})
		}
	}
}

// TestScrapeEndsBetweenLines checks that reading a page without end stops when its context is done.
func TestScrapeEndsBetweenLines(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	page := &repeated{text: "other 1\n", times: 1 << 40}
	_, err := readPage(ctx, readerFunc(func(p []byte) (int, error) {
		cancel()
		return page.Read(p)
	}))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestKeptLinesAreAsTheParserReads checks that skipped lines do not change the parsed families.
func TestKeptLinesAreAsTheParserReads(t *testing.T) {
	text := "# HELP other what it is\n# TYPE other counter\nother{a=\"}\"} 1\n" +
		"  vllm:generation_tokens_total{engine=\"0\"} 5 1700000000\n\n# a comment\n{\"quoted.name\"} 3\n" +
		"#  TYPE of nothing\n# TYPE vllm:time_to_first_token_seconds histogram\n" +
		"vllm:time_to_first_token_seconds_bucket{le=\"+Inf\"} 7\nvllm:time_to_first_token_seconds_sum 3.5\nvllm:time_to_first_token_seconds_count 7\n" +
		"vllm:generation_tokens_total{engine=\"1\"} 6"
	s := page(t, 0, text)
	if v := s.values[outputTokens]; v != 11 {
		t.Errorf("%v output tokens, want 11", v)
	}
	if got := fmt.Sprint(s.buckets[ttft]); got != "[{+Inf 7}]" {
		t.Errorf("buckets %s", got)
	}
	if got := fmt.Sprint(s.Families); got != "[vllm:generation_tokens_total vllm:time_to_first_token_seconds]" {
		t.Errorf("families %s", got)
	}
}
