package dialect

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestFinishReasons(t *testing.T) {
	for name, want := range finishReasons {
		for _, spelled := range []string{name, strings.ToUpper(name), strings.ReplaceAll(name, "_", "-")} {
			if got := FinishReason(spelled); got != want {
				t.Errorf("FinishReason(%q) = %q, want %q", spelled, got, want)
			}
		}
	}
	for name, want := range map[string]string{
		"tired": "tired", "terror": "terror",
		"ERROR_LIMIT": Aborted, "error_of_tomorrow": Aborted, "MALFORMED_RESPONSE": Aborted, "malformed-anything": Aborted,
		"MISSING_THOUGHT_SIGNATURE": Aborted, "IMAGE_PROHIBITED_CONTENT": Filtered, "ERROR_TOXIC": Filtered,
	} {
		if got := FinishReason(name); got != want {
			t.Errorf("%q became %q, want %q", name, got, want)
		}
	}
}

// TestUsageShapes reads the transcripts of testdata/usage, one for each shape of a usage. Their first comment names
// who sends it, the second the API and the counts; one that is missing there is unknown.
func TestUsageShapes(t *testing.T) {
	files, err := filepath.Glob("testdata/usage/*.sse")
	if err != nil || len(files) < 18 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(strings.Split(string(text), "\n")[1])[1:]
		var got, want Usage
		for _, w := range words[1:] {
			name, digits, _ := strings.Cut(w, "=")
			n, err := strconv.Atoi(digits)
			if err != nil {
				t.Fatal(err)
			}
			switch name {
			case "prompt":
				want.PromptTokens = n
			case "output":
				want.OutputTokens = n
			case "cached":
				want.CachedTokens, want.CachedKnown = n, true
			case "reasoning":
				want.ReasoningTokens, want.ReasoningKnown = n, true
			}
		}
		decoder := map[string]func() Decoder{"chat": newChat, "responses": newResponses, "messages": newMessages}[words[0]]
		r := NewReader(newReads(string(text)), decoder(), 1<<20)
		ends := 0
		for {
			ev, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil || ev.Kind == Error || ev.Kind == Malformed {
				t.Fatalf("%s: %v, %s", file, err, ev.Message)
			}
			if ev.HasUsage {
				got.Add(ev.Usage)
			}
			if ev.Kind == Done {
				ends++
			}
		}
		if got != want || ends != 1 {
			t.Errorf("%s: %+v, want %+v; %d ends", file, got, want, ends)
		}
	}
}

func TestResponsesThatFail(t *testing.T) {
	for data, want := range map[string]string{
		`{"type":"response.completed","response":{"status":"failed","error":null}}`:                       `{"type":"response.completed","response":{"status":"failed","error":null}}`,
		`{"type":"response.failed","response":{"status":"failed","error":{"message":"boom"}}}`:            "boom",
		`{"type":"response.incomplete","response":{"status":"incomplete","error":{"message":"no room"}}}`: "no room",
	} {
		var ev Event
		if classify(&ev, []byte(data), false, newResponses()); ev.Kind != Error || ev.Message != want {
			t.Errorf("%s: kind %v, %q", data, ev.Kind, ev.Message)
		}
	}
	for status, kind := range map[string]string{"cancelled": "completed", "incomplete": "incomplete"} {
		for _, call := range []string{"", `{"type":"response.function_call_arguments.delta","delta":"{"}`} {
			var ev Event
			d := newResponses()
			classify(&ev, []byte(call), false, d)
			classify(&ev, []byte(`{"type":"response.`+kind+`","response":{"status":"`+status+`"}}`), false, d)
			if ev.FinishReason != Aborted {
				t.Errorf("a response that is %s, after the call %q, ends with %q", status, call, ev.FinishReason)
			}
		}
	}
}
