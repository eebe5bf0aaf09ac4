package probe_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/redact"
	"synthetic/tools/testkit/echo"
)

// TestAskerOfEachAPI checks that canaries use the chat completions of servers whose probed API is
// another one, and send the key as that API expects.
func TestAskerOfEachAPI(t *testing.T) {
	const bearer = "Authorization: Bearer hunter2"
	for _, tt := range []struct {
		api          target.API
		path, header string
	}{
		{target.Chat, "/chat/completions", bearer},
		{target.Completions, "/chat/completions", bearer},
		{target.Responses, "/chat/completions", bearer},
		{target.Messages, "/chat/completions", bearer},
		{target.Ollama, "/v1/chat/completions", bearer},
		{target.Azure, "/openai/deployments/m/chat/completions?api-version=2024-10-21", "Api-Key: hunter2"},
	} {
		t.Run(string(tt.api), func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				name, value, _ := strings.Cut(tt.header, ": ")
				if r.URL.RequestURI() != tt.path || r.Header.Get(name) != value || r.Header.Get("X-Api-Key") != "" {
					http.Error(w, fmt.Sprint(r.URL, r.Header), http.StatusNotFound)
					return
				}
				fmt.Fprint(w, `{"choices": [{"message": {"content": "yes"}}]}`)
			}))
			defer server.Close()
			t.Setenv("ASKED_KEY", "hunter2")
			a := probe.NewAsker(probe.Options{Target: target.Target{API: tt.api, BaseURL: server.URL, Key: target.Credential{Env: "ASKED_KEY"}}})
			defer a.Close()
			if asked, err := a.Round(t.Context(), "m", []string{"Well?"}, 4, false); err != nil || asked.Round[0].Text != "yes" {
				t.Errorf("%+v, %v", asked, err)
			}
		})
	}
}

// TestAskerReadsStrictServers checks that one rejection is enough to learn the name of the limit,
// that reasoning is part of the answer under either name, and that an impossible number of tokens
// is ignored.
func TestAskerReadsStrictServers(t *testing.T) {
	var refused atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), `"max_tokens"`) {
			refused.Add(1)
			http.Error(w, `{"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model."}}`, http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, `{"choices": [{"message": {"content": null, "reasoning": "Hm"}, "logprobs": {"content": [{"token": "Hm", "logprob": -1}]}}], "usage": {"prompt_tokens": 10, "completion_tokens": 1000000000}}`)
	}))
	a := probe.NewAsker(probe.Options{Target: target.Target{BaseURL: server.URL}})
	asked, err := a.Round(t.Context(), "m", []string{"Well?", "And?"}, 4, false)
	a.Close()
	server.Close()
	if err != nil || refused.Load() != 1 || asked.Tokens != 0 {
		t.Fatalf("%v: %d times refused, %d tokens", err, refused.Load(), asked.Tokens)
	}
	for i, answer := range asked.Round {
		if answer.Text != "Hm" || len(answer.Tokens) != 1 {
			t.Errorf("answer %d: %+v", i, answer)
		}
	}
}

// TestCanaryAnswersHaveNoKey lets a server repeat the key in the answer, which the reference and the page
// show.
func TestCanaryAnswersHaveNoKey(t *testing.T) {
	key := echo.Keys()[1]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"system_fingerprint": "fp %[1]s", "choices": [{"message": {"content": "yes %[1]s"}, "logprobs": {"content": [{"token": "%[1]s", "top_logprobs": [{"token": "%[1]s"}]}]}}]}`, strings.ToUpper(key))
	}))
	defer server.Close()
	t.Setenv("ASKED_KEY", key)
	a := probe.NewAsker(probe.Options{Target: target.Target{BaseURL: server.URL, Key: target.Credential{Env: "ASKED_KEY"}}})
	defer a.Close()
	asked, err := a.Round(t.Context(), "m", []string{"Well?"}, 4, false)
	if err != nil || asked.Round[0].Text != "yes "+redact.Mark || asked.Fingerprint != "fp "+redact.Mark {
		t.Errorf("%+v, %v", asked, err)
	}
	if form, _ := echo.NewSearcher(key).Find(fmt.Sprintf("%+v", asked)); form != "" {
		t.Errorf("the key is in %+v", asked)
	}
}
