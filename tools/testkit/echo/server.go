package echo

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// Server is a deployment that repeats the key of its requests, in another form and at another place
// each time.
type Server struct{ turns, others atomic.Int64 }

// places are the places of an answer to a turn that may contain a text of the server. The first turn
// succeeds, because a sweep waits for that.
var places = []func(w http.ResponseWriter, text string){
	func(w http.ResponseWriter, text string) {
		w.Header().Set("X-Served-By", line(text))
		succeed(w, "m", "stop")
	},
	func(w http.ResponseWriter, text string) {
		refuse(w, fmt.Sprintf(`{"error":{"message":%s}}`, quoted(text)))
	},
	func(w http.ResponseWriter, text string) { refuse(w, text) },
	func(w http.ResponseWriter, text string) {
		_, _ = fmt.Fprintf(w, "data: {\"error\":{\"message\":%s}}\n\n", quoted(text))
	},
	func(w http.ResponseWriter, text string) { _, _ = fmt.Fprintf(w, "data: %s\n\n", line(text)) },
	func(w http.ResponseWriter, text string) { w.Header().Set("Content-Encoding", line(text)) },
	func(w http.ResponseWriter, text string) { succeed(w, "m", text) },
	func(w http.ResponseWriter, text string) { succeed(w, text, "stop") },
}

// Cycle is the number of turns after which every form was at every place.
func Cycle() int { return len(places) * len(Forms()) }

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	forms := Forms()
	if r.Method == http.MethodPost {
		n := int(s.turns.Add(1)) - 1
		places[n%len(places)](w, "you sent "+forms[n/len(places)%len(forms)].Spell(key))
		return
	}
	text := forms[int(s.others.Add(1))%len(forms)].Spell(key)
	switch {
	case strings.HasSuffix(r.URL.Path, "/models"):
		_, _ = fmt.Fprintf(w, `{"data":[{"id":"m","root":%s},{"id":%[1]s}]}`, quoted(text))
	case strings.HasSuffix(r.URL.Path, "/version"):
		_, _ = fmt.Fprintf(w, `{"version":%s}`, quoted(text))
	default:
		_, _ = fmt.Fprintf(w, "# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{block_size=%s} 1\n", quoted(text))
	}
}

func refuse(w http.ResponseWriter, body string) {
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = io.WriteString(w, body)
}

func succeed(w http.ResponseWriter, model, reason string) {
	_, _ = fmt.Fprintf(w, `data: {"model":%s,"system_fingerprint":%[1]s,"choices":[{"index":0,"delta":{"content":"Hello there"}}]}

data: {"model":%[1]s,"choices":[{"index":0,"delta":{},"finish_reason":%s}],"usage":{"prompt_tokens":5,"completion_tokens":2}}

data: [DONE]

`, quoted(model), quoted(reason))
}

func quoted(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

// line replaces the characters that cannot be in a header or a line of a stream.
func line(text string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", "\x00", " ").Replace(text)
}
