package probe_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/workload"
)

// TestImages checks the format of images in each API, also in later turns whose history contains
// them.
func TestImages(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.JPG")
	if err := os.WriteFile(file, []byte("image"), 0o600); err != nil {
		t.Fatal(err)
	}
	for api, want := range map[dialect.Name]string{
		"chat":      `"type":"text"},{"image_url":{"url":"data:image/jpeg;base64,aW1hZ2U="},"type":"image_url"}]`,
		"azure":     `{"image_url":{"url":"data:image/jpeg;base64,aW1hZ2U="},"type":"image_url"}`,
		"responses": `{"image_url":"data:image/jpeg;base64,aW1hZ2U=","type":"input_image"}`,
		"messages":  `{"source":{"data":"aW1hZ2U=","media_type":"image/jpeg","type":"base64"},"type":"image"}`,
	} {
		t.Run(string(api), func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", "apis", string(api)+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			server := &transcript{text: text}
			web := httptest.NewServer(server)
			defer web.Close()
			o := spoken{api: api}.options(t, web.URL)
			o.Workload.Images, o.Workload.PromptTokens, o.Workload.TurnsMin, o.Workload.TurnsMax = []string{file}, 20, 2, 2
			source, err := workload.NewSource(o.Workload, 1)
			if err != nil {
				t.Fatal(err)
			}
			p, err := probe.New(o)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			sum := p.Converse(t.Context(), probe.Plan{Conversation: source.Next(), Scheduled: time.Now(), Model: "m"}, &recorder{})
			if sum.Outcome != probe.Success || sum.Turns != 2 {
				t.Fatalf("%s after %d turns", sum.Outcome, sum.Turns)
			}
			web.Close() // waits for its handlers
			for n, body := range server.bodies {
				if strings.Count(string(body), want) != 1 {
					t.Errorf("turn %d sent %s, want %s in it once", n+1, body, want)
				}
			}
		})
	}
}
