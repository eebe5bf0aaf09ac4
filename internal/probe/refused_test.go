package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// TestRefusedField has the errors of servers and gateways, in the forms that their public reports show. The
// request has the fields of chat completions, and others that a target adds.
func TestRefusedField(t *testing.T) {
	sent := []string{"model", "messages", "stream", "stream_options", "max_tokens", "temperature", "user", "metadata", "cache_salt", "tools"}
	for text, want := range map[string]string{
		// OpenAI, Azure
		`{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`: "max_tokens",
		`{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}`: "temperature",
		`{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error","param":null,"code":null}}`:                                                                                "stream_options",
		`{"error":{"message":"Unknown parameter: 'cache_salt'.","type":"invalid_request_error","param":"cache_salt","code":"unknown_parameter"}}`:                                                                               "cache_salt",
		`{"error":{"message":"Unrecognized request argument supplied: user"}}`:                                                                                                                                                  "user",
		// pydantic: FastAPI, Mistral, vLLM; Anthropic; Fireworks
		`{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":{"include_usage":true}}]}`: "stream_options",
		`{"detail":[{"loc":["body","metadata"],"msg":"extra fields not permitted","type":"value_error.extra"}]}`:                                        "metadata",
		`{"type":"error","error":{"type":"invalid_request_error","message":"cache_salt: Extra inputs are not permitted"}}`:                              "cache_salt",
		`{"error":{"message":"Extra inputs are not permitted, field: 'stream_options', value: {'include_usage': True}"}}`:                               "stream_options",
		`{"object":"error","message":"[{'type': 'extra_forbidden', 'loc': ('body', 'user'), 'msg': 'Extra inputs are not permitted', 'input': 'x'}]"}`:  "user",
		// Go, serde, JSON schema validators
		`{"error":{"message":"json: unknown field \"stream_options\""}}`:                                                                      "stream_options",
		"Failed to deserialize the JSON body into the target type: unknown field `cache_salt`, expected one of `model`, `max_tokens`, `user`": "cache_salt",
		"Failed to deserialize the JSON body into the target type: unknown field `tools`, expected one of `model`, `max_tokens`, `user`":      "",
		`{"error":"\"metadata\" is not allowed"}`: "metadata",
		`{"message":"Malformed input request: #: extraneous key [stream_options] is not permitted, please reformat your input and try again."}`: "stream_options",
		`{"error":{"message":"Additional properties are not allowed ('stream_options' was unexpected)"}}`:                                       "stream_options",
		// Gemini, Groq, LiteLLM, xAI, llama.cpp
		`[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"cache_salt\": Cannot find field.","status":"INVALID_ARGUMENT"}}]`:                                          "cache_salt",
		`{"error":{"message":"'messages.0' : for 'role:user' the following must be satisfied[('messages.0' : property 'name' is unsupported)]"}}`:                                                  "",
		`{"error":{"message":"property 'stream_options' is unsupported"}}`:                                                                                                                         "stream_options",
		`{"error":{"message":"litellm.UnsupportedParamsError: bedrock does not support parameters: ['temperature'], for model=m. To drop these, set drop_params"}}`:                                "temperature",
		`{"error":"Argument not supported on this model: streamOptions"}`:                                                                                                                          "stream_options",
		`{"error":{"code":400,"message":"Unsupported param: user","type":"invalid_request_error"}}`:                                                                                                "user",
		`{"error":{"message":"stream_options.include_usage is not supported"}}`:                                                                                                                    "stream_options",
		`{"error":{"message":"include_usage is not supported by this endpoint"}}`:                                                                                                                  "stream_options",
		`400 {"detail":"Extra parameters ['stream_options'] are not allowed when extra-parameters is not set or set to be 'error'. Set extra-parameters to 'pass-through' to pass to the model."}`: "stream_options", // CherryHQ/cherry-studio#9214
		`{"error":{"message":"Unknwon parameter: 'stream_options'.","type":"invalid_request_error","param":"stream_options","code":"unknown_parameter"}}`:                                          "stream_options", // BoltAI/BoltAI#135
		// None of these refuses an optional field.
		`'max_tokens' or 'max_completion_tokens' is too large: 50. This model's maximum context length is 40 tokens.`:                 "",
		`{"error":{"message":"This model does not support more than 4096 tokens; max_tokens must be at most 4096"}}`:                  "",
		`{"error":{"message":"Unsupported parameter: 'tools' is not supported with this model.","param":"tools"}}`:                    "",
		`{"error":{"message":"unknown model: m","type":"invalid_request_error","param":"model"}}`:                                     "",
		`{"error":{"message":"this model does not support streaming"}}`:                                                               "",
		`{"detail":[{"type":"missing","loc":["body","id"],"msg":"Field required","input":{"model":"m","user":"u","temperature":0}}]}`: "",
		`{"error":{"message":"temperature: Input should be less than or equal to 1"}}`:                                                "",
		`{"error":{"message":"Invalid argument: temperature must be positive"}}`:                                                      "",
		`{"error":{"message":"Invalid parameter: max_tokens must be an integer multiple of 16"}}`:                                     "",
		`{"error":{"message":"Invalid argument: 'max_tokens', expected another number"}}`:                                             "",
		`{"error":{"message":"max_tokens 4096: this prompt does not allow so many output tokens"}}`:                                   "",
		`{"error":{"message":"Unexpected error while processing the user request"}}`:                                                  "",
		`{"error":{"message":"The model is unknown to user acme"}}`:                                                                   "",
		`{"error":{"message":"User acme is not allowed; the metadata are unknown"}}`:                                                  "",
		`{"error":{"message":"Invalid parameter: max_tokens","type":"invalid_request_error"}}`:                                        "max_tokens",
		`{"error":{"message":"Invalid field \"user\"."}}`:                                                                             "user",
		``: "",
	} {
		a := attempt{api: dialect.Of("chat"), sent: sent, turn: &Result{Server: Server{Status: 400}}}
		if got := a.refusedField([]byte(text)); got != want {
			t.Errorf("%q, want %q, in %s", got, want, text)
		}
	}
	for status, want := range map[int]string{200: "user", 400: "user", 401: "", 403: "", 404: "", 422: "user", 429: "", 500: "", 502: "", 503: ""} {
		a := attempt{api: dialect.Of("chat"), sent: sent, turn: &Result{Server: Server{Status: status}}}
		if got := a.refusedField([]byte(`{"error":"Unknown parameter: 'user'."}`)); got != want {
			t.Errorf("status %d: %q, want %q", status, got, want)
		}
	}
}

