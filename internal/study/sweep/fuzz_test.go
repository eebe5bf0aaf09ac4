package sweep

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzStatus posts arbitrary data to shard 0, which must answer and must count no shard twice.
func FuzzStatus(f *testing.F) {
	good, err := json.Marshal(status{Hello: hello(1, 3), Step: 5, Done: true, Report: &levelReport{Counts: Counts{Turns: 3}}})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(good), "{}", `{"index":-1}`, `{"index":2,"count":3,"report":{"result":{"snapshots":[{"blocks":[{}]}]}}}`, "[", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		lead := NewLead(hello(0, 3), "")
		lead.open("sweep")
		answer := httptest.NewRecorder()
		lead.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, pathStatus, strings.NewReader(body)))
		var step step
		switch answer.Code {
		case http.StatusOK:
			if err := json.Unmarshal(answer.Body.Bytes(), &step); err != nil || step.Sweep != "sweep" {
				t.Errorf("%q is answered with %s", body, answer.Body)
			}
		case http.StatusBadRequest, http.StatusConflict:
			if lead.peers[0].process+lead.peers[1].process != "" {
				t.Errorf("%q is refused, and taken in", body)
			}
		default:
			t.Errorf("%q: %d", body, answer.Code)
		}
		if n := len(lead.reports()); n != 3 {
			t.Errorf("%d shards", n)
		}
	})
}
