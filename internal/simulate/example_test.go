package simulate_test

import (
	"bufio"
	"fmt"
	"net/http/httptest"
	"strings"
	"time"

	"synthetic/internal/simulate"
)

// A deployment is an http.Handler, so any server can serve it.
func Example() {
	deployment := simulate.New(simulate.Options{
		Model:      "tiny",
		FirstToken: simulate.Delay{Median: time.Millisecond},
		InterToken: simulate.Delay{Median: time.Millisecond},
	})
	server := httptest.NewServer(deployment)
	defer server.Close()

	ask := func() {
		body := `{"model":"tiny","stream":true,"max_tokens":3,"messages":[{"role":"user","content":"Hello?"}]}`
		resp, err := server.Client().Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			fmt.Println(err)
			return
		}
		defer resp.Body.Close()
		events := 0
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "data: ") {
				events++
			}
		}
		fmt.Println(resp.StatusCode, events)
	}
	ask() // the role, three tokens, the finish reason and [DONE]

	deployment.Update(func(o *simulate.Options) { o.Incidents = []simulate.Incident{{Kind: simulate.ErrorStatus, Share: 1}} })
	ask()
	fmt.Println(deployment.Stats().OutputTokens, "tokens")
	server.CloseClientConnections()

	// Output:
	// 200 6
	// 500 0
	// 3 tokens
}