// picky is a server that refuses fields, one at a time, and answers without them.
type picky struct {
	mu      sync.Mutex
	refuses []string
	// says is the format of its refusal.
	says   string
	bodies []map[string]any
}

func (p *picky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body)
	p.bodies = append(p.bodies, body)
	for _, name := range p.refuses {
		if _, has := body[name]; has {
			http.Error(w, fmt.Sprintf(p.says, name), http.StatusBadRequest)
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprint(w, `data: {"choices":[{"delta":{"content":"Hello."},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// kept is a sink that keeps what it observes.
type kept struct {
	results []Result
	learned []FieldsLearned
}

func (k *kept) Observe(e Event) {
	switch e := e.(type) {
	case Result:
		k.results = append(k.results, e)
	case FieldsLearned:
		k.learned = append(k.learned, e)
	}
}

// TestAnyOptionalFieldIsLearned refuses each set of fields. The first turn is repeated once for each of them,
// and measured from the accepted request. No later request has them, also those of another prober of the target. A field without which the question would be another one is not left out.
func TestAnyOptionalFieldIsLearned(t *testing.T) {
	for _, refuses := range [][]string{
		{"stream_options"}, {"max_tokens"}, {"temperature"}, {"user"}, {"cache_salt"}, {"metadata"}, {"max_tokens", "max_completion_tokens"},
		{"temperature", "stream_options", "metadata"}, {"stream"}, {"messages"},
	} {
		for _, says := range []string{`{"error":{"message":"Unknown parameter: '%s'."}}`, `{"detail":[{"type":"extra_forbidden","loc":["body","%s"],"msg":"Extra inputs are not permitted"}]}`} {
			s := &picky{refuses: refuses, says: says}
			web := httptest.NewServer(s)
			zero := 0.0
			o := Options{
				Learned:  &Learned{},
				Target:   target.Target{Name: "t", BaseURL: web.URL + "/v1", Model: "m", CacheSalt: target.SaltJob, Extra: map[string]any{"user": "u", "metadata": map[string]any{"a": "b"}}},
				Workload: workload.Spec{Name: "w", MaxOutputTokens: 50, Answers: workload.Answers{Temperature: &zero}},
			}
			sink := &kept{}
			for range 2 {
				p, err := New(o)
				if err != nil {
					t.Fatal(err)
				}
				p.Converse(t.Context(), Plan{Model: "m", Conversation: workload.Conversation{Turns: 1, Opening: []workload.Message{{Role: "user", Content: "Hi."}}}}, sink)
				p.Close()
			}
			web.Close()
			want := slices.Sorted(slices.Values(refuses))
			if dialect.Of("chat").IsOptional(refuses[0]) {
				if len(s.bodies) != 2+len(refuses) || len(sink.learned) != 1 || !slices.Equal(sink.learned[0].Fields, want) {
					t.Errorf("%v: %d requests, learned %v", refuses, len(s.bodies), sink.learned)
				}
			} else if len(s.bodies) != 2 || sink.learned != nil {
				t.Errorf("%v: %d requests, learned %v", refuses, len(s.bodies), sink.learned)
				continue
			} else {
				want = nil
			}
			for i, r := range sink.results {
				if (r.Outcome == Success) != (want != nil) || !slices.Equal(r.LeftOut, want) || r.Sent.Before(r.Scheduled) {
					t.Errorf("%v, turn %d: %s %s, left out %v", refuses, i, r.Outcome, r.Err, r.LeftOut)
				}
			}
			last := s.bodies[len(s.bodies)-1]
			if _, has := last["max_completion_tokens"]; has != slices.Equal(refuses, []string{"max_tokens"}) {
				t.Errorf("%v: the last request is %v", refuses, last)
			}
		}
	}
}

// TestNothingIsLearnedWithoutAnAnswer refuses a field, and then fails in a stream of status 200.
func TestNothingIsLearnedWithoutAnAnswer(t *testing.T) {
	for name, stream := range map[string]string{"an error": `data: {"error":{"message":"boom"}}` + "\n\n", "malformed": "data: boom\n\n", "empty": ""} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if body, _ := io.ReadAll(r.Body); bytes.Contains(body, []byte(`"user":`)) {
				http.Error(w, `{"error":"Unknown parameter: 'user'."}`, http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, stream)
		}))
		p, err := New(Options{Target: target.Target{Name: "t", BaseURL: web.URL, Model: "m", Extra: map[string]any{"user": "u"}}})
		if err != nil {
			t.Fatal(err)
		}
		sink := &kept{}
		p.Converse(t.Context(), Plan{Model: "m", Conversation: workload.Conversation{Turns: 1, Opening: []workload.Message{{Role: "user", Content: "Hi."}}}}, sink)
		p.Close()
		web.Close()
		if len(sink.results) != 1 || sink.results[0].Outcome == Success || sink.learned != nil || p.opts.Learned.leftOut() != nil {
			t.Errorf("%s: %d turns, learned %v", name, len(sink.results), sink.learned)
		}
	}
}

// TestConfiguredFieldsAreLeftOut leaves fields out by the target's configuration.
func TestConfiguredFieldsAreLeftOut(t *testing.T) {
	turn := dialect.Turn{
		Model: "m", Spec: &workload.Spec{MaxOutputTokens: 5}, History: []workload.Message{{Role: "user", Content: "Hi."}},
		Extra: map[string]any{"stream_options": nil, "max_tokens": nil, "top_k": 3},
	}
	r, err := dialect.Of("chat").Request(&turn)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"max_completion_tokens":5,"messages":[{"content":"Hi.","role":"user"}],"model":"m","stream":true,"top_k":3}`
	if string(r.Body) != want || !r.HasLimit() {
		t.Errorf("%s\nwant %s", r.Body, want)
	}
	turn.Without = []string{"max_completion_tokens"}
	if r, err = dialect.Of("chat").Request(&turn); err != nil || r.HasLimit() || strings.Contains(string(r.Body), "max_") {
		t.Errorf("%s, %v", r.Body, err)
	}
}
